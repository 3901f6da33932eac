package candidate

import (
	"context"
	"fmt"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// Measured is what a finished run leaves behind.
type Measured struct {
	RunID   int64  `json:"run-id"`
	Attempt int    `json:"run-attempt"`
	Head    string `json:"head"`
	Points  int    `json:"points"`
	Evals   int    `json:"evals"`
	URL     string `json:"url"`
}

func (m Measured) String() string {
	return fmt.Sprintf("run %d: %d points, %d evals", m.RunID, m.Points, m.Evals)
}

// bySmokeWork binds the smoke to the image, the selected points and the bytes
// that the family depends on at the head: not to the head itself.
func bySmokeWork(ctx context.Context, w *work) (string, error) {
	v, err := w.head(ctx)
	if err != nil {
		return "", err
	}
	return w.workSubject(v, matrix.Smoke(v.Points))
}

func (w *work) workSubject(v treeView, s matrix.Selection) (string, error) {
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return "", err
	}
	files, err := digestOf(v.FS, w.depends(v)...)
	if err != nil {
		return "", err
	}
	return workspace.Identity([]any{r.NewDigest, workKey(s), files}), nil
}

// sameWork says whether a run of another head of this branch measured the same:
// equal image, points and bytes of every file that the family depends on.
func (w *work) sameWork(ctx context.Context, v treeView, other string, choose func([]matrix.Point) matrix.Selection) (bool, error) {
	if other == v.Commit {
		return true, nil
	}
	o, err := w.view(ctx, other)
	if err != nil {
		return false, err
	}
	here, err := w.workSubject(v, choose(v.Points))
	if err != nil {
		return false, err
	}
	there, err := w.workSubject(o, choose(o.Points))
	return here == there, err
}

// head is the tree at the pull request's head.
func (w *work) head(ctx context.Context) (treeView, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return treeView{}, err
	}
	return w.view(ctx, p.HeadSHA)
}

// infrastructureRetries is how many smoke runs of one head may be dispatched
// again after a failure that is not the image's.
const infrastructureRetries = 2

// smokeRests waits for a smoke run that is under way, without taking the
// lease: an idle advance only looks.
func smokeRests(ctx context.Context, w *work) error {
	if err := isOwned(ctx, w); err != nil {
		return err
	}
	v, err := w.head(ctx)
	if err != nil {
		return err
	}
	runs, err := w.targeted(ctx, v)
	if err == nil && len(runs) > 0 && runs[0].Status != "completed" {
		return Waiting{progress("smoke", runs[0])}
	}
	return err
}

// smoke dispatches the targeted run of this head, or finds the one that was
// dispatched before, and waits for it.
func (w *work) smoke(ctx context.Context) (any, error) {
	v, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := w.targeted(ctx, v)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, w.dispatchSmoke(ctx, v, 0)
	}
	run := runs[0]
	if run.Status != "completed" {
		return nil, Waiting{progress("smoke", run)}
	}
	if run.Conclusion == "cancelled" && len(runs) <= infrastructureRetries {
		return nil, w.dispatchSmoke(ctx, v, len(runs))
	}
	return w.readSmoke(ctx, v, run, len(runs)-1)
}

// targeted are the candidate's own dispatched runs of this work, newest first.
func (w *work) targeted(ctx context.Context, v treeView) ([]forge.Run, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	all, err := w.dispatched(ctx, p)
	if err != nil {
		return nil, err
	}
	var own []forge.Run
	for _, r := range all {
		same, err := w.sameWork(ctx, v, r.HeadSHA, matrix.Smoke)
		if err != nil {
			return nil, err
		}
		if same {
			own = append(own, r)
		}
	}
	return own, nil
}

func progress(what string, run forge.Run) string {
	return fmt.Sprintf("%s run %d (%s)", what, run.ID, run.Status)
}

// readSmoke verifies a finished smoke run and publishes its report.
func (w *work) readSmoke(ctx context.Context, v treeView, run forge.Run, retries int) (any, error) {
	want := matrix.Smoke(v.Points)
	p, err := w.proven(ctx, run, want)
	if err != nil {
		return nil, err
	}
	kind, next := "initial", report.SmokePassed
	if retries > 0 {
		kind = "infrastructure-retry"
	}
	if p.verdict.Answer != gate.Pass {
		next = report.SmokeFailed
	}
	url, err := w.publishAttempt(ctx, attempt{kind: kind, number: retries, run: run, want: want, proof: p, stands: next})
	if err != nil {
		return nil, err
	}
	if p.onlyUnhealthy() && retries < infrastructureRetries { // it says nothing about the image
		return nil, w.dispatchSmoke(ctx, v, retries+1)
	}
	if p.verdict.Answer != gate.Pass {
		return nil, &End{Outcome: Uncertain, Phase: Targeted, Reason: fmt.Sprintf("smoke run %d: %s", run.ID, p.verdict.Reason)}
	}
	return Measured{run.ID, run.Attempt, run.HeadSHA, len(p.run.Rows), len(p.run.Evals), url}, nil
}
