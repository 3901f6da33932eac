// Package compare pairs old and new measurements and says what changed, with
// the uncertainty of saying it. It does not render and it decides nothing.
package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/result"
)

// Verdict is what the numbers say about old and new.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	NoChange     Verdict = "no-change"
	Inconclusive Verdict = "inconclusive"
)

// order is how verdicts of parts make the verdict of the whole: the first
// that occurs wins.
var order = [...]Verdict{Worse, Inconclusive, NoChange, Better}

// whole is the verdict over parts; nothing compared is inconclusive.
func whole(parts []Verdict) Verdict {
	for _, v := range order {
		for _, p := range parts {
			if p == v {
				return v
			}
		}
	}
	return Inconclusive
}

// Result holds all verdicts of a family.
type Result struct {
	Curves   []Curve    `json:"curves"`
	Accuracy []Accuracy `json:"accuracy"`
	Warnings []string   `json:"warnings,omitempty"`
}

// The dimensions that Overall knows.
const (
	DimThroughput = "throughput"
	DimTPOT       = "tpot"
	DimTTFT       = "ttft"
	DimAccuracy   = "accuracy"
)

var curves = [...]struct {
	metric    Metric
	judged    bool
	dimension string
	value     func(result.Values) *float64
}{
	{OutputTPS, true, DimThroughput, func(v result.Values) *float64 { return v.OutputTPSGPU }},
	{TotalTPS, false, "", func(v result.Values) *float64 { return v.TotalTPSGPU }},
	{TPOT, true, DimTPOT, func(v result.Values) *float64 { return v.TPOTms }},
	{TTFT, false, DimTTFT, func(v result.Values) *float64 { return v.TTFTms }},
}

// Compare pairs rows by key; each element of old and new is one run, oldest
// first, all of one family. Only healthy passed rows count, and inside a side
// only those with the digest and fingerprint of its newest row of the point;
// what is left out is a warning. Output throughput and TPOT are judged, total
// throughput and TTFT are reported. Evals are paired answer by answer, or
// score by score where a side has no answers, the newest of each side.
func Compare(old, new [][]result.Row, oldEvals, newEvals []result.EvalRow) Result {
	var r Result
	before, after := gather("old", old, &r.Warnings), gather("new", new, &r.Warnings)
	for _, c := range curves {
		r.Curves = append(r.Curves, Judge(c.metric, c.judged, pair(before, after, c.value)))
	}
	r.Accuracy = pairEvals(oldEvals, newEvals)
	return r
}

// Overall is the verdict on a dimension: "throughput" (output tokens), "tpot",
// "ttft" or "accuracy". A dimension that was not compared is inconclusive.
func (r Result) Overall(name string) Verdict {
	if name == DimAccuracy {
		var parts []Verdict
		for _, a := range r.Accuracy {
			parts = append(parts, a.Verdict)
		}
		return whole(parts)
	}
	for _, c := range curves {
		if c.dimension != name {
			continue
		}
		for _, got := range r.Curves {
			if got.Metric == c.metric {
				return got.Verdict
			}
		}
	}
	return Inconclusive
}

// Compared says why nothing was compared: no point has usable rows on both
// sides, and no eval either. It is nil when there is anything.
func (r Result) Compared() error {
	reasons := map[string][]string{}
	for _, c := range r.Curves {
		if c.N > 0 {
			return nil
		}
		for _, p := range c.Points {
			if !slices.Contains(reasons[p.Reason], p.Name()) {
				reasons[p.Reason] = append(reasons[p.Reason], p.Name())
			}
		}
	}
	for _, a := range r.Accuracy {
		if a.compared() {
			return nil
		}
	}
	text := []string{"no common point"}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		text = append(text, why+": "+strings.Join(reasons[why], ", "))
	}
	return errors.New(strings.Join(append(text, r.Warnings...), "; "))
}

// side holds the usable rows of one side by point, in order of first sight.
type side struct {
	keys []string
	rows map[string][]result.Row
}

// gather drops rows that cannot be compared and says so.
func gather(name string, runs [][]result.Row, warnings *[]string) side {
	s := side{rows: map[string][]result.Row{}}
	dropped := map[string]int{}
	doubtful := 0
	for _, run := range runs {
		for _, row := range run {
			if _, ok := s.rows[row.Key]; !ok {
				s.keys = append(s.keys, row.Key)
				s.rows[row.Key] = nil
			}
			if why := unusable(row); why != "" {
				dropped[why]++
				continue
			}
			if row.Health.Verdict == bench.Suspect {
				doubtful++
			}
			s.rows[row.Key] = append(s.rows[row.Key], row)
		}
	}
	if doubtful > 0 {
		*warnings = append(*warnings, fmt.Sprintf("%s side: %d rows of a suspect client: their means stand, their tails are partly its own", name, doubtful))
	}
	for key, rows := range s.rows {
		kept := alike(rows)
		if n := len(rows) - len(kept); n > 0 {
			dropped["another image or fingerprint than the newest"] += n
		}
		s.rows[key] = kept
	}
	for _, why := range sorted(dropped) {
		*warnings = append(*warnings, fmt.Sprintf("%s side: %d rows not used: %s", name, dropped[why], why))
	}
	return s
}

func pairEvals(old, new []result.EvalRow) []Accuracy {
	before, after := newestEvals(old), newestEvals(new)
	var out []Accuracy
	for _, key := range before.keys {
		o := before.rows[key]
		n, ok := after.rows[key]
		if !ok {
			out = append(out, undecided(o, "the new side has no passed run of this eval"))
			continue
		}
		out = append(out, pairEval(o, n))
	}
	for _, key := range after.keys {
		if _, ok := before.rows[key]; !ok {
			out = append(out, undecided(after.rows[key], "the old side has no passed run of this eval"))
		}
	}
	return HolmAccuracy(out)
}

// pairEval pairs the answers; where a side has only a score, the scores are
// compared as such.
func pairEval(o, n result.EvalRow) Accuracy {
	var a Accuracy
	switch {
	case len(o.Answers) > 0 && len(n.Answers) > 0:
		a = Paired(o.Answers, n.Answers)
	case o.Score == nil || n.Score == nil || o.Samples == 0 || n.Samples == 0:
		return undecided(n, "a side has neither answers nor a score with its number of samples")
	default:
		a = Unpaired(Sample{*o.Score, o.Samples}, Sample{*n.Score, n.Samples})
	}
	a.Key, a.Label, a.Conc, a.Suite = n.Key, n.Label, n.Conc, n.Suite
	return a
}

func undecided(e result.EvalRow, why string) Accuracy {
	return Accuracy{Key: e.Key, Label: e.Label, Conc: e.Conc, Suite: e.Suite, Verdict: Inconclusive, P: 1, Method: methodPaired, Reason: why}
}

// ByRun groups rows by the run and attempt that made them, in order of first
// sight: rows of a store, oldest first, become the sides that Compare takes.
func ByRun(rows []result.Row) [][]result.Row {
	index := map[[2]int64]int{}
	var runs [][]result.Row
	for _, row := range rows {
		id := [2]int64{row.Provenance.RunID, int64(row.Provenance.Attempt)}
		i, ok := index[id]
		if !ok {
			i = len(runs)
			index[id] = i
			runs = append(runs, nil)
		}
		runs[i] = append(runs[i], row)
	}
	return runs
}
