package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/result"
)

// Newcombe, Statistics in Medicine 17, 1998, 857-872, table I, method 3.
func TestWilsonPublished(t *testing.T) {
	for _, tt := range []struct {
		right, n  int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		i := wilson(float64(tt.right)/float64(tt.n), tt.n, z)
		near(t, fmt.Sprintf("low of %d/%d", tt.right, tt.n), i.Low, tt.low, 5e-5)
		near(t, fmt.Sprintf("high of %d/%d", tt.right, tt.n), i.High, tt.high, 5e-5)
	}
	// All right: the lower end is n/(n+z^2) = 200/203.841459.
	near(t, "low of 200/200", wilson(1, 200, z).Low, 200/203.8414588, 1e-9)
}

func of(right, n int) Sample { return Sample{float64(right) / float64(n), n} }

// Newcombe, Statistics in Medicine 17, 1998, 873-890, table II, method 10.
func TestNewcombePublished(t *testing.T) {
	for _, tt := range []struct {
		one, other Sample
		low, high  float64
	}{
		{of(56, 70), of(48, 80), 0.0524, 0.3339},
		{of(9, 10), of(3, 10), 0.1705, 0.8090},
		{of(6, 7), of(2, 7), 0.0582, 0.8062},
		{of(5, 56), of(0, 29), -0.0381, 0.1926},
		{of(0, 10), of(0, 20), -0.1611, 0.2775},
		{of(0, 10), of(0, 10), -0.2775, 0.2775},
		{of(10, 10), of(0, 20), 0.6791, 1},
		{of(10, 10), of(0, 10), 0.6075, 1},
	} {
		i := newcombe(tt.other, tt.one, z)
		near(t, fmt.Sprintf("low of %v-%v", tt.one, tt.other), i.Low, tt.low, 5.1e-5)
		near(t, fmt.Sprintf("high of %v-%v", tt.one, tt.other), i.High, tt.high, 5.1e-5)
		back := newcombe(tt.one, tt.other, z)
		near(t, "turned round", back.Low, -i.High, 1e-12)
		if p := newcombeP(tt.other, tt.one); (p < 0.05) != (i.Low > 0) {
			t.Errorf("%v-%v: p %v does not agree with %v", tt.one, tt.other, p, i)
		}
	}
}

// The interval at the level of p ends at no difference.
func TestNewcombeP(t *testing.T) {
	for _, tt := range []struct{ a, b Sample }{{of(190, 200), of(175, 200)}, {of(1253, 1319), of(1240, 1319)}, {of(0, 50), of(4, 50)}} {
		p := newcombeP(tt.a, tt.b)
		i := newcombe(tt.a, tt.b, math.Sqrt2*math.Erfinv(1-p))
		near(t, "nearest end", math.Min(math.Abs(i.Low), math.Abs(i.High)), 0, 1e-9)
	}
	if p := newcombeP(of(9, 10), of(9, 10)); p != 1 {
		t.Errorf("equal scores: p %v, want 1", p)
	}
	if p := newcombeP(of(0, 9000), of(9000, 9000)); !(p >= 0 && p < 1e-12) {
		t.Errorf("opposite scores: p %v", p)
	}
}

func TestUnpaired(t *testing.T) {
	tests := []struct {
		name     string
		old, new Sample
		want     Verdict
	}{
		{"far-below", of(1253, 1319), of(1187, 1319), Worse},
		{"far-above", of(1187, 1319), of(1253, 1319), Better},
		{"equal-1319", of(1253, 1319), of(1253, 1319), NoChange},
		{"equal-200", of(190, 200), of(190, 200), Inconclusive}, // about 1.96*sqrt(2*0.95*0.05/200) = 4.3 points
		{"no-samples", of(190, 200), Sample{0.9, 0}, Inconclusive},
		{"percent-for-fraction", Sample{95, 200}, of(190, 200), Inconclusive},
		{"not-a-number", Sample{math.NaN(), 200}, of(190, 200), Inconclusive},
	}
	for _, tt := range tests {
		a := Unpaired(tt.old, tt.new)
		if a.Verdict != tt.want || a.Reason == "" || a.Samples != 0 || a.Lost+a.Gained != 0 {
			t.Errorf("%s: %s, want %s", tt.name, a, tt.want)
		}
		if s := a.String(); strings.Contains(s, "McNemar") || strings.Contains(s, "lost 0") {
			t.Errorf("%s: %q speaks of pairs", tt.name, s)
		}
	}
	s := Unpaired(of(1253, 1319), of(1187, 1319)).String()
	for _, want := range []string{"not paired", "n=1319 and 1319", "Newcombe interval", "95.00% [93.6", "89.99%"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
}

// A side without answers is compared by its score; Holm counts it.
func TestCompareScores(t *testing.T) {
	score := func(v float64) *float64 { return &v }
	row := func(key string, v *float64, n int) result.EvalRow {
		return result.EvalRow{Key: key, Suite: "gsm8k", Metric: result.StrictMetric, Result: result.Passed, Score: v, Samples: n}
	}
	_, answered := answers(1319, 132, 0, 0) // 1187 of 1319
	withAnswers := row("a", score(1187.0/1319), 1319)
	withAnswers.Answers = answered
	r := Compare(nil, nil, []result.EvalRow{row("a", score(0.95), 1319), row("b", score(0.95), 200), row("c", score(0.95), 0), row("d", nil, 200)},
		[]result.EvalRow{withAnswers, row("b", score(0.95), 200), row("c", score(0.95), 200), row("d", score(0.9), 200)})
	want := []Verdict{Worse, Inconclusive, Inconclusive, Inconclusive}
	for i, a := range r.Accuracy {
		if a.Verdict != want[i] || a.Samples != 0 {
			t.Errorf("%s: %s", a.Key, a)
		}
	}
	if a := r.Accuracy[0]; a.Method != methodUnpaired || a.New != 1187.0/1319 {
		t.Errorf("a: %+v", a)
	}
	near(t, "Holm over two", r.Accuracy[0].P, 2*newcombeP(Sample{0.95, 1319}, Sample{1187.0 / 1319, 1319}), 1e-15)
	if a := r.Accuracy[2]; a.compared() || !strings.Contains(a.Reason, "number of samples") {
		t.Errorf("c: %+v", a)
	}
}
