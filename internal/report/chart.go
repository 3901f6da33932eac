package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// CurvePoint is one point of a throughput curve: output tokens per second and
// GPU against interactivity, output tokens per second and user (1/TPOT).
type CurvePoint struct {
	Conc          int
	Interactivity float64 // tokens per second and user
	OutputTPSGPU  float64 // tokens per second and GPU
	// The 95 % intervals of both figures; zero when there is none.
	InteractivityBounds, OutputBounds Bounds
}

// Bounds are the ends of an interval.
type Bounds struct{ Low, High float64 }

func (b Bounds) known() bool { return b.Low < b.High && b.Low > 0 && b.High < maxFigure }

// Curve takes the drawable points of a report: passed, with both figures.
func Curve(ps []Point) []CurvePoint {
	var out []CurvePoint
	for _, p := range ps {
		v := p.Values
		if p.Result != "passed" || v.TPOTms == nil || v.OutputTPSGPU == nil || *v.TPOTms <= 0 {
			continue
		}
		out = append(out, CurvePoint{Conc: p.Conc, Interactivity: 1000 / *v.TPOTms, OutputTPSGPU: *v.OutputTPSGPU})
	}
	return out
}

// headroom keeps the outermost labels inside the plot.
const headroom = 1.04

// maxFigure: figures from here on are not drawn.
const maxFigure = 1e12

// sheet is the size of a drawing and of the margins around its plot, in SVG units.
type sheet struct{ width, height, left, right, top, bottom float64 }

func (s sheet) plotWidth() float64  { return s.width - s.left - s.right }
func (s sheet) plotHeight() float64 { return s.height - s.top - s.bottom }
func (s sheet) floor() float64      { return s.top + s.plotHeight() }

var (
	wide   = sheet{720, 420, 76, 24, 48, 62}
	narrow = sheet{400, 400, 62, 18, 62, 58} // for a phone
)

// chartStyle colours charts for light and for dark surroundings.
const chartStyle = `.rc .bg{fill:#fff}.rc .grid{stroke:#e3e6ea}.rc .axis{stroke:#8b949e}.rc .t{fill:#57606a;font:12px system-ui,sans-serif}` +
	`.rc .l{fill:#1f2328;font:13px system-ui,sans-serif}.rc .old{stroke:#6e7781;fill:#6e7781}.rc .new{stroke:#0a5fd6;fill:#0a5fd6}` +
	`.rc .line{fill:none;stroke-width:2}.rc .dash{stroke-dasharray:6 4}.rc .c{font:11px system-ui,sans-serif;stroke:none}` +
	`.rc .bar{stroke:#1f2328;stroke-width:1.5;fill:none}.rc .zone{fill:#e9edf2}.rc .g{stroke:#17753d;fill:#17753d}.rc .b{stroke:#b3231b;fill:#b3231b}` +
	`.rc .w{stroke:#8a5a00;fill:#8a5a00}.rc .m{stroke:#57606a;fill:#57606a}.rc text.g,.rc text.b,.rc text.w,.rc text.m{stroke:none;font:12px system-ui,sans-serif}` +
	`@media (prefers-color-scheme:dark){.rc .bg{fill:#151a21}.rc .grid{stroke:#272d36}.rc .axis{stroke:#6e7681}.rc .t{fill:#9aa4b0}.rc .l{fill:#e6edf3}` +
	`.rc .old{stroke:#9aa4b0;fill:#9aa4b0}.rc .new{stroke:#5ea2ff;fill:#5ea2ff}.rc .bar{stroke:#e6edf3}.rc .zone{fill:#232a34}` +
	`.rc .g{stroke:#6fd694;fill:#6fd694}.rc .b{stroke:#ff9389;fill:#ff9389}.rc .w{stroke:#f0c062;fill:#f0c062}.rc .m{stroke:#9aa4b0;fill:#9aa4b0}}`

// CurveSVG draws the old and the new curve with readable axes, for light and
// dark surroundings, without outside resources. A point's intervals are bars
// through it. names are the legend's names of old and new. Points that are not
// finite and positive are left out; nothing to draw gives a chart that says so.
func CurveSVG(old, new []CurvePoint, names ...string) []byte {
	return []byte(curveSVG(wide, "<style>"+chartStyle+"</style>", old, new, names...))
}

func curveSVG(s sheet, style string, old, new []CurvePoint, names ...string) string {
	names = append(slices.Clip(names), "old", "new")[:max(2, len(names))]
	old, new = drawable(old), drawable(new)
	var b strings.Builder
	s.open(&b, style, "Output throughput per GPU against interactivity")
	if len(old)+len(new) == 0 {
		fmt.Fprintf(&b, `<text class="l" x="%g" y="%g" text-anchor="middle">no measured points</text></svg>`, s.width/2, s.height/2)
		return b.String()
	}
	f := frameOf(s, append(slices.Clone(old), new...))
	f.axes(&b)
	f.curve(&b, old, "old", new)
	f.curve(&b, new, "new", nil)
	s.legend(&b, names[0], names[1])
	b.WriteString("</svg>")
	return b.String()
}

func (s sheet) open(b *strings.Builder, style, label string) {
	fmt.Fprintf(b, `<svg class="rc" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s">%s`, s.width, s.height, html.EscapeString(label), style)
	fmt.Fprintf(b, `<rect class="bg" width="%g" height="%g" rx="6"/>`, s.width, s.height)
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
type frame struct {
	sheet
	xs, ys []float64
}

func frameOf(s sheet, ps []CurvePoint) frame {
	var x, y float64
	for _, p := range ps {
		x, y = max(x, p.Interactivity), max(y, p.OutputTPSGPU)
		if p.InteractivityBounds.known() {
			x = max(x, p.InteractivityBounds.High)
		}
		if p.OutputBounds.known() {
			y = max(y, p.OutputBounds.High)
		}
	}
	return frame{s, ticks(x * headroom), ticks(y * headroom)}
}

func (f frame) x(v float64) float64 { return f.left + f.plotWidth()*v/f.xs[len(f.xs)-1] }
func (f frame) y(v float64) float64 { return f.top + f.plotHeight()*(1-v/f.ys[len(f.ys)-1]) }

func (f frame) axes(b *strings.Builder) {
	for _, v := range f.xs {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, f.x(v), f.top, f.x(v), f.floor())
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, f.x(v), f.floor()+18, tick(v))
	}
	for _, v := range f.ys {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, f.left, f.y(v), f.left+f.plotWidth(), f.y(v))
		fmt.Fprintf(b, `<text class="t" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, f.left-8, f.y(v)+4, tick(v))
	}
	fmt.Fprintf(b, `<path class="axis" fill="none" d="M%.1f %.1fV%.1fH%.1f"/>`, f.left, f.top, f.floor(), f.left+f.plotWidth())
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f" text-anchor="middle">Interactivity (tok/s/user)</text>`, f.left+f.plotWidth()/2, f.height-14)
	fmt.Fprintf(b, `<text class="l" transform="translate(16 %.1f) rotate(-90)" text-anchor="middle">Output tok/s/GPU</text>`, f.top+f.plotHeight()/2)
}

// curve draws one side: a line in order of concurrency, and its points. A point
// that all but coincides with the other side's needs no label of its own.
func (f frame) curve(b *strings.Builder, ps []CurvePoint, class string, other []CurvePoint) {
	if len(ps) == 0 {
		return
	}
	var at []string
	for _, p := range ps {
		at = append(at, fmt.Sprintf("%.1f,%.1f", f.x(p.Interactivity), f.y(p.OutputTPSGPU)))
	}
	dash := ""
	if class == "old" {
		dash = " dash"
	}
	fmt.Fprintf(b, `<polyline class="%s line%s" points="%s" style="fill:none"/>`, class, dash, strings.Join(at, " "))
	for _, p := range ps {
		near := slices.ContainsFunc(other, func(o CurvePoint) bool {
			return o.Conc == p.Conc && math.Hypot(f.x(o.Interactivity)-f.x(p.Interactivity), f.y(o.OutputTPSGPU)-f.y(p.OutputTPSGPU)) < labelRoom
		})
		label := fmt.Sprintf("c%d", p.Conc)
		if near {
			label = ""
		}
		f.point(b, p, class, label)
	}
}

// labelRoom is how far apart two points are so that each has a label.
const labelRoom = 30

// point is a mark with its intervals and, beside it, the concurrency: the new
// side's above, the old side's below.
func (f frame) point(b *strings.Builder, p CurvePoint, class, label string) {
	x, y := f.x(p.Interactivity), f.y(p.OutputTPSGPU)
	fmt.Fprintf(b, `<g class="%s">`, class)
	if class == "old" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="8" height="8">`, x-4, y-4)
	} else {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4.5">`, x, y)
	}
	fmt.Fprintf(b, `<title>%s c%d: %.2f tok/s/GPU at %.2f tok/s/user</title>`, class, p.Conc, p.OutputTPSGPU, p.Interactivity)
	if class == "old" {
		fmt.Fprintf(b, `</rect><text class="c" x="%.1f" y="%.1f" text-anchor="end">%s</text></g>`, x-8, y+14, label)
	} else {
		fmt.Fprintf(b, `</circle><text class="c" x="%.1f" y="%.1f">%s</text></g>`, x+8, y-7, label)
	}
	if o := p.OutputBounds; o.known() {
		low, high := f.y(o.Low), f.y(o.High)
		fmt.Fprintf(b, `<path class="bar" d="M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8"/>`, x, low, high, x-4, low, x-4, high)
	}
	if i := p.InteractivityBounds; i.known() {
		low, high := f.x(i.Low), f.x(i.High)
		fmt.Fprintf(b, `<path class="bar" d="M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8"/>`, low, y, high, low, y-4, high, y-4)
	}
}

// legend names the sides next to each other, or one above the other on a
// narrow sheet.
func (s sheet) legend(b *strings.Builder, old, new string) {
	y, x, below := 24.0, s.left+s.plotWidth()/2, 0.0
	if s.width < wide.width {
		y, x, below = 18, s.left, 22
	}
	fmt.Fprintf(b, `<g class="old"><line class="line dash" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><rect x="%.1f" y="%.1f" width="8" height="8"/></g>`, s.left, y, s.left+28, y, s.left+10, y-4)
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f">%s</text>`, s.left+36, y+4, legendName(old))
	y += below
	fmt.Fprintf(b, `<g class="new"><line class="line" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><circle cx="%.1f" cy="%.1f" r="4.5"/></g>`, x, y, x+28, y, x+14, y)
	fmt.Fprintf(b, `<text class="l" x="%.1f" y="%.1f">%s</text>`, x+36, y+4, legendName(new))
}

// legendName shortens a long name to what half of the chart holds, keeping its
// end, where an image's tag is.
func legendName(s string) string {
	return html.EscapeString(workspace.Printable(ending(s, 38)))
}

// ending is the last part of a text, of at most n characters.
func ending(s string, n int) string {
	rs := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(rs) > n {
		rs = append([]rune("…"), rs[len(rs)-n+1:]...)
	}
	return string(rs)
}

// finite says whether a figure can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < maxFigure }
