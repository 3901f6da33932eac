package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// CurvePoint is one point of a throughput curve: output tokens per second and
// GPU against interactivity, output tokens per second and user (1/TPOT).
type CurvePoint struct {
	Conc          int
	Interactivity float64 // tokens per second and user
	OutputTPSGPU  float64 // tokens per second and GPU
}

// Curve takes the drawable points of a report: passed, with both figures.
func Curve(ps []Point) []CurvePoint {
	var out []CurvePoint
	for _, p := range ps {
		v := p.Values
		if p.Result != "passed" || v.TPOTms == nil || v.OutputTPSGPU == nil || *v.TPOTms <= 0 {
			continue
		}
		out = append(out, CurvePoint{p.Conc, 1000 / *v.TPOTms, *v.OutputTPSGPU})
	}
	return out
}

// The chart's geometry, in SVG units.
const (
	chartWidth, chartHeight = 720.0, 420.0
	chartLeft, chartRight   = 76.0, 24.0
	chartTop, chartBottom   = 48.0, 62.0
	plotWidth, plotHeight   = chartWidth - chartLeft - chartRight, chartHeight - chartTop - chartBottom
)

const (
	maxTicks  = 6    // steps of an axis
	maxFigure = 1e12 // figures from here on are not drawn
)

// chartStyle colours the chart for light and for dark surroundings.
const chartStyle = `.bg{fill:#fff}.grid{stroke:#e3e6ea}.axis{stroke:#8b949e}.t{fill:#57606a;font:12px system-ui,sans-serif}.l{fill:#1f2328;font:13px system-ui,sans-serif}.old{stroke:#6e7781;fill:#6e7781}.new{stroke:#0a5fd6;fill:#0a5fd6}.line{fill:none;stroke-width:2}.dash{stroke-dasharray:6 4}.c{font:11px system-ui,sans-serif;stroke:none}@media (prefers-color-scheme:dark){.bg{fill:#151a21}.grid{stroke:#272d36}.axis{stroke:#6e7681}.t{fill:#9aa4b0}.l{fill:#e6edf3}.old{stroke:#9aa4b0;fill:#9aa4b0}.new{stroke:#5ea2ff;fill:#5ea2ff}}`

// CurveSVG draws the old and the new curve with readable axes, for light and
// dark surroundings, without outside resources. names are the legend's names
// of old and new. Points that are not finite and positive are left out;
// nothing to draw gives a chart that says so.
func CurveSVG(old, new []CurvePoint, names ...string) []byte {
	names = append(slices.Clip(names), "old", "new")[:max(2, len(names))]
	old, new = drawable(old), drawable(new)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="Output throughput per GPU against interactivity">`, chartWidth, chartHeight)
	b.WriteString("<style>" + chartStyle + "</style>")
	fmt.Fprintf(&b, `<rect class="bg" width="%g" height="%g" rx="6"/>`, chartWidth, chartHeight)
	if len(old)+len(new) == 0 {
		fmt.Fprintf(&b, `<text class="l" x="%g" y="%g" text-anchor="middle">no measured points</text></svg>`, chartWidth/2, chartHeight/2)
		return []byte(b.String())
	}
	f := frameOf(append(slices.Clone(old), new...))
	f.axes(&b)
	f.curve(&b, old, "old", true)
	f.curve(&b, new, "new", false)
	legend(&b, names[0], names[1])
	b.WriteString("</svg>")
	return []byte(b.String())
}

func drawable(ps []CurvePoint) []CurvePoint {
	var out []CurvePoint
	for _, p := range ps {
		if p.Interactivity > 0 && p.Interactivity < maxFigure && p.OutputTPSGPU >= 0 && p.OutputTPSGPU < maxFigure {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b CurvePoint) int { return a.Conc - b.Conc })
	return out
}

// frame maps figures to the plot; both axes start at zero.
type frame struct{ xs, ys []float64 }

func frameOf(ps []CurvePoint) frame {
	var x, y float64
	for _, p := range ps {
		x, y = max(x, p.Interactivity), max(y, p.OutputTPSGPU)
	}
	return frame{ticks(x), ticks(y)}
}

// ticks are round numbers from zero to the first one at or above top.
func ticks(top float64) []float64 {
	if top <= 0 {
		top = 1
	}
	top = max(top, 1e-6)
	step := math.Pow(10, math.Floor(math.Log10(top/maxTicks)))
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		if step*k*maxTicks >= top {
			step *= k
			break
		}
	}
	var out []float64
	for i := 0; ; i++ {
		v := float64(i) * step
		out = append(out, v)
		if v >= top {
			return out
		}
	}
}

func (f frame) x(v float64) float64 { return chartLeft + plotWidth*v/f.xs[len(f.xs)-1] }
func (f frame) y(v float64) float64 {
	return chartTop + plotHeight*(1-v/f.ys[len(f.ys)-1])
}

func (f frame) axes(b *strings.Builder) {
	bottom := chartTop + plotHeight
	for _, v := range f.xs {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, f.x(v), chartTop, f.x(v), bottom)
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, f.x(v), bottom+18, tick(v))
	}
	for _, v := range f.ys {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, chartLeft, f.y(v), chartLeft+plotWidth, f.y(v))
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, chartLeft-8, f.y(v)+4, tick(v))
	}
	fmt.Fprintf(b, `<path class="axis" fill="none" d="M%.1f %.1fV%.1fH%.1f"/>`, chartLeft, chartTop, bottom, chartLeft+plotWidth)
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f" text-anchor="middle">Interactivity (tok/s/user)</text>`, chartLeft+plotWidth/2, chartHeight-16)
	fmt.Fprintf(b, `<text class="l" transform="translate(20 %.1f) rotate(-90)" text-anchor="middle">Output tok/s/GPU</text>`, chartTop+plotHeight/2)
}

func tick(v float64) string {
	s := grouped(strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64))
	return s
}

// curve draws one side: a line in order of concurrency, a mark per point, and
// the concurrency beside it; the new side's above, the old side's below.
func (f frame) curve(b *strings.Builder, ps []CurvePoint, class string, old bool) {
	if len(ps) == 0 {
		return
	}
	var at []string
	for _, p := range ps {
		at = append(at, fmt.Sprintf("%.1f,%.1f", f.x(p.Interactivity), f.y(p.OutputTPSGPU)))
	}
	dash := ""
	if old {
		dash = " dash"
	}
	fmt.Fprintf(b, `<polyline class="%s line%s" points="%s" style="fill:none"/>`, class, dash, strings.Join(at, " "))
	for _, p := range ps {
		x, y := f.x(p.Interactivity), f.y(p.OutputTPSGPU)
		fmt.Fprintf(b, `<g class="%s">`, class)
		if old {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="8" height="8">`, x-4, y-4)
		} else {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4.5">`, x, y)
		}
		fmt.Fprintf(b, `<title>%s c%d: %.2f tok/s/GPU at %.2f tok/s/user</title>`, class, p.Conc, p.OutputTPSGPU, p.Interactivity)
		if old {
			fmt.Fprintf(b, `</rect><text class="c" x="%.1f" y="%.1f" text-anchor="end">c%d</text></g>`, x-8, y+14, p.Conc)
		} else {
			fmt.Fprintf(b, `</circle><text class="c" x="%.1f" y="%.1f">c%d</text></g>`, x+8, y-7, p.Conc)
		}
	}
}

func legend(b *strings.Builder, old, new string) {
	y := 24.0
	fmt.Fprintf(b, `<g class="old"><line class="line dash" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><rect x="%.1f" y="%.1f" width="8" height="8"/></g>`, chartLeft, y, chartLeft+28, y, chartLeft+10, y-4)
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f">%s</text>`, chartLeft+36, y+4, legendName(old))
	x := chartLeft + plotWidth/2
	fmt.Fprintf(b, `<g class="new"><line class="line" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><circle cx="%.1f" cy="%.1f" r="4.5"/></g>`, x, y, x+28, y, x+14, y)
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f">%s</text>`, x+36, y+4, legendName(new))
}

// legendName shortens a long name to what half of the chart holds, keeping its
// end, where an image's tag is.
func legendName(s string) string {
	rs := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(rs) > 38 {
		rs = append([]rune("…"), rs[len(rs)-37:]...)
	}
	return html.EscapeString(printable(string(rs)))
}
