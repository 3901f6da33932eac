package compare

import (
	"fmt"
	"slices"
	"strings"
)

// String says the verdict on one line with everything it rests on: old runs,
// degrees of freedom, spread, limits, and the point that decides.
func (c Curve) String() string {
	if p, ok := c.Extreme(); ok {
		return c.Summary() + "; furthest: " + c.Sentence(p)
	}
	return c.Summary()
}

// Summary is String without a point.
func (c Curve) Summary() string {
	reported := ""
	if !c.Judged {
		reported = " (reported, not judged)"
	}
	return fmt.Sprintf("%s: %s%s: %s (n=%d, df=%d, s=%.2f%%, threshold ±%.0f%%)",
		c.Metric, c.Verdict, reported, c.Reason, c.N, c.DF, 100*c.S, 100*c.Threshold)
}

// Sentence says the verdict on one point of the curve.
func (c Curve) Sentence(p PointVerdict) string {
	head := p.Name() + " " + string(p.Verdict)
	if p.Low == 0 && p.High == 0 {
		return fmt.Sprintf("%s %s, no interval (n=%d, df=%d, threshold ±%.0f%%)", head, percent(p.Delta), c.N, c.DF, 100*c.Threshold)
	}
	more := ""
	if p.MoreRuns > 0 {
		more = ", " + plural(p.MoreRuns, "more run") + " would settle it"
	}
	return fmt.Sprintf("%s %s, 95%% interval [%s, %s]%s (n=%d, df=%d, threshold ±%.0f%%)",
		head, percent(p.Delta), percent(p.Low), percent(p.High), more, c.N, c.DF, 100*c.Threshold)
}

// Name is the label, which usually has the concurrency in it.
func (p PointVerdict) Name() string {
	conc := fmt.Sprintf("c%d", p.Conc)
	if slices.Contains(strings.Fields(p.Label), conc) {
		return p.Label
	}
	return strings.TrimSpace(p.Label + " " + conc)
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
	head := fmt.Sprintf("%s: %s: %s", strings.TrimSpace(a.Suite+" "+a.Label), a.Verdict, a.Reason)
	counts := fmt.Sprintf("n=%d, lost %d, gained %d", a.Samples, a.Lost, a.Gained)
	switch {
	case !a.compared():
		return head
	case a.Samples == 0:
		counts = fmt.Sprintf("n=%d and %d, not paired", a.OldSamples, a.NewSamples)
	}
	return fmt.Sprintf("%s (%s%s -> %s%s, %s, p=%.3g, 95%% interval [%+.2f, %+.2f] pp, threshold ±%.0f pp; %s)",
		head, rate(a.Old), a.OldInterval, rate(a.New), a.NewInterval, counts, a.P, 100*a.Low, 100*a.High, 100*margin, a.Method)
}

// String is empty for an interval that was not computed.
func (i Interval) String() string {
	if i.Low == i.High {
		return ""
	}
	return fmt.Sprintf(" [%.2f, %.2f]", 100*i.Low, 100*i.High)
}

func percent(fraction float64) string { return fmt.Sprintf("%+.2f%%", 100*fraction) }

func rate(fraction float64) string { return fmt.Sprintf("%.2f%%", 100*fraction) }
