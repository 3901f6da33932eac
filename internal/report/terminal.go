package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/workspace"
)

// columns is how wide text for a terminal may be.
const columns = 100

// Terminal writes an attempt's report as text for a terminal of 100 columns.
// With color the verdict marks and the status are coloured by ANSI sequences;
// without it the text holds none. Write errors are the writer's to remember.
func Terminal(w io.Writer, a Attempt, base Baseline, verdicts *compare.Result, color bool) {
	p := paint{color}
	l, v := layoutOf(a.Points), newMarks(verdicts)
	title := Policy{}.AttemptTitle(a, false)
	fmt.Fprintf(w, "%s · %s · %s\n", p.bold(title), p.status(a.Status), stamp(a.UpdatedAt))
	p.text(w, strings.Join(append([]string{a.Image, abbreviated(a.Head)}, l.meta(false)...), " · "))
	p.text(w, "Change: "+a.Change.EN)
	if len(a.Points) > 0 {
		t, n := attemptPoints(a, base, a.Points, v)
		p.table(w, t)
		p.notes(w, n)
	}
	if len(a.Evals) > 0 {
		t, n := attemptEvals(a, base, a.Evals, v)
		p.table(w, t)
		p.notes(w, n)
	}
	if verdicts != nil {
		p.verdicts(w, *verdicts)
		if runs := v.runs(); runs > 0 {
			p.text(w, fmt.Sprintf("Deltas are against the baseline of %s, verdicts against the mean of %s.", base.Date, counted(runs, "earlier run")))
		}
	}
	fmt.Fprintln(w)
	p.text(w, "Next: "+a.Next.EN)
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
	all := fitted(append([][]string{t.head}, t.rows...))
	widths := make([]int, len(t.head))
	for _, r := range all {
		for i, c := range r {
			widths[i] = max(widths[i], width(workspace.Printable(c)))
		}
	}
	fmt.Fprintln(w)
	for n, r := range all {
		cells := make([]string, len(r))
		for i, c := range r {
			c = workspace.Printable(c)
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
		p.text(w, "Note: "+who+": "+r+".")
	}
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

// text writes a line, broken at spaces where it is too long; what follows is
// indented.
func (p paint) text(w io.Writer, s string) {
	line, used := "", 0
	for _, word := range strings.Fields(workspace.Printable(s)) {
		switch n := width(word); {
		case used == 0:
			line, used = word, n
		case used+1+n > columns:
			fmt.Fprintln(w, line)
			line, used = "  "+word, 2+n
		default:
			line, used = line+" "+word, used+1+n
		}
	}
	fmt.Fprintln(w, line)
}

// fitted shortens the first column where a table is too wide, keeping the
// ends of its cells, which tell points apart.
func fitted(rows [][]string) [][]string {
	total, first := -2, 0
	for i := range rows[0] {
		widest := 0
		for _, r := range rows {
			widest = max(widest, width(workspace.Printable(r[i])))
		}
		if i == 0 {
			first = widest
		}
		total += widest + 2
	}
	if total <= columns {
		return rows
	}
	room := max(12, first-(total-columns))
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = append([]string{ending(workspace.Printable(r[0]), room)}, r[1:]...)
	}
	return out
}
