package compare

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Metric names a compared figure.
type Metric string

// The compared metrics.
const (
	OutputTPS Metric = "output-tps-gpu"
	TotalTPS  Metric = "total-tps-gpu"
	TPOT      Metric = "tpot-ms"
	TTFT      Metric = "ttft-ms"
)

// HigherIsBetter says which side is good.
func (m Metric) HigherIsBetter() bool { return m == OutputTPS || m == TotalTPS }

const (
	threshold = 0.03  // a change below 3 % is no change
	oneSided  = 0.025 // level of worse and better, after Holm
	twoSided  = 0.975 // quantile of the 95 % interval
)

// Point is one point of a curve: one figure per old run and per new run.
type Point struct {
	Key   string
	Label string
	Conc  int
	Old   []float64
	New   []float64
}

// PointVerdict is the verdict on one point. Delta, Low and High are fractions:
// -0.02 is 2 % less. Low and High bound the 95 % interval; both are zero when
// the curve has no degrees of freedom or the point was not measured. P belongs
// to the side Delta is on, after Holm.
type PointVerdict struct {
	Key     string  `json:"key"`
	Label   string  `json:"label"`
	Conc    int     `json:"conc"`
	Verdict Verdict `json:"verdict"`
	Delta   float64 `json:"delta"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	P       float64 `json:"p"`
	Reason  string  `json:"reason"`

	// MoreRuns of the new image would settle an inconclusive point; 0 is
	// settled, unknown, or too many.
	MoreRuns int `json:"more-runs,omitempty"`
}

// Curve is the verdict on one metric over all points of a family.
type Curve struct {
	Metric    Metric         `json:"metric"`
	Judged    bool           `json:"judged"` // false: reported only
	Verdict   Verdict        `json:"verdict"`
	N         int            `json:"n"`  // old runs of the point that has fewest
	DF        int            `json:"df"` // degrees of freedom of S
	S         float64        `json:"s"`  // pooled standard deviation of the logarithms, about a fraction
	Threshold float64        `json:"threshold"`
	Points    []PointVerdict `json:"points"`
	Reason    string         `json:"reason"`
	MoreRuns  int            `json:"more-runs,omitempty"` // as of a point, for the curve
}

// Judge compares one metric over the points of a curve.
//
// Per point x = ln(mean of new / mean of old). The spread s of ln(old) around
// its mean is pooled over the points, with df = sum of (old runs - 1). The
// standard error of x is s*sqrt(1/n_old + 1/n_new), its distribution Student's
// t with df. The limits lie 3 % to the bad and to the good side. A point is
// worse when the one-sided test against the bad limit rejects at 0.025 after
// Holm over the points, better likewise on the good side, no change when its
// 95 % interval lies inside both limits, else inconclusive. The curve is worse
// when any point is, else inconclusive, else no change, else better.
func Judge(metric Metric, judged bool, points []Point) Curve {
	c := judge(metric, judged, points, 0)
	c.foresee(points)
	return c
}

// judge applies the rule as if every point had more further runs of the new
// image with the mean it has now.
func judge(metric Metric, judged bool, points []Point, more int) Curve {
	c := Curve{Metric: metric, Judged: judged, Threshold: threshold, Verdict: Inconclusive}
	usable := c.spread(points)
	t := student{distuv.StudentsT{Sigma: 1, Nu: float64(c.DF)}, 0}
	if c.DF > 0 {
		t.quantile = t.Quantile(twoSided)
	}
	tests := make([]test, len(points))
	var worse, better []*float64
	for i, p := range points {
		c.Points = append(c.Points, PointVerdict{Key: p.Key, Label: p.Label, Conc: p.Conc, Verdict: Inconclusive, P: 1, Reason: missing(p)})
		if !usable[i] {
			continue
		}
		c.Points[i].Delta = mean(p.New)/mean(p.Old) - 1
		if c.DF == 0 {
			c.Points[i].Reason = "no interval without a second old run"
			continue
		}
		tests[i] = c.test(p, len(p.New)+more, t)
		worse, better = append(worse, &tests[i].worse), append(better, &tests[i].better)
	}
	holm(worse)
	holm(better)
	var parts []Verdict
	for i := range c.Points {
		if usable[i] && c.DF > 0 {
			c.decide(&c.Points[i], tests[i])
		}
		parts = append(parts, c.Points[i].Verdict)
	}
	c.conclude(parts)
	return c
}

// spread sets N, DF and S and says which points were measured on both sides.
func (c *Curve) spread(points []Point) []bool {
	usable := make([]bool, len(points))
	var squares float64
	for i, p := range points {
		if missing(p) != "" {
			continue
		}
		usable[i] = true
		if c.N == 0 || len(p.Old) < c.N {
			c.N = len(p.Old)
		}
		c.DF += len(p.Old) - 1
		logs := make([]float64, len(p.Old))
		for j, v := range p.Old {
			logs[j] = math.Log(v)
		}
		m := mean(logs)
		for _, l := range logs {
			squares += (l - m) * (l - m)
		}
	}
	if c.DF > 0 {
		c.S = math.Sqrt(squares / float64(c.DF))
	}
	return usable
}

// test holds the interval of x and both one-sided p values.
type test struct {
	low, high     float64
	worse, better float64
}

// student is Student's t with its quantile at twoSided, which takes longer to
// find than everything else here.
type student struct {
	distuv.StudentsT
	quantile float64
}

func (c *Curve) test(p Point, newRuns int, t student) test {
	x := math.Log(mean(p.New) / mean(p.Old))
	se := c.S * math.Sqrt(1/float64(len(p.Old))+1/float64(newRuns))
	half := t.quantile * se
	below := tail(t, math.Log(1-threshold)-x, se) // small when x is surely below
	above := tail(t, x-math.Log(1+threshold), se)
	if c.Metric.HigherIsBetter() {
		return test{x - half, x + half, below, above}
	}
	return test{x - half, x + half, above, below}
}

// tail is the chance of a distance d beyond a limit when the truth lies on it.
// Without any spread it is certain.
func tail(t student, d, se float64) float64 {
	if se > 0 {
		return t.CDF(-d / se)
	}
	if d > 0 {
		return 0
	}
	return 1
}

func (c *Curve) decide(p *PointVerdict, t test) {
	p.Low, p.High = math.Expm1(t.low), math.Expm1(t.high)
	good := (p.Delta > 0) == c.Metric.HigherIsBetter()
	p.P = t.worse
	if good {
		p.P = t.better
	}
	switch {
	case t.worse <= oneSided:
		p.Verdict, p.Reason = Worse, "beyond the limit on the bad side"
	case t.better <= oneSided:
		p.Verdict, p.Reason = Better, "beyond the limit on the good side"
	case t.low > math.Log(1-threshold) && t.high < math.Log(1+threshold):
		p.Verdict, p.Reason = NoChange, "the interval lies inside the limits"
	default:
		p.Reason = "the interval reaches a limit"
	}
}

func (c *Curve) conclude(parts []Verdict) {
	count := func(v Verdict) int {
		n := 0
		for _, p := range parts {
			if p == v {
				n++
			}
		}
		return n
	}
	switch {
	case len(parts) == 0:
		c.Reason = "no points"
		return
	case c.DF == 0 && c.N == 0:
		c.Reason = "no point was measured on both sides"
		return
	case c.DF == 0:
		c.Reason = fmt.Sprintf("%s of the old image; its spread needs at least 2, %s missing", plural(c.N, "run"), plural(2-c.N, "run"))
		return
	}
	c.Verdict = whole(parts)
	c.Reason = fmt.Sprintf("%d of %s %s", count(c.Verdict), plural(len(parts), "point"), c.Verdict)
}

// missing says what a point lacks, or nothing.
func missing(p Point) string {
	switch {
	case len(p.Old) == 0:
		return "no usable old run"
	case len(p.New) == 0:
		return "no usable new run"
	case !positive(p.Old) || !positive(p.New):
		return "a figure is zero or not finite"
	}
	return ""
}

func positive(vs []float64) bool {
	return !slices.ContainsFunc(vs, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) })
}

func mean(vs []float64) float64 {
	var sum float64
	for _, v := range vs {
		sum += v
	}
	return sum / float64(len(vs))
}

// holm replaces p values by their step-down adjusted ones.
func holm(ps []*float64) {
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b *float64) int {
		switch {
		case *a < *b:
			return -1
		case *a > *b:
			return 1
		}
		return 0
	})
	var least float64
	for i, p := range ps {
		least = max(least, min(1, *p*float64(len(ps)-i)))
		*p = least
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
