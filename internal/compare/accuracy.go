package compare

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/refit-bench/refit/internal/eval"
)

const (
	level  = 0.05 // of McNemar's test, two-sided, after Holm over the evals
	margin = 0.03 // 3 percentage points
	// z is the 0.975 quantile of the normal distribution.
	z      = 1.959963984540054
	method = "McNemar exact, Holm over evals; Tango score interval"
)

// Accuracy is the paired verdict on one eval: the same questions answered by
// the old and by the new image. Lost were right and are wrong now, Gained the
// other way round. P is two-sided, after Holm. Low and High bound the 95 %
// interval of new minus old, as a fraction (0.01 is one percentage point).
// Samples 0 means that nothing could be paired; Reason says why.
type Accuracy struct {
	Key     string  `json:"key"`
	Label   string  `json:"label"`
	Conc    int     `json:"conc"`
	Suite   string  `json:"suite"`
	Verdict Verdict `json:"verdict"`
	Old     float64 `json:"old"`
	New     float64 `json:"new"`
	Samples int     `json:"samples"`
	Lost    int     `json:"lost"`
	Gained  int     `json:"gained"`
	P       float64 `json:"p"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Method  string  `json:"method"`
	Reason  string  `json:"reason"`

	// Discordant are the questions whose outcome changed, at most 50: the lost
	// ones first, each part by question.
	Discordant []Discordant `json:"discordant,omitempty"`
}

// Paired compares two sets of answers to the same questions. Only the
// questions whose outcome changed carry information on the test: it is exact
// and binomial over them (McNemar). The interval is Tango's score interval for
// a difference of paired proportions, which stays honest without any changed
// question: then it is +-z^2/(n+z^2). Different questions cannot be paired.
func Paired(old, new []eval.Answer) Accuracy {
	a := Accuracy{Verdict: Inconclusive, P: 1, Method: method}
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
	a.Old, a.New = float64(rightBefore)/float64(len(new)), float64(right)/float64(len(new))
	a.P = mcnemar(a.Lost, a.Gained)
	a.Low, a.High = tango(a.Gained, a.Lost, a.Samples)
	a.decide()
	return a
}

// HolmAccuracy corrects the p values, as Paired leaves them, over the paired
// evals and sets the verdicts again. It returns a new slice.
func HolmAccuracy(all []Accuracy) []Accuracy {
	out := append([]Accuracy(nil), all...)
	var ps []*float64
	for i := range out {
		if out[i].Samples > 0 {
			ps = append(ps, &out[i].P)
		}
	}
	holm(ps)
	for i := range out {
		if out[i].Samples > 0 {
			out[i].decide()
		}
	}
	return out
}

func (a *Accuracy) decide() {
	changed := a.P < level
	switch {
	case changed && a.Lost > a.Gained:
		a.Verdict, a.Reason = Worse, "more questions lost than gained"
	case changed && a.Gained > a.Lost:
		a.Verdict, a.Reason = Better, "more questions gained than lost"
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
