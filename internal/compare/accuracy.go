package compare

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/refit-bench/refit/internal/eval"
)

const (
	level  = 0.05 // two-sided, after Holm over the evals
	margin = 0.03 // 3 percentage points
	// z is the 0.975 quantile of the normal distribution.
	z = 1.959963984540054

	methodPaired   = "McNemar exact, Holm over evals; Tango score interval"
	methodUnpaired = "Newcombe interval of two scores that are not paired, Holm over evals"
)

// Accuracy is the verdict on one eval. When the same questions were answered by
// the old and by the new image, it is paired: Lost were right and are wrong
// now, Gained the other way round. When a side has only a score, it is not, and
// Method says so. P is two-sided, after Holm. Low and High bound the 95 %
// interval of new minus old, as a fraction (0.01 is one percentage point);
// OldInterval and NewInterval are Wilson's, of each score alone.
type Accuracy struct {
	Key         string   `json:"key"`
	Label       string   `json:"label"`
	Conc        int      `json:"conc"`
	Suite       string   `json:"suite"`
	Verdict     Verdict  `json:"verdict"`
	Old         float64  `json:"old"`
	New         float64  `json:"new"`
	OldSamples  int      `json:"old-samples"` // 0: nothing could be compared, Reason says why
	NewSamples  int      `json:"new-samples"`
	OldInterval Interval `json:"old-interval"`
	NewInterval Interval `json:"new-interval"`
	Samples     int      `json:"samples"` // questions that were paired, 0: none
	Lost        int      `json:"lost"`
	Gained      int      `json:"gained"`
	P           float64  `json:"p"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	Method      string   `json:"method"`
	Reason      string   `json:"reason"`

	// Discordant are the questions whose outcome changed, at most 50: the lost
	// ones first, each part by question.
	Discordant []Discordant `json:"discordant,omitempty"`
}

// compared says whether there is more than a reason.
func (a Accuracy) compared() bool {
	return a.Samples > 0 || a.OldSamples > 0 && a.NewSamples > 0
}

// Paired compares two sets of answers to the same questions. Only the
// questions whose outcome changed carry information on the test: it is exact
// and binomial over them (McNemar). The interval is Tango's score interval for
// a difference of paired proportions, which stays honest without any changed
// question: then it is +-z^2/(n+z^2). Different questions cannot be paired.
func Paired(old, new []eval.Answer) Accuracy {
	a := Accuracy{Verdict: Inconclusive, P: 1, Method: methodPaired}
	type id struct {
		doc      int
		question string
	}
	before := make(map[id]eval.Answer, len(old))
	for _, o := range old {
		before[id{o.DocID, o.QuestionDigest}] = o
	}
	if len(before) != len(old) || len(old) != len(new) || len(old) == 0 {
		a.Reason = fmt.Sprintf("cannot be paired: %d old answers to %d questions, %d new", len(old), len(before), len(new))
		return a
	}
	var right, rightBefore int
	var lost, gained []Discordant
	for _, n := range new {
		key := id{n.DocID, n.QuestionDigest}
		was, ok := before[key]
		if !ok {
			a.Reason = fmt.Sprintf("cannot be paired: question %d differs or is answered twice", n.DocID)
			return a
		}
		delete(before, key)
		switch {
		case was.Correct && n.Correct:
			right, rightBefore = right+1, rightBefore+1
		case was.Correct:
			lost, rightBefore = append(lost, discordant(was, n)), rightBefore+1
		case n.Correct:
			gained, right = append(gained, discordant(was, n)), right+1
		}
	}
	a.Samples, a.Lost, a.Gained, a.Discordant = len(new), len(lost), len(gained), shownFirst(lost, gained)
	a.scores(Sample{float64(rightBefore) / float64(len(new)), len(new)}, Sample{float64(right) / float64(len(new)), len(new)})
	a.P = mcnemar(a.Lost, a.Gained)
	a.Low, a.High = tango(a.Gained, a.Lost, a.Samples)
	a.decide()
	return a
}

// Sample is a score in 0..1 over N questions.
type Sample struct {
	Score float64
	N     int
}

// Unpaired compares two scores of which at least one came without its answers.
// It treats the samples as independent. When they are answers to the same
// questions the interval is wider than need be, and no paired verdict is
// claimed either way. Method names it.
func Unpaired(old, new Sample) Accuracy {
	a := Accuracy{Verdict: Inconclusive, P: 1, Method: methodUnpaired}
	for _, s := range []Sample{old, new} {
		if s.N <= 0 || !(s.Score >= 0 && s.Score <= 1) {
			a.Reason = fmt.Sprintf("cannot be compared: a score of %v over %d samples", s.Score, s.N)
			return a
		}
	}
	a.scores(old, new)
	i := newcombe(old, new, z)
	a.Low, a.High, a.P = i.Low, i.High, newcombeP(old, new)
	a.decide()
	return a
}

func (a *Accuracy) scores(old, new Sample) {
	a.Old, a.OldSamples, a.OldInterval = old.Score, old.N, wilson(old.Score, old.N, z)
	a.New, a.NewSamples, a.NewInterval = new.Score, new.N, wilson(new.Score, new.N, z)
}

// HolmAccuracy corrects the p values, as Paired and Unpaired leave them, over
// the compared evals and sets the verdicts again. It returns a new slice.
func HolmAccuracy(all []Accuracy) []Accuracy {
	out := append([]Accuracy(nil), all...)
	var ps []*float64
	for i := range out {
		if out[i].compared() {
			ps = append(ps, &out[i].P)
		}
	}
	holm(ps)
	for i := range out {
		if out[i].compared() {
			out[i].decide()
		}
	}
	return out
}

func (a *Accuracy) decide() {
	lower, higher := "more questions lost than gained", "more questions gained than lost"
	if a.Samples == 0 {
		lower, higher = "the new score is lower, not paired", "the new score is higher, not paired"
	}
	switch changed := a.P < level; {
	case changed && a.New < a.Old:
		a.Verdict, a.Reason = Worse, lower
	case changed && a.New > a.Old:
		a.Verdict, a.Reason = Better, higher
	case a.Low > -margin && a.High < margin:
		a.Verdict, a.Reason = NoChange, "the interval lies inside 3 percentage points"
	default:
		a.Verdict, a.Reason = Inconclusive, "the interval reaches 3 percentage points"
	}
}

// mcnemar is the two-sided exact p value: twice the smaller binomial tail with
// chance 1/2 over the changed questions.
func mcnemar(lost, gained int) float64 {
	n := lost + gained
	if n == 0 {
		return 1
	}
	b := distuv.Binomial{N: float64(n), P: 0.5}
	return math.Min(1, 2*b.CDF(float64(min(lost, gained))))
}

// tango is the 95 % score interval of (up - down)/n for up and down changed
// outcomes of n pairs (T. Tango, Statistics in Medicine 17, 1998, 891-908).
func tango(up, down, n int) (low, high float64) {
	d := float64(up-down) / float64(n)
	solve := func(out, in float64, inside func(float64) bool) float64 {
		for range 100 {
			if m := (out + in) / 2; inside(m) {
				in = m
			} else {
				out = m
			}
		}
		return (out + in) / 2
	}
	low = solve(-1, d, func(x float64) bool { return score(up, down, n, x) <= z })
	high = solve(1, d, func(x float64) bool { return score(up, down, n, x) >= -z })
	return low, high
}

// score is Tango's statistic for a true difference x: positive when x is below
// the observed one.
func score(up, down, n int, x float64) float64 {
	b, c, m := float64(up), float64(down), float64(n)
	diff := b - c - m*x
	B := -b - c + (2*m-b+c)*x
	C := -c * x * (1 - x)
	q := (math.Sqrt(math.Max(0, B*B-8*m*C)) - B) / (4 * m) // chance of a pair going down, under x
	variance := m * (2*q + x*(1-x))
	if variance <= 0 {
		if diff == 0 {
			return 0
		}
		return math.Copysign(math.Inf(1), diff)
	}
	return diff / math.Sqrt(variance)
}
