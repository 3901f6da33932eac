package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/refit-bench/refit/internal/compare"
)

// metricView is the verdict on one metric with everything it rests on.
type metricView struct {
	Name, Verdict, Tone           string
	Judged                        bool
	N, DF                         int
	Spread, Bounds, Limit, Reason string
	Chart                         template.HTML
	Points                        []pointView
}

// pointView is one point of it.
type pointView struct {
	Name, Old, New, Change, Interval, P, Verdict, Tone, Reason string
}

// metricViews are the metrics in the order of the comparison, judged ones first.
func metricViews(p BoardPage) []metricView {
	if p.Verdicts == nil {
		return nil
	}
	var judged, reported []metricView
	for _, c := range p.Verdicts.Curves {
		if len(c.Points) == 0 {
			continue
		}
		if v := metricViewOf(p, c); c.Judged {
			judged = append(judged, v)
		} else {
			reported = append(reported, v)
		}
	}
	return append(judged, reported...)
}

func metricViewOf(p BoardPage, c compare.Curve) metricView {
	names := pointNames(c.Points)
	v := metricView{
		Name: metricName(c.Metric), Verdict: verdictWord(c.Verdict), Tone: verdictTone(string(c.Verdict)), Judged: c.Judged,
		N: c.N, DF: c.DF, Spread: none, Bounds: none, Limit: "±" + number(hundred(c.Threshold)) + "%", Reason: spelled(c.Reason),
		Chart: template.HTML(intervalSVG(c, names)), // it escapes the names
	}
	if c.DF > 0 {
		v.Spread = fmt.Sprintf("%.2f%%", 100*c.S)
	}
	if low, high, ok := bounds(c.Points); ok {
		v.Bounds = finer(low) + " to " + finer(high)
	}
	before, after := map[string]float64{}, map[string]float64{}
	if m, ok := metricOf(string(c.Metric)); ok {
		before, after = means(p.Old, m), means(p.New, m)
	}
	for _, q := range c.Points {
		pv := pointView{Name: names[q.Key], Old: number(lookup(before, q.Key)), New: number(lookup(after, q.Key)),
			Change: none, Interval: none, P: none, Verdict: verdictWord(q.Verdict), Tone: verdictTone(string(q.Verdict)), Reason: spelled(q.Reason)}
		if measured(q) {
			pv.Change = finer(q.Delta)
		}
		if measured(q) && c.DF > 0 {
			pv.Interval, pv.P = finer(q.Low)+" to "+finer(q.High), probability(q.P)
		}
		v.Points = append(v.Points, pv)
	}
	return v
}

// pointNames are what drawings and tables call the points of a comparison.
func pointNames(ps []compare.PointVerdict) map[string]string {
	var named []Point
	for _, p := range ps {
		named = append(named, Point{Key: p.Key, Label: p.Label, Conc: p.Conc})
	}
	return namesOf(named)
}

// namesOf are short names by key: "c16" where that tells the points apart.
func namesOf(ps []Point) map[string]string {
	for i := range ps {
		ps[i].Values.LatencyStatistic = "mean"
	}
	l, names := layoutOf(ps), map[string]string{}
	for _, p := range ps {
		names[p.Key] = l.name(p)
	}
	return names
}

func hundred(f float64) *float64 {
	f *= 100
	return &f
}

// probability spells a p value.
func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// evalView is the paired verdict on one evaluation.
type evalView struct {
	Name, Verdict, Tone, Old, New, Change, Interval, P, Method, Reason string
	Paired                                                             bool
	OldWithin, NewWithin                                               string // 95 % intervals of the scores alone
	Samples, Lost, Gained                                              string
	Discordant                                                         []compare.Discordant
	More                                                               int // changed questions that are not listed
	Open                                                               bool
}

func evalViews(r *compare.Result) []evalView {
	if r == nil {
		return nil
	}
	var out []evalView
	for _, a := range r.Accuracy {
		v := evalView{Name: evalTitle(a), Verdict: verdictWord(a.Verdict), Tone: verdictTone(string(a.Verdict)), Method: a.Method, Reason: spelled(a.Reason),
			Old: none, New: none, Change: none, Interval: none, P: none, Samples: none, Lost: none, Gained: none}
		if compared(a) {
			delta := a.New - a.Old
			v.Old, v.New, v.Change = percent(&a.Old), percent(&a.New), points(delta)
			v.Interval, v.P = points(a.Low)+" to "+points(a.High), probability(a.P)
		}
		v.OldWithin, v.NewWithin = scoreInterval(a.OldInterval), scoreInterval(a.NewInterval)
		if compared(a) && a.Samples == 0 {
			v.Samples = count(a.OldSamples) + " and " + count(a.NewSamples)
		}
		if a.Samples > 0 {
			v.Paired, v.Samples, v.Lost, v.Gained = true, count(a.Samples), count(a.Lost), count(a.Gained)
			v.Discordant, v.More = a.Discordant, max(0, a.Lost+a.Gained-len(a.Discordant))
			v.Open = a.Verdict == compare.Worse
		}
		out = append(out, v)
	}
	return out
}

// compared says whether a comparison of scores has an interval.
func compared(a compare.Accuracy) bool { return a.Low < a.High }

func scoreInterval(i compare.Interval) string {
	if i.Low >= i.High {
		return ""
	}
	return percent(&i.Low) + " to " + percent(&i.High)
}

func evalTitle(a compare.Accuracy) string {
	suite := a.Suite
	if suite == "" {
		suite = "accuracy"
	}
	return fmt.Sprintf("%s · c%d", suite, a.Conc)
}

func warnings(r *compare.Result) []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.Warnings)
}
