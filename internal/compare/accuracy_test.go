package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/eval"
)

// answers makes n old and new answers of which lost and gained change; the
// rest is right on both sides but for the last wrong ones.
func answers(n, lost, gained, wrong int) (old, new []eval.Answer) {
	for i := range n {
		o := eval.Answer{DocID: i, QuestionDigest: fmt.Sprint("q", i), Correct: true}
		w := o
		switch {
		case i < lost:
			w.Correct = false
		case i < lost+gained:
			o.Correct = false
		case i >= n-wrong:
			o.Correct, w.Correct = false, false
		}
		old, new = append(old, o), append(new, w)
	}
	return old, new
}

func TestPaired(t *testing.T) {
	tests := []struct {
		name            string
		n, lost, gained int
		p               float64
		want            Verdict
	}{
		{"identical-200", 200, 0, 0, 1, NoChange},
		// z^2/(n+z^2) = 3.841459/103.841459 = 3.70 pp is more than 3.
		{"identical-100", 100, 0, 0, 1, Inconclusive},
		// 2*(1 + 14 + 91)/2^14 = 212/16384
		{"lost-12-gained-2", 200, 12, 2, 212.0 / 16384, Worse},
		{"gained-12-lost-2", 200, 2, 12, 212.0 / 16384, Better},
		// 2*(1 + 13 + 78 + 286)/2^13 = 756/8192
		{"lost-10-gained-3", 200, 10, 3, 756.0 / 8192, Inconclusive},
		// 2*(1/2)^5 = 0.0625: five lost in a row are not yet sure
		{"lost-5", 1319, 5, 0, 0.0625, NoChange},
		{"lost-6", 1319, 6, 0, 0.03125, Worse},
		{"balanced", 1319, 7, 7, 1, NoChange},
		{"one-question", 1, 1, 0, 1, Inconclusive},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := Paired(answers(tt.n, tt.lost, tt.gained, 0))
			if a.Verdict != tt.want || a.Lost != tt.lost || a.Gained != tt.gained || a.Samples != tt.n {
				t.Errorf("%s, want %s", a, tt.want)
			}
			near(t, "p", a.P, tt.p, 1e-12)
			near(t, "old", a.Old, float64(tt.n-tt.gained)/float64(tt.n), 1e-12)
			near(t, "new", a.New, float64(tt.n-tt.lost)/float64(tt.n), 1e-12)
			if d := a.New - a.Old; a.Low > d || a.High < d {
				t.Errorf("interval [%v, %v] does not hold %v", a.Low, a.High, d)
			}
		})
	}
	a := Paired(answers(200, 0, 0, 30))
	near(t, "low", a.Low, -3.8414588/203.8414588, 1e-9)
	near(t, "high", a.High, 3.8414588/203.8414588, 1e-9)
	near(t, "score", a.Old, 0.85, 1e-12)
	if s := a.String(); !strings.Contains(s, "n=200, lost 0, gained 0, p=1, 95% interval [-1.88, +1.88] pp, threshold ±3 pp") || !strings.Contains(s, "Tango") {
		t.Errorf("sentence %q", s)
	}
}

// At both ends of the interval the score statistic, with the nuisance chance
// found here by maximising the likelihood by search, is +-1.96.
func TestTangoInterval(t *testing.T) {
	for _, c := range []struct{ up, down, n int }{{2, 12, 200}, {12, 2, 50}, {0, 6, 1319}, {1, 0, 20}, {7, 7, 1319}, {0, 3, 3}} {
		low, high := tango(c.up, c.down, c.n)
		for _, end := range []struct{ x, want float64 }{{low, z}, {high, -z}} {
			if math.Abs(end.x) > 1-1e-9 {
				continue // the interval ends where differences end
			}
			near(t, fmt.Sprintf("%+v at %v", c, end.x), searchedScore(c.up, c.down, c.n, end.x), end.want, 1e-4)
		}
	}
}

func searchedScore(up, down, n int, x float64) float64 {
	term := func(k int, p float64) float64 {
		if k == 0 {
			return 0
		}
		return float64(k) * math.Log(math.Max(p, 1e-300))
	}
	likelihood := func(q float64) float64 {
		return term(up, q+x) + term(down, q) + term(n-up-down, 1-2*q-x)
	}
	lo, hi := math.Max(0, -x), (1-x)/2
	for range 300 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if likelihood(a) < likelihood(b) {
			lo = a
		} else {
			hi = b
		}
	}
	q := (lo + hi) / 2
	return (float64(up-down) - float64(n)*x) / math.Sqrt(float64(n)*(2*q+x-x*x))
}

func TestPairedNeedsTheSameQuestions(t *testing.T) {
	old, now := answers(10, 0, 0, 0)
	other := append([]eval.Answer(nil), now...)
	other[3].QuestionDigest = "another"
	twice := append([]eval.Answer(nil), now...)
	twice[3] = twice[4]
	for name, in := range map[string][2][]eval.Answer{
		"fewer": {old, now[:9]}, "other": {old, other}, "twice-new": {old, twice}, "twice-old": {twice, now}, "none": {nil, nil},
	} {
		if a := Paired(in[0], in[1]); a.Verdict != Inconclusive || a.Samples != 0 || !strings.Contains(a.Reason, "cannot be paired") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	// order does not matter
	now[0], now[9] = now[9], now[0]
	if a := Paired(old, now); a.Samples != 10 || a.P != 1 {
		t.Errorf("reordered: %+v", a)
	}
}

func TestHolmAccuracy(t *testing.T) {
	six := Paired(answers(1319, 6, 0, 0))   // p = 0.03125
	sure := Paired(answers(200, 12, 2, 0))  // p = 0.012939
	none := Accuracy{Verdict: Inconclusive} // not paired: does not count
	got := HolmAccuracy([]Accuracy{six, sure, none})
	// Holm over two: 2*0.012939 = 0.025879 and max(0.025879, 0.03125).
	near(t, "least", got[1].P, 424.0/16384, 1e-12)
	near(t, "second", got[0].P, 0.03125, 1e-12)
	if got[0].Verdict != Worse || got[1].Verdict != Worse || got[2].Verdict != Inconclusive {
		t.Errorf("verdicts %s %s %s", got[0].Verdict, got[1].Verdict, got[2].Verdict)
	}
	// Twice six: 2*0.03125 = 0.0625 for both, and 6 of 1319 is inside 3 points.
	got = HolmAccuracy([]Accuracy{six, six})
	near(t, "both", got[0].P, 0.0625, 1e-12)
	if got[0].Verdict != NoChange || six.Verdict != Worse {
		t.Errorf("after Holm over two: %s, before: %s", got[0], six.Verdict)
	}
}
