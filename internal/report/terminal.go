package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/compare"
)

// Terminal writes an attempt's report as text for a terminal. With color the
// verdict marks and the status are coloured by ANSI sequences; without it the
// text holds none. Write errors are the writer's to remember.
func Terminal(w io.Writer, a Attempt, base Baseline, verdicts *compare.Result, color bool) {
	p := paint{color}
	l, v := layoutOf(a.Points), newMarks(verdicts)
	title := Policy{}.AttemptTitle(a, false)
	fmt.Fprintf(w, "%s · %s · %s\n", p.bold(title), p.status(a.Status), stamp(a.UpdatedAt))
	fmt.Fprintln(w, strings.Join(append([]string{printable(a.Image), abbreviated(a.Head)}, l.meta(false)...), " · "))
	fmt.Fprintf(w, "Change: %s\n", printable(a.Change.EN))
	if len(a.Points) > 0 {
		t, n := attemptPoints(l, base, a.Points, v)
		p.table(w, t)
		p.notes(w, n)
	}
	if len(a.Evals) > 0 {
		t, n := attemptEvals(base, a.Evals, v)
		p.table(w, t)
		p.notes(w, n)
	}
	if ex := v.explain(base); len(ex) > 0 {
		fmt.Fprintln(w)
		for _, s := range ex {
			fmt.Fprintln(w, unmarked(s))
		}
	}
	fmt.Fprintf(w, "\nNext: %s\n", printable(a.Next.EN))
}

// paint colours text when it is on.
type paint struct{ on bool }

func (p paint) wrap(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string { return p.wrap("1", s) }

func (p paint) status(s string) string {
	codes := map[string]string{"passed": "32", "failed": "31", "cancelled": "33", "deferred": "33"}
	if code, ok := codes[s]; ok {
		return p.wrap(code, statusWord(s, false))
	}
	return statusWord(s, false)
}

// marked colours a cell by the verdict mark at its end.
func (p paint) marked(s string) string {
	switch {
	case strings.HasSuffix(s, " ✓"):
		return p.wrap("32", s)
	case strings.HasSuffix(s, " ✗"):
		return p.wrap("31", s)
	case strings.HasSuffix(s, " ?"):
		return p.wrap("33", s)
	}
	return s
}

// table writes aligned columns: text to the left, numbers to the right.
func (p paint) table(w io.Writer, t table) {
	widths := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, r := range all {
		for i, c := range r {
			widths[i] = max(widths[i], width(printable(c)))
		}
	}
	fmt.Fprintln(w)
	for n, r := range all {
		cells := make([]string, len(r))
		for i, c := range r {
			c = printable(c)
			pad := strings.Repeat(" ", widths[i]-width(c))
			shown := p.marked(c)
			if n == 0 {
				shown = p.bold(c)
			}
			cells[i] = pad + shown
			if t.left[i] {
				cells[i] = shown + pad
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
}

func (p paint) notes(w io.Writer, n *notes) {
	for _, r := range n.order {
		who := "All rows"
		if len(n.labels[r]) != n.rows {
			who = strings.Join(n.labels[r], ", ")
		}
		fmt.Fprintf(w, "Note: %s: %s.\n", printable(who), printable(r))
	}
}

// printable drops what could move a terminal's cursor or change its colours.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// width is how many terminal columns s takes; wide East Asian characters take two.
func width(s string) int {
	n := 0
	for _, r := range s {
		n++
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
			n++
		}
	}
	return n
}

// unmarked is Markdown of our own lines as plain text.
func unmarked(s string) string {
	return strings.NewReplacer("**", "", `\_`, "_", `\|`, "|", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}
