package compare

import (
	"math"
	"strings"
	"testing"
)

// spreadPoints makes five points with three old runs each, whose logarithms
// are ln(100*conc) and that -+a. So every point has squares 2a^2, and over five
// points s = sqrt(5*2a^2 / 10) = a with df = 5*(3-1) = 10. The one new run of
// point i is mean(old)*exp(x[i]); its standard error is a*sqrt(1/3+1/1).
func spreadPoints(a float64, x ...float64) []Point {
	var out []Point
	for i, shift := range x {
		m := 100 * float64(int(1)<<i)
		old := []float64{m * math.Exp(-a), m, m * math.Exp(a)}
		out = append(out, Point{Key: strings.Repeat(string(rune('a'+i)), 64), Label: "p", Conc: 1 << i, Old: old, New: []float64{mean(old) * math.Exp(shift)}})
	}
	return out
}

// From tables of Student's t with 10 degrees of freedom: quantiles 0.975,
// 0.99 and 0.9975.
const (
	t975  = 2.228139
	t990  = 2.763769
	t9975 = 3.581406
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestJudgeNoChange(t *testing.T) {
	// a = 0.005: half width = 2.228139 * 0.005 * sqrt(4/3) = 0.0128642.
	// Low = exp(-0.0128642)-1 = -0.0127818, High = exp(0.0128642)-1 = 0.0129473.
	c := Judge(OutputTPS, true, spreadPoints(0.005, 0, 0, 0, 0, 0))
	if c.Verdict != NoChange || c.N != 3 || c.DF != 10 || c.Threshold != 0.03 || !c.Judged {
		t.Fatalf("%+v", c)
	}
	near(t, "s", c.S, 0.005, 1e-12)
	for _, p := range c.Points {
		near(t, "delta", p.Delta, 0, 1e-12)
		near(t, "low", p.Low, -0.0127818, 1e-6)
		near(t, "high", p.High, 0.0129473, 1e-6)
	}
	want := "output-tps-gpu: no-change: 5 of 5 points no-change (n=3, df=10, s=0.50%, threshold ±3%); furthest: p c1 no-change"
	if got := c.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, "95% interval [-1.28%, +1.29%]") {
		t.Errorf("sentence %q, want it to begin %q", got, want)
	}
}

func TestJudgeHolm(t *testing.T) {
	const a = 0.005
	se := a * math.Sqrt(4.0/3)
	bad, good := math.Log(0.97), math.Log(1.03)
	tests := []struct {
		name   string
		metric Metric
		x      []float64
		want   Verdict // of the curve
		point  int     // looked at
		wantP  float64
		wantPV Verdict
	}{
		// p = 1 - 0.9975 = 0.0025, the least of five: 5 * 0.0025 = 0.0125.
		{"worse-alone", OutputTPS, []float64{bad - t9975*se, 0, 0, 0, 0}, Worse, 0, 0.0125, Worse},
		// p = 0.01, times five is 0.05 > 0.025; the interval reaches the limit.
		{"not-after-holm", OutputTPS, []float64{bad - t990*se, 0, 0, 0, 0}, Inconclusive, 0, 0.05, Inconclusive},
		// the same point beside a clear one: the second least of five, 4 * 0.01 = 0.04.
		{"second-of-two", OutputTPS, []float64{bad - t990*se, bad - 30*se, 0, 0, 0}, Worse, 0, 0.04, Inconclusive},
		// lower is better for latency: the bad limit is ln 1.03.
		{"latency-worse", TPOT, []float64{0, 0, good + t9975*se, 0, 0}, Worse, 2, 0.0125, Worse},
		{"latency-better-is-lower", TPOT, []float64{bad - 30*se, bad - 30*se, bad - 30*se, bad - 30*se, bad - t990*se}, Better, 4, 0.01, Better},
		{"throughput-better", TotalTPS, []float64{good + 30*se, good + 30*se, good + 30*se, good + 30*se, good + t990*se}, Better, 4, 0.01, Better},
		{"one-unchanged-is-no-change", OutputTPS, []float64{0, good + 30*se, good + 30*se, good + 30*se, good + 30*se}, NoChange, 0, 1, NoChange},
		{"worse-beats-inconclusive", OutputTPS, []float64{bad, bad - 30*se, 0, 0, 0}, Worse, 0, 1, Inconclusive},
		{"inconclusive-beats-better", OutputTPS, []float64{good, good + 30*se, good + 30*se, good + 30*se, good + 30*se}, Inconclusive, 0, 0.5, Inconclusive},
		// the interval's end on the limit: x + t975*se = ln 1.03 exactly, a hair more is outside.
		{"interval-just-outside", OutputTPS, []float64{good - t975*se + 1e-7, 0, 0, 0, 0}, Inconclusive, 0, 1, Inconclusive},
		{"interval-just-inside", OutputTPS, []float64{good - t975*se - 1e-7, 0, 0, 0, 0}, NoChange, 0, 1, NoChange},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Judge(tt.metric, true, spreadPoints(a, tt.x...))
			p := c.Points[tt.point]
			if c.Verdict != tt.want || p.Verdict != tt.wantPV {
				t.Errorf("curve %s, point %s, want %s, %s\n%s", c.Verdict, p.Verdict, tt.want, tt.wantPV, c)
			}
			near(t, "p", p.P, tt.wantP, 2e-6)
			near(t, "delta", p.Delta, math.Expm1(tt.x[tt.point]), 1e-12)
		})
	}
}

// Two new runs shrink the error to s*sqrt(1/3+1/2) = 0.912871 s, and their
// arithmetic mean is compared.
func TestJudgeTwoNewRuns(t *testing.T) {
	points := spreadPoints(0.01, 0, 0, 0, 0, 0)
	points[0].New = []float64{points[0].New[0] * 0.99, points[0].New[0] * 1.01}
	c := Judge(OutputTPS, true, points)
	near(t, "delta", c.Points[0].Delta, 0, 1e-12)
	near(t, "low", c.Points[0].Low, math.Expm1(-t975*0.01*0.912871), 1e-6)
	near(t, "low of one run", c.Points[1].Low, math.Expm1(-t975*0.01*1.154701), 1e-6)
}

func TestJudgeWithoutSpread(t *testing.T) {
	points := spreadPoints(0.005, 0, -0.5, 0, 0, 0)
	for i := range points {
		points[i].Old = points[i].Old[:1]
	}
	c := Judge(OutputTPS, true, points)
	if c.Verdict != Inconclusive || c.DF != 0 || c.N != 1 || !strings.Contains(c.Reason, "1 run of the old image; its spread needs at least 2, 1 run missing") {
		t.Errorf("one old run: %+v", c)
	}
	if p := c.Points[1]; p.Verdict != Inconclusive || p.Delta > -0.3 || p.Low != 0 || !strings.Contains(c.Sentence(p), "no interval (n=1, df=0") {
		t.Errorf("one old run: %+v, %q", p, c.Sentence(p))
	}
	if c := Judge(TPOT, true, nil); c.Verdict != Inconclusive || c.Reason != "no points" {
		t.Errorf("nothing: %+v", c)
	}
	none := Judge(TPOT, true, []Point{{Key: "k", Conc: 1, New: []float64{1}}})
	if none.Verdict != Inconclusive || none.Points[0].Reason != "no usable old run" || none.Reason != "no point was measured on both sides" {
		t.Errorf("no history: %+v", none)
	}
}

// Identical old runs leave no doubt: the point value decides.
func TestJudgeIdenticalHistory(t *testing.T) {
	same := func(v float64) Point {
		return Point{Key: "k", Conc: 1, Old: []float64{10, 10, 10}, New: []float64{v}}
	}
	for v, want := range map[float64]Verdict{10: NoChange, 9: Worse, 12: Better, 9.71: NoChange} {
		if c := Judge(OutputTPS, true, []Point{same(v)}); c.Verdict != want || math.IsNaN(c.Points[0].P) {
			t.Errorf("new %v: %s", v, c)
		}
	}
}

func TestJudgeMissingPoints(t *testing.T) {
	points := spreadPoints(0.001, 0, 0, 0)
	points[2].New = nil
	c := Judge(OutputTPS, true, points)
	if c.Verdict != Inconclusive || c.DF != 4 || c.Points[2].Reason != "no usable new run" || c.Points[0].Verdict != NoChange {
		t.Errorf("missing new run: %+v", c)
	}
	points[0].New = []float64{1}
	if c := Judge(OutputTPS, true, points); c.Verdict != Worse {
		t.Errorf("a clear loss beside a gap: %s", c)
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		points[1].New = []float64{v}
		if c := Judge(OutputTPS, true, points); c.Points[1].Verdict != Inconclusive || c.Points[1].Reason != "a figure is zero or not finite" {
			t.Errorf("figure %v: %+v", v, c.Points[1])
		}
	}
}
