package compare

import "fmt"

// mostRuns is how many more runs of the new image are thought of.
const mostRuns = 20

// foresee says how many more runs of the new image would settle what is
// inconclusive, by the same rule, if the history, its spread and the observed
// differences stay as they are. A point that was not measured on both sides
// and a history without spread are not settled that way.
func (c *Curve) foresee(points []Point) {
	if c.DF == 0 {
		return
	}
	var open []*PointVerdict
	for more := 1; more <= mostRuns; more++ {
		then := judge(c.Metric, c.Judged, points, more)
		open = nil
		for i := range c.Points {
			p := &c.Points[i]
			if p.Verdict != Inconclusive || missing(points[i]) != "" {
				continue
			}
			open = append(open, p)
			if p.MoreRuns == 0 && then.Points[i].Verdict != Inconclusive {
				p.MoreRuns = more
			}
		}
		if c.Verdict == Inconclusive && c.MoreRuns == 0 && then.Verdict != Inconclusive {
			c.MoreRuns = more
		}
		if len(open) == 0 {
			break
		}
	}
	for _, p := range open {
		p.Reason += "; " + settled(p.MoreRuns)
	}
	if c.Verdict == Inconclusive {
		c.Reason += "; " + c.settledBy(open)
	}
}

// settledBy names the point that decides: the one that needs as many runs as
// the curve, because it turns worse then or because it is settled last.
func (c *Curve) settledBy(open []*PointVerdict) string {
	for _, p := range open {
		if p.MoreRuns == c.MoreRuns {
			return fmt.Sprintf("%s (%s decides)", settled(c.MoreRuns), p.Name())
		}
	}
	return "not every point was measured on both sides"
}

func settled(runs int) string {
	if runs == 0 {
		return fmt.Sprintf("not within %d more runs of the new image", mostRuns)
	}
	return plural(runs, "more run") + " of the new image would settle it"
}
