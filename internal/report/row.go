package report

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/result"
)

// FromBaseline makes the record of a frozen baseline. Goal, status and author
// are the caller's.
func FromBaseline(b result.Baseline, goal, status Prose, by Author) Baseline {
	out := Baseline{Family: b.Family, Date: b.Date, Image: b.Image, Goal: goal, Status: status, PreparedBy: by,
		Sources: list(b.Sources)}
	for _, p := range b.Points {
		out.Points = append(out.Points, Point{
			Key: p.Key, Label: p.Label, Conc: p.Conc, Scenario: scenario("", p.Label),
			Values: values(p.Values, nil), Result: p.Result, Provenance: provenance(p.RunID, p.Head, p.Attempt),
		})
	}
	for _, e := range b.Evals {
		out.Evals = append(out.Evals, Evaluation{
			Key: e.Key, Suite: e.Suite, Metric: e.Metric, Label: e.Label, Score: e.Score, Samples: e.Samples,
			Result: e.Result, Provenance: provenance(e.RunID, e.Head, e.Attempt),
		})
	}
	concs := make([]int, len(b.Evals))
	for i, e := range b.Evals {
		concs[i] = e.Conc
	}
	shorten(out.Evals, concs)
	return out
}

// FromRows makes the points and evaluations of an attempt out of its rows, in
// their order.
func FromRows(rows []result.Row, evals []result.EvalRow) ([]Point, []Evaluation) {
	var ps []Point
	for _, r := range rows {
		ps = append(ps, Point{
			Key: r.Key, Label: r.Label, Conc: r.Conc, Scenario: scenario(r.Scenario, r.Label),
			Values: values(r.Values(), r.RequestErrors), Result: r.Result,
			Provenance: provenance(r.Provenance.RunID, r.Provenance.Head, r.Provenance.Attempt),
		})
	}
	var es []Evaluation
	concs := make([]int, len(evals))
	for i, e := range evals {
		concs[i] = e.Conc
		v := Evaluation{
			Key: e.Key, Suite: e.Suite, Metric: e.Metric, Label: e.Label, Score: e.Score, Result: evalResult(e.Result),
			Provenance: provenance(e.Provenance.RunID, e.Provenance.Head, e.Provenance.Attempt),
		}
		if e.Samples > 0 {
			n := e.Samples
			v.Samples = &n
		}
		es = append(es, v)
	}
	shorten(es, concs)
	return ps, es
}

// evalResult maps a row's result to the three that an evaluation has.
func evalResult(s string) string {
	switch s {
	case result.Passed, result.Failed:
		return s
	}
	return result.Unavailable
}

func values(v result.Values, errors *int) Values {
	return Values{TotalTPSGPU: v.TotalTPSGPU, OutputTPSGPU: v.OutputTPSGPU, TTFTms: v.TTFTms, TPOTms: v.TPOTms,
		LatencyStatistic: "mean", RequestErrors: errors}
}

func scenario(s, label string) string {
	switch {
	case s != "":
		return s
	case strings.HasPrefix(label, "AgentX "):
		return "agentic-coding"
	}
	return "fixed-seq-len"
}

func provenance(run int64, head string, attempt int) Provenance {
	var p Provenance
	if run > 0 {
		p.RunID = &run
	}
	if head != "" {
		p.Head = &head
	}
	if attempt > 0 {
		p.RunAttempt = &attempt
	}
	return p
}

// shorten labels evaluations by concurrency alone, when that tells those of
// one suite and metric apart.
func shorten(es []Evaluation, concs []int) {
	seen := map[string]bool{}
	for i, e := range es {
		k := fmt.Sprintf("%s/%s/%d", e.Suite, e.Metric, concs[i])
		if concs[i] <= 0 || seen[k] {
			return
		}
		seen[k] = true
	}
	for i := range es {
		es[i].Label = fmt.Sprintf("c%d", concs[i])
	}
}
