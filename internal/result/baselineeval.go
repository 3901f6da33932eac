package result

import (
	"fmt"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result/api"
)

// The eval that is expected where a feed does not say which was run.
const (
	DefaultSuite = "gsm8k"
	StrictMetric = "em_strict"
)

// BaselineEval is the published score of a marked point; Result is Passed or
// Unavailable.
type BaselineEval struct {
	Key     string   `json:"key"`
	Label   string   `json:"label"`
	Conc    int      `json:"conc"`
	Suite   string   `json:"suite"`
	Metric  string   `json:"metric"`
	Score   *float64 `json:"score"`
	Samples *int     `json:"samples"`
	Result  string   `json:"result"`
	RunID   int64    `json:"run-id"`
	Head    string   `json:"head"`
	Attempt int      `json:"run-attempt"`
}

// addEvals finds the scores of a marked point: same configuration, concurrency
// and date, from a run that gave points of this baseline.
func (b *builder) addEvals(p matrix.Point, rows []api.EvaluationRow, taken map[string]string) error {
	as, err := PublishedAs(p.Row)
	if err != nil {
		return err
	}
	base := BaselineEval{Key: p.Key, Label: p.Label(), Conc: as.Conc, Suite: DefaultSuite, Metric: StrictMetric, Result: Unavailable}
	tasks := map[string]bool{}
	for _, row := range rows {
		run, _, _ := api.ParseRunURL(deref(row.RunURL))
		date, ours := b.dates[run]
		if !ours || date != row.Date || !b.matchesEval(as, p, row) {
			continue
		}
		id := fmt.Sprint(row.ID)
		if tasks[row.Task] {
			return fmt.Errorf("ambiguous: two published scores of %s", row.Task)
		}
		if other := taken[id]; other != "" {
			return fmt.Errorf("ambiguous: published score %s also fits %s", id, other)
		}
		tasks[row.Task], taken[id] = true, p.Label()
		out := base
		out.Suite = row.Task
		if out.RunID, out.Attempt, out.Head, err = b.producer(row.RunURL); err != nil {
			return err
		}
		out.Attempt = b.attemptOf(run)
		out.fill(row.Metrics)
		b.Evals = append(b.Evals, out)
	}
	if len(tasks) == 0 {
		b.Evals = append(b.Evals, base)
	}
	return nil
}

// matchesEval compares what an evaluation row says about itself; the public
// shape says nothing of workload, image and fingerprint.
func (b *builder) matchesEval(as Published, p matrix.Point, row api.EvaluationRow) bool {
	if row.PointKey != "" && (row.PointKey != p.Key || row.Family != p.Family) {
		return false
	}
	if fp := deref(row.RecipeFingerprint); fp != "" && fp != p.Fingerprint {
		return false
	}
	if named := deref(row.Image); named != "" && !image.Same(named, b.Image) {
		return false
	}
	if row.ISL != nil && !equal(row.ISL, as.ISL) || row.OSL != nil && !equal(row.OSL, as.OSL) {
		return false
	}
	return row.Conc != nil && *row.Conc == as.Conc && row.Fits(as.Config)
}

// attemptOf is the attempt of the run's points: run urls of evals do not say.
func (b *builder) attemptOf(run int64) int {
	for _, p := range b.Points {
		if p.RunID == run {
			return p.Attempt
		}
	}
	return 0
}

// fill takes the strict score, else the plain one.
func (e *BaselineEval) fill(metrics map[string]float64) {
	score, ok := metrics[StrictMetric]
	if !ok {
		if score, ok = metrics["score"]; ok {
			e.Metric = "score"
		}
	}
	if !ok || !finite(score) || score < 0 || score > 1 {
		return
	}
	e.Score, e.Result = &score, Passed
	if n, ok := metrics["n_eff"]; ok && n > 0 {
		samples := int(n)
		e.Samples = &samples
	}
}
