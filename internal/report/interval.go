package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/workspace"
)

// intervals is the drawing of a metric's changes: one row per point with its
// 95 % interval, the zone of no change shaded. Both figures and marks stand in
// the text too, so that no colour stands alone.
type intervals struct {
	sheet
	row       float64 // height
	low, high float64 // ends of the axis, fractions
	long      bool    // names stand above their rows
}

func intervalsOf(c compare.Curve, names map[string]string) intervals {
	around := max(c.Threshold*1.2, 0.001)
	d := intervals{row: 26, low: -around, high: around}
	for _, p := range c.Points {
		if measured(p) {
			d.low, d.high = min(d.low, p.Delta, p.Low), max(d.high, p.Delta, p.High)
		}
		d.long = d.long || len(names[p.Key]) > 5
	}
	margin := (d.high - d.low) * 0.04
	d.low, d.high = d.low-margin, d.high+margin
	d.sheet = sheet{width: 400, left: 46, right: 82, top: 26, bottom: 46}
	if d.long {
		d.row, d.left = 42, 14
	}
	d.height = d.top + d.bottom + d.row*float64(len(c.Points))
	return d
}

// intervalSVG draws a curve's changes; names are the points' by key.
func intervalSVG(c compare.Curve, names map[string]string) string {
	d := intervalsOf(c, names)
	if len(c.Points) == 0 {
		return ""
	}
	var b strings.Builder
	d.open(&b, "", "Changes of "+metricName(c.Metric)+" with their 95 % intervals")
	d.axis(&b, c)
	for i, p := range c.Points {
		d.point(&b, c, p, names[p.Key], d.top+d.row*(float64(i)+0.5))
	}
	b.WriteString("</svg>")
	return b.String()
}

func (d intervals) x(v float64) float64 { return d.left + d.plotWidth()*(v-d.low)/(d.high-d.low) }

func (d intervals) axis(b *strings.Builder, c compare.Curve) {
	low, high := d.x(-c.Threshold), d.x(c.Threshold)
	fmt.Fprintf(b, `<rect class="zone" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, low, d.top, high-low, d.plotHeight())
	for _, v := range ticksBetween(d.low, d.high) {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, d.x(v), d.top, d.x(v), d.floor())
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, d.x(v), d.floor()+17, percentTick(v))
	}
	fmt.Fprintf(b, `<line class="axis" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, d.x(0), d.top, d.x(0), d.floor())
	left, right := "worse", "better"
	if !c.Metric.HigherIsBetter() {
		left, right = right, left
	}
	fmt.Fprintf(b, `<text class="t" x="%.1f" y="16">← %s</text><text class="t" x="%.1f" y="16" text-anchor="end">%s →</text>`, d.left, left, d.left+d.plotWidth(), right)
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f" text-anchor="middle">change from the old mean</text>`, d.left+d.plotWidth()/2, d.height-10)
}

func (d intervals) point(b *strings.Builder, c compare.Curve, p compare.PointVerdict, name string, y float64) {
	if d.long {
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f">%s</text>`, d.left, y-8, html.EscapeString(workspace.Printable(ending(name, 44))))
		y += 9
	} else {
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, d.left-8, y+4, html.EscapeString(workspace.Printable(name)))
	}
	class, text := "m", "none"
	if measured(p) {
		text = finer(p.Delta)
		if c.Judged && c.DF > 0 {
			class, text = verdictClass(p.Verdict), text+" "+mark(p.Verdict)
		}
		fmt.Fprintf(b, `<g class="%s">`, class)
		if c.DF > 0 && p.Low < p.High {
			low, high := d.x(p.Low), d.x(p.High)
			fmt.Fprintf(b, `<path class="line" d="M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8"/>`, low, y, high, low, y-4, high, y-4)
		}
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle></g>`, d.x(p.Delta), y, html.EscapeString(workspace.Printable(name+" "+changeText(c, p))))
	}
	fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, class, d.width-10, y+4, text)
}

// percentTick spells a relative change beside an axis: -2.5%, 0%, +2.5%.
func percentTick(v float64) string {
	if s := fraction(v); s != "+0%" {
		return s
	}
	return "0%"
}

// verdictClass is the drawing's colour of a verdict.
func verdictClass(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "g"
	case compare.Worse:
		return "b"
	case compare.Inconclusive:
		return "w"
	}
	return "m"
}

// changeText is a point's change with its interval: "-2.1%, 95% interval -2.4% to -1.8%".
func changeText(c compare.Curve, p compare.PointVerdict) string {
	if !measured(p) {
		return "not compared"
	}
	if c.DF == 0 {
		return finer(p.Delta) + ", no interval"
	}
	return finer(p.Delta) + ", 95% interval " + finer(p.Low) + " to " + finer(p.High)
}

// finer spells a relative change with two decimals, for intervals: -0.19%.
func finer(f float64) string {
	return strings.TrimSuffix(points(f), " pp") + "%"
}
