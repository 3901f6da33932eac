package report

import "github.com/refit-bench/refit/internal/compare"

// Reasons why a delta is not shown, as published layouts spell them.
const (
	noBaseline     = "Δ N/A: no matched baseline"
	noPoint        = "Δ N/A: point unavailable"
	mismatch       = "Δ N/A: dataset/scenario/statistic mismatch"
	noValue        = "Δ N/A where baseline is missing or zero"
	noEvalBaseline = "Δ N/A: no matched eval baseline"
	noEval         = "Δ N/A: eval unavailable"
	noScore        = "Δ N/A: eval score unavailable"
	otherSamples   = "Δ N/A: sample counts missing or different"
)

// metric is a column of a table of points.
type metric struct {
	head string
	of   func(Values) *float64
	name compare.Metric
}

func baselineMetrics() []metric {
	return append([]metric{{"Total tok/s/GPU ↑", func(v Values) *float64 { return v.TotalTPSGPU }, compare.TotalTPS}}, attemptMetrics()...)
}

func attemptMetrics() []metric {
	return []metric{
		{"Output tok/s/GPU ↑", func(v Values) *float64 { return v.OutputTPSGPU }, compare.OutputTPS},
		{"TTFT ms ↓", func(v Values) *float64 { return v.TTFTms }, compare.TTFT},
		{"TPOT ms ↓", func(v Values) *float64 { return v.TPOTms }, compare.TPOT},
	}
}

// match finds the baseline's point of the same key, or nil.
func (b Baseline) match(p Point) *Point {
	for i := range b.Points {
		if b.Points[i].Key == p.Key {
			return &b.Points[i]
		}
	}
	return nil
}

// matchEval finds the baseline's evaluation of the same key, suite and metric, or nil.
func (b Baseline) matchEval(e Evaluation) *Evaluation {
	for i := range b.Evals {
		o := &b.Evals[i]
		if o.Key == e.Key && o.Suite == e.Suite && o.Metric == e.Metric {
			return o
		}
	}
	return nil
}

// incomparable says why two points may not be compared; "" when they may.
func incomparable(old *Point, new Point) string {
	switch {
	case old == nil:
		return noBaseline
	case old.Result != "passed" || new.Result != "passed":
		return noPoint
	case old.Scenario != new.Scenario || old.Values.LatencyStatistic != new.Values.LatencyStatistic:
		return mismatch
	case new.Scenario == "agentic-coding" && (old.Dataset == nil || new.Dataset == nil || *old.Dataset != *new.Dataset):
		return mismatch
	}
	return ""
}

// incomparableEval says why two scores may not be compared; "" when they may.
func incomparableEval(old *Evaluation, new Evaluation) string {
	switch {
	case old == nil:
		return noEvalBaseline
	case old.Result != "passed" || new.Result != "passed":
		return noEval
	case old.Score == nil || new.Score == nil:
		return noScore
	case old.Samples == nil || new.Samples == nil || *old.Samples != *new.Samples:
		return otherSamples
	}
	return ""
}

// cell is a new value with its delta behind it. The second result says that
// only the baseline's value was lacking.
func cell(m metric, old *Point, new Point, mark string) (string, bool) {
	v := m.of(new.Values)
	if v == nil {
		return none, false
	}
	if incomparable(old, new) != "" {
		return number(v) + " (" + none + ")", false
	}
	delta, ok := change(m.of(old.Values), v)
	return number(v) + " (" + delta + ")" + mark, !ok
}

// evalCell is a new score with its delta in percentage points behind it.
func evalCell(old *Evaluation, new Evaluation, mark string) string {
	if new.Score == nil {
		return none
	}
	if incomparableEval(old, new) != "" {
		return percent(new.Score) + " (" + none + ")"
	}
	return percent(new.Score) + " (" + points(*new.Score-*old.Score) + ")" + mark
}

// evalSamples is the cell of the sample counts behind a score.
func evalSamples(old *Evaluation, new Evaluation) string {
	if old == nil {
		return samples(new.Samples, nil)
	}
	return samples(new.Samples, old.Samples)
}
