package engine

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// patches notes a command that changes installed software.
func (w *walker) patches(st *syntax.Stmt) {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return
	}
	words := make([]string, len(c.Args))
	for i, a := range c.Args {
		words[i] = w.source(a)
	}
	first, rest := words[0], words[1:]
	switch {
	case first == "sed" && hasOption(rest, "-i"), first == "perl" && hasOption(rest, "-i"), first == "perl" && hasOption(rest, "-pi"):
		for _, target := range rest {
			w.installed(st, first+" edits", target)
		}
	case first == "patch", first == "git" && len(rest) > 0 && rest[0] == "apply":
		w.notice(st, first+" changes files")
	case first == "cp" || first == "mv" || first == "ln" || first == "tee":
		if len(rest) > 0 {
			w.installed(st, first+" writes", rest[len(rest)-1])
		}
	case strings.HasPrefix(first, "pip") || strings.HasPrefix(first, "python") && strings.Contains(strings.Join(rest, " "), "-m pip"), first == "uv":
		if strings.Contains(" "+strings.Join(rest, " ")+" ", " install ") {
			w.notice(st, "packages are installed")
		}
	case strings.HasPrefix(first, "python"):
		w.inline(st, rest)
	}
}

func hasOption(words []string, prefix string) bool {
	for _, word := range words {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}

// installed notes a target outside the working folder: an absolute path into
// a system or package folder, or one that is computed.
func (w *walker) installed(st *syntax.Stmt, what, target string) {
	bare := strings.Trim(target, `"'`)
	inside := strings.Contains(bare, "site-packages") || strings.Contains(bare, "dist-packages") || strings.Contains(bare, "$(python")
	system := strings.HasPrefix(bare, "/") && !strings.HasPrefix(bare, "/tmp/") && !strings.HasPrefix(bare, "/dev/") && !strings.HasPrefix(bare, "/workspace/") && strings.HasSuffix(bare, ".py")
	computed := strings.HasPrefix(bare, "$") && (strings.HasPrefix(what, "sed") || strings.HasPrefix(what, "perl"))
	if inside || system || computed {
		w.notice(st, what+" "+bare)
	}
}

// inline notes Python code in the script that writes files.
func (w *walker) inline(st *syntax.Stmt, words []string) {
	code := ""
	for i, word := range words {
		if word == "-c" && i+1 < len(words) {
			code += strings.Join(words[i+1:], " ")
		}
	}
	for _, r := range st.Redirs {
		if r.Hdoc != nil {
			start, end := int(r.Hdoc.Pos().Offset()), int(r.Hdoc.End().Offset())
			if start < end && end <= len(w.src) {
				code += string(w.src[start:end])
			}
		}
	}
	if strings.Contains(code, "write_text") || strings.Contains(code, ".write(") || strings.Contains(code, "replace(") && strings.Contains(code, "open(") {
		w.notice(st, "inline Python writes files")
	}
}

func (w *walker) notice(st *syntax.Stmt, what string) {
	at := int(st.Pos().Offset())
	for _, n := range w.notices {
		if n.at == at {
			return
		}
	}
	w.notices = append(w.notices, notice{at, fmt.Sprintf("%s: before the launch, %s: the source compared may not be the source run", w.location(st.Pos()), what)})
}
