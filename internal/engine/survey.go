package engine

import (
	"fmt"
	"regexp"
	"slices"
	"sort"

	"mvdan.cc/sh/v3/syntax"
)

// span is a range of bytes of a script.
type span struct{ start, end int }

// survey notes what an edit must know of the whole script: where its comments
// are, and where its words begin and end.
func (w *walker) survey(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Comment:
			w.comments = append(w.comments, span{int(n.Pos().Offset()), int(n.End().Offset())})
		case *syntax.Word:
			start := int(n.Pos().Offset())
			w.whole[start] = n
			if len(n.Parts) == 1 && quoted(n) { // tokens begin inside the quotes
				w.whole[start+1] = n
			}
		}
		return true
	})
	slices.SortFunc(w.comments, func(a, b span) int { return a.start - b.start })
}

var shellName = regexp.MustCompile(`[A-Za-z0-9_]+`)

// names lists where each text that may be a variable's name stands in the
// script, comments left out: in commands, in text for other programs, wherever.
func (w *walker) names() map[string][]int {
	all := map[string][]int{}
	for _, m := range shellName.FindAllIndex(w.src, -1) {
		i := sort.Search(len(w.comments), func(i int) bool { return w.comments[i].end > m[0] })
		if i == len(w.comments) || w.comments[i].start > m[0] {
			name := string(w.src[m[0]:m[1]])
			all[name] = append(all[name], m[0])
		}
	}
	return all
}

// settle says of each exported variable whether its places are all that the
// script says of it: a read or an assignment elsewhere would be left behind.
func (w *walker) settle(l *Launch) {
	if len(l.Exports) == 0 {
		return
	}
	l.names = w.names()
	places := map[string]map[int]bool{}
	for _, u := range l.Exports {
		if places[u.Name] == nil {
			places[u.Name] = map[int]bool{}
		}
		places[u.Name][u.Start] = u.End > u.Start
	}
	why := map[string]string{}
	for _, u := range l.Exports {
		switch _, done := why[u.Name]; {
		case u.Fixed != "":
			why[u.Name] = u.Fixed
		case !done:
			why[u.Name] = w.elsewhere(u.Name, l.names[u.Name], places[u.Name])
		}
	}
	for i := range l.Exports {
		if u := &l.Exports[i]; why[u.Name] != "" {
			u.Fixed, u.Drop = why[u.Name], nil
		}
	}
}

// elsewhere says where a script names a variable besides.
func (w *walker) elsewhere(name string, found []int, places map[int]bool) string {
	for _, at := range found {
		if !places[at] {
			return fmt.Sprintf("line %d names it too", lineAt(w.src, at))
		}
	}
	if len(found) < len(places) {
		return name + " is not written in one piece"
	}
	return ""
}

func lineAt(src []byte, at int) int {
	line := 1
	for _, c := range src[:at] {
		if c == '\n' {
			line++
		}
	}
	return line
}
