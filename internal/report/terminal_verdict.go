package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/refit-bench/refit/internal/compare"
)

// Verdicts writes a comparison as text for a terminal of 100 columns: a line
// per metric and per evaluation with all that its verdict rests on, and a line
// that explains each verdict that is not "no change". Colour is used only when
// color is on. Write errors are the writer's to remember.
func Verdicts(w io.Writer, r compare.Result, color bool) { paint{color}.verdicts(w, r) }

func (p paint) verdicts(w io.Writer, r compare.Result) {
	if t := curveTable(r.Curves); len(t.rows) > 0 {
		p.table(w, t)
		for _, c := range r.Curves {
			p.because(w, c)
		}
	}
	if t := accuracyTable(r.Accuracy); len(t.rows) > 0 {
		p.table(w, t)
		for _, a := range r.Accuracy {
			if a.Verdict != compare.NoChange {
				p.text(w, fmt.Sprintf("%s: %s.", evalTitle(a), spelled(a.Reason)))
			}
		}
	}
	fmt.Fprintln(w)
	for _, s := range r.Warnings {
		p.text(w, "Warning: "+s)
	}
	p.text(w, "Verdicts: "+legendOfMarks+" Intervals are 95 %.")
}

func curveTable(cs []compare.Curve) table {
	t := table{head: []string{"Metric", "Verdict", "n", "df", "s", "Change, all intervals within", "Threshold"},
		left: []bool{true, true, false, false, false, false, false}}
	for _, c := range cs {
		if len(c.Points) == 0 {
			continue
		}
		spread, within := none, none
		if c.DF > 0 {
			spread = fmt.Sprintf("%.2f%%", 100*c.S)
		}
		if low, high, ok := bounds(c.Points); ok {
			within = finer(low) + " to " + finer(high)
		}
		t.rows = append(t.rows, []string{metricName(c.Metric), marked(c.Verdict, c.Judged), count(c.N), count(c.DF), spread, within, "±" + number(hundred(c.Threshold)) + "%"})
	}
	return t
}

// spelled is a reason of a comparison with verdicts as pages say them.
func spelled(reason string) string {
	return strings.ReplaceAll(reason, string(compare.NoChange), verdictWord(compare.NoChange))
}

// marked is a verdict's word with its mark; without a mark when it is only
// reported.
func marked(v compare.Verdict, judged bool) string {
	if !judged {
		return "(" + verdictWord(v) + ")"
	}
	return verdictWord(v) + spaced(mark(v))
}

// because explains a judged curve's verdict with the point that decides it.
func (p paint) because(w io.Writer, c compare.Curve) {
	if !c.Judged || c.Verdict == compare.NoChange {
		return
	}
	s := metricName(c.Metric) + ": " + spelled(c.Reason)
	if q, ok := c.Extreme(); ok && measured(q) {
		s += "; the furthest: " + pointNames(c.Points)[q.Key] + ", " + changeText(c, q)
	}
	p.text(w, s+".")
}

func accuracyTable(as []compare.Accuracy) table {
	t := table{head: []string{"Eval", "Verdict", "Old", "New", "Questions", "Lost", "Gained", "p", "Interval"},
		left: []bool{true, true, false, false, false, false, false, false, false}}
	for _, v := range evalViews(&compare.Result{Accuracy: as}) {
		t.rows = append(t.rows, []string{v.Name, v.Verdict, v.Old, v.New, v.Samples, v.Lost, v.Gained, v.P, v.Interval})
	}
	for i, a := range as {
		t.rows[i][1] = marked(a.Verdict, true)
	}
	return t
}
