package report

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/compare"
)

// marks are the verdicts behind deltas, by what they speak of.
type marks struct {
	result *compare.Result
	points map[compare.Metric]map[string]compare.Verdict
}

func newMarks(r *compare.Result) marks {
	m := marks{result: r, points: map[compare.Metric]map[string]compare.Verdict{}}
	if r == nil {
		return m
	}
	for _, c := range r.Curves {
		if !c.Judged || c.DF == 0 {
			continue
		}
		byKey := map[string]compare.Verdict{}
		for _, p := range c.Points {
			byKey[p.Key] = p.Verdict
		}
		m.points[c.Metric] = byKey
	}
	return m
}

// point is the mark of one metric of one point, "" when nothing is claimed.
func (m marks) point(name compare.Metric, key string) string {
	return spaced(mark(m.points[name][key]))
}

// eval is the mark of one evaluation, "" when nothing is claimed.
func (m marks) eval(e Evaluation) string {
	if m.result == nil {
		return ""
	}
	for _, a := range m.result.Accuracy {
		if compared(a) && a.Key == e.Key && (a.Suite == "" || a.Suite == e.Suite) {
			return spaced(mark(a.Verdict))
		}
	}
	return ""
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

func mark(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "✓"
	case compare.Worse:
		return "✗"
	case compare.NoChange:
		return "="
	case compare.Inconclusive:
		return "?"
	}
	return ""
}

// verdictWord is a verdict as a page says it.
func verdictWord(v compare.Verdict) string {
	if v == compare.NoChange {
		return "no change"
	}
	return string(v)
}

const legendOfMarks = "✓ better, ✗ worse, = no change, ? inconclusive."

// runs is how many runs of the old image stand behind the judged metrics.
func (m marks) runs() int {
	n := 0
	if m.result != nil {
		for _, c := range m.result.Curves {
			if c.Judged {
				n = max(n, c.N)
			}
		}
	}
	return n
}

// explain says once, under the tables, what the marks mean and what stands
// behind them: one line for the marks and one per judged metric or evaluation.
func (m marks) explain(base Baseline) []string {
	if m.result == nil {
		return nil
	}
	var out []string
	for _, c := range m.result.Curves {
		if c.Judged {
			out = append(out, explainCurve(c))
		}
	}
	for _, a := range m.result.Accuracy {
		out = append(out, explainAccuracy(a))
	}
	if len(out) == 0 {
		return nil
	}
	legend := "**Verdicts:** " + legendOfMarks
	if runs := m.runs(); runs > 0 {
		legend += fmt.Sprintf(" Deltas are against the baseline of %s, verdicts against the mean of %d earlier runs.", base.Date, runs)
	}
	return append([]string{legend}, out...)
}

func explainCurve(c compare.Curve) string {
	name := metricName(c.Metric)
	if c.DF == 0 {
		return name + ": no verdict, the old image has no repeated runs."
	}
	parts := []string{fmt.Sprintf("n %d, df %d, s %.2f%%", c.N, c.DF, c.S*100)}
	if low, high, ok := bounds(c.Points); ok {
		parts = append(parts, fmt.Sprintf("95%% intervals within %s to %s", fraction(low), fraction(high)))
	}
	limit := trim(fmt.Sprintf("%.2f", c.Threshold*100))
	parts = append(parts, fmt.Sprintf("limits -%s%% and +%s%%", limit, limit))
	return escape(fmt.Sprintf("%s: %s (%s).", name, verdictWord(c.Verdict), strings.Join(parts, ", ")))
}

// bounds are the outermost ends of the points' intervals; a point that could
// not be compared has none.
func bounds(ps []compare.PointVerdict) (low, high float64, ok bool) {
	for _, p := range ps {
		switch {
		case p.Low == 0 && p.High == 0:
		case !ok:
			low, high, ok = p.Low, p.High, true
		default:
			low, high = min(low, p.Low), max(high, p.High)
		}
	}
	return low, high, ok
}

func explainAccuracy(a compare.Accuracy) string {
	name := fmt.Sprintf("%s · c%d", a.Suite, a.Conc)
	if a.Suite == "" {
		name = fmt.Sprintf("accuracy · c%d", a.Conc)
	}
	if !compared(a) {
		return escape(fmt.Sprintf("%s: no verdict, %s.", name, a.Reason))
	}
	parts := []string{"n " + count(a.Samples), fmt.Sprintf("%d lost, %d gained", a.Lost, a.Gained)}
	if a.Samples == 0 {
		parts = []string{fmt.Sprintf("n %s and %s, not paired", count(a.OldSamples), count(a.NewSamples))}
	}
	parts = append(parts, fmt.Sprintf("p %.2g", a.P), fmt.Sprintf("95%% interval %s to %s", points(a.Low), points(a.High)))
	if a.Method != "" {
		parts = append(parts, a.Method)
	}
	return escape(fmt.Sprintf("%s: %s (%s).", name, verdictWord(a.Verdict), strings.Join(parts, ", ")))
}

func (m marks) explainChinese() string {
	if len(m.explain(Baseline{})) == 0 {
		return ""
	}
	return "判定：✓ 更好，✗ 更差，= 无变化，? 尚无定论；依据见上表下方。"
}

func metricName(m compare.Metric) string {
	for _, c := range baselineMetrics() {
		if c.name == m {
			return c.head[:strings.LastIndex(c.head, " ")]
		}
	}
	return string(m)
}
