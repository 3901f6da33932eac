package engine

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through a script in order and notes what a launch may need:
// assignments, exports, commands that may be the server, edits of the engine.
type walker struct {
	src      []byte
	name     string
	assigned map[string][]assignment
	exports  []Use
	commands []command
	notices  []notice
	notRead  []string
	followed int // variables looked up so far
	listed   map[*syntax.DeclClause]listed
	whole    map[int]*syntax.Word // every word of the script, by where its text begins
	comments []span
}

type notice struct {
	at   int
	text string
}

// surroundings is what stands around a statement.
type surroundings struct {
	condition  string
	background bool
	log        bool // output goes to the server's log
	depth      int
}

func (s surroundings) under(condition string) surroundings {
	s.condition = allOf(s.condition, condition)
	s.depth++
	return s
}

// assignment is NAME=..., NAME+=..., NAME=(...) or an addition to an array.
type assignment struct {
	at        int
	word      *syntax.Word
	array     []*syntax.Word
	appended  bool
	condition string
}

// command is a simple command that may start the server.
type command struct {
	args       []*syntax.Word
	env        []Use
	at, line   int
	condition  string
	background bool
	log        bool
}

func (w *walker) location(p syntax.Pos) Location { return Location{w.name, int(p.Line())} }

func (w *walker) source(n syntax.Node) string {
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if start > end || end > len(w.src) {
		return ""
	}
	return strings.ReplaceAll(collapsed(w.src[start:end]), " \\ ", " ")
}

func (w *walker) sourceOf(list []*syntax.Stmt) string {
	if len(list) == 0 {
		return ""
	}
	parts := make([]string, 0, len(list))
	for _, s := range list[:min(len(list), 10)] {
		parts = append(parts, strings.TrimSuffix(w.source(s), ";"))
	}
	return clipped(strings.Join(parts, "; "), maxSourceText)
}

func (w *walker) stmts(list []*syntax.Stmt, s surroundings) {
	if s.depth > 2*maxDepth {
		return
	}
	for i, st := range list {
		if c, ok := st.Cmd.(*syntax.DeclClause); ok {
			w.listed[c] = listed{st, list[i+1:]}
		}
		w.stmt(st, s)
	}
}

func (w *walker) stmt(st *syntax.Stmt, s surroundings) {
	if st == nil || s.depth > 2*maxDepth {
		return
	}
	s.depth++
	s.background = s.background || st.Background
	for _, r := range st.Redirs {
		if r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrAll || r.Op == syntax.AppAll || r.Op == syntax.RdrClob {
			s.log = s.log || serverLog(w.source(r.Word)) || serverLog(w.value(r.Word, int(r.Pos().Offset()), 0).text)
			w.installed(st, "a redirection writes", w.source(r.Word))
		}
	}
	w.patches(st)
	w.command(st.Cmd, s)
}

func serverLog(target string) bool {
	target = strings.ToLower(target)
	return strings.Contains(target, "server.log") || strings.Contains(target, "server_log")
}

func (w *walker) command(cmd syntax.Command, s surroundings) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		w.call(c, s)
	case *syntax.DeclClause:
		w.declaration(c, s)
	case *syntax.BinaryCmd:
		w.binary(c, s)
	case *syntax.IfClause:
		w.branch(c, s, "")
	case *syntax.CaseClause:
		for _, item := range c.Items {
			patterns := make([]string, len(item.Patterns))
			for i, p := range item.Patterns {
				patterns[i] = w.source(p)
			}
			w.stmts(item.Stmts, s.under(w.source(c.Word)+" is "+strings.Join(patterns, " or ")))
		}
	case *syntax.ForClause:
		w.stmts(c.Do, s.under("for "+w.source(c.Loop)))
	case *syntax.WhileClause:
		w.stmts(c.Do, s.under("while "+w.sourceOf(c.Cond)))
	case *syntax.Block:
		w.stmts(c.Stmts, s)
	case *syntax.Subshell:
		w.stmts(c.Stmts, s)
	case *syntax.TimeClause:
		w.stmt(c.Stmt, s)
	case *syntax.FuncDecl:
		w.stmt(c.Body, s) // taken as called where it stands
	}
}

func (w *walker) branch(c *syntax.IfClause, s surroundings, before string) {
	for c != nil && s.depth <= 2*maxDepth {
		cond := w.sourceOf(c.Cond)
		if len(c.Cond) == 0 { // else
			w.stmts(c.Then, s.under(before))
			return
		}
		w.stmts(c.Cond, s)
		w.stmts(c.Then, s.under(allOf(before, cond)))
		before = allOf(before, negated(cond))
		c = c.Else
	}
}

func (w *walker) binary(c *syntax.BinaryCmd, s surroundings) {
	switch c.Op {
	case syntax.AndStmt:
		w.stmt(c.X, s)
		w.stmt(c.Y, s.under(w.source(c.X)))
	case syntax.OrStmt:
		w.stmt(c.X, s)
		w.stmt(c.Y, s.under(negated(w.source(c.X))))
	default: // a pipe: the log may be written by tee at its end
		left := s
		left.log = s.log || serverLog(w.source(c.Y)) && strings.HasPrefix(w.source(c.Y), "tee")
		w.stmt(c.X, left)
		s.background = false
		w.stmt(c.Y, s)
	}
}

func (w *walker) call(c *syntax.CallExpr, s surroundings) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assign(a, s)
		}
		return
	}
	cmd := command{args: c.Args, at: int(c.Pos().Offset()), line: int(c.Pos().Line()), condition: s.condition, background: s.background, log: s.log}
	for i, a := range c.Assigns {
		if u, ok := w.exported(a, s); ok {
			w.dropPrefix(&u, c, i)
			cmd.env = append(cmd.env, u)
		}
	}
	w.commands = append(w.commands, cmd)
	if first := c.Args[0].Lit(); first == "source" || first == "." {
		w.notRead = append(w.notRead, fmt.Sprintf("%s: sourced file %s", w.location(c.Pos()), w.source(c)))
	}
}

func (w *walker) declaration(c *syntax.DeclClause, s surroundings) {
	export := c.Variant.Value == "export"
	group := w.exporting(c)
	for i, a := range c.Args {
		if a.Name == nil {
			if a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") {
				export = (export || strings.Contains(a.Value.Lit(), "x")) && !strings.Contains(a.Value.Lit(), "n")
			}
			continue
		}
		if a.Value != nil || a.Array != nil {
			w.assign(a, s)
		}
		if export {
			if u, ok := w.exported(a, s); ok {
				w.dropDeclared(&u, c, i, group)
				w.exports = append(w.exports, u)
			}
		}
	}
}

func (w *walker) assign(a *syntax.Assign, s surroundings) {
	if a.Name == nil || a.Index != nil {
		return
	}
	as := assignment{at: int(a.Pos().Offset()), word: a.Value, appended: a.Append, condition: s.condition}
	if a.Array != nil {
		as.array = []*syntax.Word{}
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				as.array = append(as.array, e.Value)
			}
		}
	}
	w.assigned[a.Name.Value] = append(w.assigned[a.Name.Value], as)
}

// exported reads NAME=value in front of a command or behind export. A name
// alone exports what was assigned before.
func (w *walker) exported(a *syntax.Assign, s surroundings) (Use, bool) {
	if a.Name == nil || a.Array != nil {
		return Use{}, false
	}
	u := Use{Name: a.Name.Value, Location: w.location(a.Pos()), Condition: s.condition,
		Start: int(a.Name.Pos().Offset()), End: int(a.Name.End().Offset())}
	t := token{}
	switch {
	case a.Value != nil:
		t = w.value(a.Value, u.Start, 0)
	case a.Naked:
		t = w.variable(u.Name, "$"+u.Name, u.Start, 0)
	}
	u.Fixed = fixed(a)
	u.Value, u.Symbolic = t.text, t.symbolic
	u.Values = []string{u.Value}
	return u, true
}

// starts picks the commands that start the server: the highest score wins, and
// commands of equal score in different branches all count.
func (w *walker) starts() []command {
	best, found := 0, []command(nil)
	for _, c := range w.commands {
		score := w.score(c)
		switch {
		case score == 0 || score < best:
		case score > best:
			best, found = score, []command{c}
		default:
			found = append(found, c)
		}
	}
	return found
}

func (w *walker) score(c command) int {
	if !c.background && !c.log {
		return 0
	}
	text := w.source(c.args[0])
	switch text {
	case "tail", "sleep", "cat", "echo", "printf", "tee", "wait", "kill", "rm", "mkdir", "grep", "nvidia-smi", "rocm-smi", "curl", "cp", "mv", "set", "test", "[":
		return 0
	}
	score := 1
	if c.log {
		score += 8
	}
	if c.background {
		score += 4
	}
	flagged, serving := false, false
	for _, t := range w.words(c.args, c) {
		flagged = flagged || t.flag()
		serving = serving || strings.Contains(t.text, "serve") || t.text == "--port" || t.text == "--host"
	}
	if !flagged && !c.log {
		return 0
	}
	if flagged {
		score += 2
	}
	if serving {
		score += 2
	}
	return score
}
