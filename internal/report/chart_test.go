package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"

	"pgregory.net/rapid"
)

func TestCurve(t *testing.T) {
	ps := []Point{goodPoint(1), goodPoint(2), goodPoint(4)}
	ps[1].Result = "failed"
	ps[2].Values.TPOTms = nil
	got := Curve(ps)
	if len(got) != 1 || got[0] != (CurvePoint{Conc: 1, Interactivity: 500, OutputTPSGPU: 10}) {
		t.Errorf("Curve: got %v, want one point of 10 tok/s/GPU at 500 tok/s/user", got)
	}
}

// The chart is well-formed whatever it is given, and asks for nothing outside.
func TestCurveSVG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figure := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), -1, math.MaxFloat64, math.SmallestNonzeroFloat64}))
		point := rapid.Custom(func(t *rapid.T) CurvePoint {
			return CurvePoint{
				Conc: rapid.IntRange(0, 999).Draw(t, "conc"), Interactivity: figure.Draw(t, "x"), OutputTPSGPU: figure.Draw(t, "y"),
				InteractivityBounds: Bounds{figure.Draw(t, "x low"), figure.Draw(t, "x high")},
				OutputBounds:        Bounds{figure.Draw(t, "y low"), figure.Draw(t, "y high")},
			}
		})
		svg := CurveSVG(rapid.SliceOfN(point, 0, 5).Draw(t, "old"), rapid.SliceOfN(point, 0, 5).Draw(t, "new"), rapid.String().Draw(t, "name"))
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
		s := strings.Replace(string(svg), `xmlns="http://www.w3.org/2000/svg"`, "", 1)
		for _, bad := range []string{"NaN", "Inf", "href", "url(", "@import"} {
			if name := strings.Index(s, bad); name >= 0 && !strings.Contains(s[max(0, name-80):name], `class="l"`) {
				t.Fatalf("chart holds %q: %s", bad, s)
			}
		}
	})
	if svg := string(CurveSVG(nil, nil)); !strings.Contains(svg, "no measured points") {
		t.Errorf("empty chart: %s", svg)
	}
}

func TestTicks(t *testing.T) {
	for top, want := range map[float64][]float64{
		83:   {0, 20, 40, 60, 80, 100},
		5:    {0, 1, 2, 3, 4, 5},
		1000: {0, 200, 400, 600, 800, 1000},
		0.3:  {0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3},
	} {
		got := ticks(top)
		if len(got) != len(want) {
			t.Errorf("ticks(%v): got %v, want %v", top, got, want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("ticks(%v): got %v, want %v", top, got, want)
			}
		}
	}
}

func TestTerminalColor(t *testing.T) {
	a, b := goodAttempt(), goodBaseline()
	a.Change.EN = "\x1b[2Jwiped"
	var plain, colored bytes.Buffer
	Terminal(&plain, a, b, nil, false)
	Terminal(&colored, a, b, nil, true)
	if strings.Contains(plain.String(), "\x1b") {
		t.Errorf("plain text holds an escape sequence: %q", plain.String())
	}
	if !strings.Contains(colored.String(), "\x1b[32mPassed\x1b[0m") || strings.Contains(colored.String(), "\x1b[2J") {
		t.Errorf("coloured text: %q", colored.String())
	}
}

func TestFromRows(t *testing.T) {
	head := strings.Repeat("a", 40)
	p := result.Provenance{RunID: 7, Attempt: 1, Head: head, Started: time.Unix(1, 0)}
	rows := []result.Row{{Key: "k", Label: "256/64 c4 TP1 EP1 aaaaaa", Conc: 4, Scenario: "fixed-seq-len", Result: result.Passed,
		Metrics: map[string]float64{"output_tput_per_gpu": 24.91, "mean_tpot": 0.01853}, RequestErrors: ptr(0), Provenance: p}}
	evals := []result.EvalRow{{Key: "k", Conc: 4, Suite: "s", Metric: "m", Label: "long", Score: ptr(0.5), Samples: 200, Result: result.Passed},
		{Key: "k2", Conc: 8, Suite: "s", Metric: "m", Label: "long", Result: result.Cancelled}}
	ps, es := FromRows(rows, evals)
	if v := ps[0].Values; *v.OutputTPSGPU != 24.91 || *v.TPOTms != 18.53 || v.TTFTms != nil || *v.RequestErrors != 0 || *ps[0].RunID != 7 || *ps[0].Head != head {
		t.Errorf("point: %+v", ps[0])
	}
	if es[0].Label != "c4" || *es[0].Samples != 200 || es[0].RunID != nil || es[1].Result != "unavailable" || es[1].Samples != nil {
		t.Errorf("evals: %+v", es)
	}
	evals[1].Conc = 4
	if _, es = FromRows(nil, evals); es[0].Label != "long" {
		t.Errorf("one concurrency twice: labels must stay long, got %q", es[0].Label)
	}
	b := FromBaseline(result.Baseline{Family: "f", Date: "2026-01-01", Image: "i:v1", Points: []result.BaselinePoint{{Key: "k", Label: "AgentX c4 TP1 EP1 aaaaaa", Conc: 4, Result: result.Unavailable}}},
		Goal("a", "b"), Status(Proposed), Author{Kind: "program"})
	if b.Points[0].Scenario != "agentic-coding" || b.Points[0].RunID != nil || b.Points[0].Values.LatencyStatistic != "mean" {
		t.Errorf("baseline point: %+v", b.Points[0])
	}
}

// The drawing of intervals is well-formed whatever a certificate holds.
func TestIntervalSVG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figure := rapid.OneOf(rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), math.MaxFloat64}))
		c := compare.Curve{Metric: compare.TPOT, Judged: true, DF: rapid.IntRange(0, 3).Draw(t, "df"), Threshold: rapid.SampledFrom([]float64{0, 0.03}).Draw(t, "threshold")}
		names := map[string]string{}
		for i := range rapid.IntRange(1, 4).Draw(t, "points") {
			p := compare.PointVerdict{Key: strings.Repeat("k", i+1), Delta: figure.Draw(t, "delta"), Low: figure.Draw(t, "low"), High: figure.Draw(t, "high"),
				Verdict: rapid.SampledFrom([]compare.Verdict{compare.Worse, compare.Inconclusive, "<b>"}).Draw(t, "verdict")}
			names[p.Key] = rapid.SampledFrom([]string{"c1", `<script>"&`, strings.Repeat("long ", 20)}).Draw(t, "name")
			c.Points = append(c.Points, p)
		}
		svg := intervalSVG(c, names)
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Fatalf("not a drawing: %s", svg)
		}
	})
}
