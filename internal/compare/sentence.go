package compare

import (
	"fmt"
	"strings"
)

// String says the verdict on one line with everything it rests on: old runs,
// degrees of freedom, spread, limits, and the point that decides.
func (c Curve) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", c.Metric, c.Verdict)
	if !c.Judged {
		b.WriteString(" (reported, not judged)")
	}
	fmt.Fprintf(&b, ": %s (n=%d, df=%d, s=%.2f%%, threshold ±%.0f%%)", c.Reason, c.N, c.DF, 100*c.S, 100*c.Threshold)
	if p, ok := c.Extreme(); ok {
		fmt.Fprintf(&b, "; furthest: %s", c.Sentence(p))
	}
	return b.String()
}

// Sentence says the verdict on one point of the curve.
func (c Curve) Sentence(p PointVerdict) string {
	head := fmt.Sprintf("%s c%d %s", p.Label, p.Conc, p.Verdict)
	if p.Label != "" && strings.Contains(p.Label, fmt.Sprintf("c%d ", p.Conc)) {
		head = fmt.Sprintf("%s %s", p.Label, p.Verdict)
	}
	if p.Low == 0 && p.High == 0 {
		return fmt.Sprintf("%s %s, no interval (n=%d, df=%d, threshold ±%.0f%%)", head, percent(p.Delta), c.N, c.DF, 100*c.Threshold)
	}
	return fmt.Sprintf("%s %s, 95%% interval [%s, %s] (n=%d, df=%d, threshold ±%.0f%%)",
		head, percent(p.Delta), percent(p.Low), percent(p.High), c.N, c.DF, 100*c.Threshold)
}

// Extreme is the point with the verdict of the curve that lies furthest to the
// bad side.
func (c Curve) Extreme() (PointVerdict, bool) {
	var out PointVerdict
	found := false
	for _, p := range c.Points {
		if c.DF > 0 && p.Verdict != c.Verdict {
			continue
		}
		worse := p.Delta < out.Delta
		if !c.Metric.HigherIsBetter() {
			worse = p.Delta > out.Delta
		}
		if !found || worse {
			out, found = p, true
		}
	}
	return out, found
}

// String says the verdict on one line with everything it rests on.
func (a Accuracy) String() string {
	name := strings.TrimSpace(a.Suite + " " + a.Label)
	if a.Samples == 0 {
		return fmt.Sprintf("%s: %s: %s", name, a.Verdict, a.Reason)
	}
	return fmt.Sprintf("%s: %s: %s (%s -> %s, n=%d, lost %d, gained %d, p=%.3g, 95%% interval [%+.2f, %+.2f] pp, threshold ±%.0f pp; %s)",
		name, a.Verdict, a.Reason, rate(a.Old), rate(a.New), a.Samples, a.Lost, a.Gained, a.P, 100*a.Low, 100*a.High, 100*margin, a.Method)
}

func percent(fraction float64) string { return fmt.Sprintf("%+.2f%%", 100*fraction) }

func rate(fraction float64) string { return fmt.Sprintf("%.2f%%", 100*fraction) }
