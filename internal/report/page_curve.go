package report

import (
	"fmt"
	"html/template"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"
)

// chartView is the drawing of both curves, for a wide page and for a phone.
type chartView struct {
	Wide, Narrow template.HTML
	Note         string
}

// SVG is the drawing of the page's curves as a file of its own.
func (p BoardPage) SVG() []byte {
	old, new := p.curves()
	return CurveSVG(old, new, p.Row.OldImage, p.Row.NewImage)
}

func chartOf(p BoardPage) chartView {
	old, new := p.curves()
	if len(old)+len(new) == 0 {
		return chartView{}
	}
	draw := func(s sheet) template.HTML { // curveSVG escapes the names
		return template.HTML(curveSVG(s, "", old, new, p.Row.OldImage, p.Row.NewImage))
	}
	return chartView{draw(wide), draw(narrow), curveNote(p, new)}
}

// curveNote says what the drawn points are.
func curveNote(p BoardPage, new []CurvePoint) string {
	note := "Up and to the right is better; the labels are concurrencies."
	if n := len(p.Old); n > 0 {
		note += fmt.Sprintf(" Old: the mean of %s of the old image.", counted(n, "run"))
	} else if p.Baseline != nil {
		note += " Old: the baseline of " + p.Baseline.Date + "."
	}
	if n := len(p.New); n > 1 {
		note += fmt.Sprintf(" New: the mean of %s.", counted(n, "run"))
	}
	for _, c := range new {
		if c.OutputBounds.known() || c.InteractivityBounds.known() {
			return note + " The bars through the new points are the 95 % intervals of the change from the old mean; where they are too short to be seen, the spread is small."
		}
	}
	return note
}

// curves are both sides of the drawing: the means of the runs behind the
// verdicts, with the new side's intervals around them, or the published
// records where the runs are not at hand.
func (p BoardPage) curves() (old, new []CurvePoint) {
	before, after := meanCurve(p.Old), meanCurve(p.New)
	for _, k := range before.keys {
		old = append(old, before.points[k])
	}
	for _, k := range after.keys {
		c := after.points[k]
		if o, ok := before.points[k]; ok && p.Verdicts != nil {
			c.OutputBounds = around(p.Verdicts, compare.OutputTPS, k, o.OutputTPSGPU)
			tpot := around(p.Verdicts, compare.TPOT, k, 1000/o.Interactivity)
			if tpot.known() {
				c.InteractivityBounds = Bounds{1000 / tpot.High, 1000 / tpot.Low}
			}
		}
		new = append(new, c)
	}
	if len(old) == 0 && p.Baseline != nil {
		old = Curve(p.Baseline.Points)
	}
	if len(new) == 0 && p.Attempt != nil {
		new = Curve(p.Attempt.Points)
	}
	return old, new
}

// keyedCurve is a curve whose points are found by their keys.
type keyedCurve struct {
	keys   []string
	points map[string]CurvePoint
}

func meanCurve(runs [][]result.Row) keyedCurve {
	c := keyedCurve{points: map[string]CurvePoint{}}
	throughput, _ := metricOf(string(compare.OutputTPS))
	latency, _ := metricOf(string(compare.TPOT))
	tps, tpot := means(runs, throughput), means(runs, latency)
	for _, run := range compare.Usable(runs) {
		for _, r := range run {
			if _, seen := c.points[r.Key]; seen || tpot[r.Key] <= 0 || tps[r.Key] <= 0 {
				continue
			}
			c.keys = append(c.keys, r.Key)
			c.points[r.Key] = CurvePoint{Conc: r.Conc, Interactivity: 1000 / tpot[r.Key], OutputTPSGPU: tps[r.Key]}
		}
	}
	return c
}

// around is a point's interval as figures: the old mean moved by both ends.
func around(r *compare.Result, m compare.Metric, key string, old float64) Bounds {
	for _, c := range r.Curves {
		if c.Metric != m || c.DF == 0 {
			continue
		}
		for _, p := range c.Points {
			if p.Key == key && p.Low < p.High {
				return Bounds{old * (1 + p.Low), old * (1 + p.High)}
			}
		}
	}
	return Bounds{}
}
