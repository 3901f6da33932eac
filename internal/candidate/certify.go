package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// Certified is what certify leaves behind: the verdicts and the gates.
type Certified struct {
	RunID    int64             `json:"run-id"`
	Attempt  int               `json:"run-attempt"`
	Head     string            `json:"head"`
	Rounds   int               `json:"rounds"`            // further sweeps beyond the first
	Sweeps   int               `json:"sweeps"`            // that stand behind the verdicts
	Origins  []report.Origin   `json:"origins,omitempty"` // of the shown figures, when several attempts of the run measured them
	Verdicts map[string]string `json:"verdicts"`          // throughput, tpot, accuracy; ttft is reported only
	Gates    []gate.Verdict    `json:"gates"`
	Result   compare.Result    `json:"result"`
	URL      string            `json:"url"`
}

func (c Certified) String() string {
	return fmt.Sprintf("throughput %s, tpot %s, accuracy %s", c.Verdicts["throughput"], c.Verdicts["tpot"], c.Verdicts["accuracy"])
}

// dimensions are what a candidate is judged and reported on.
var dimensions = []string{"throughput", "tpot", "ttft", "accuracy"}

// Dimensions names them, in the order they are shown.
func Dimensions() []string { return slices.Clone(dimensions) }

func bySweepRun(_ context.Context, w *work) (string, error) {
	m, err := evidence[Measured](w, "sweep")
	if err != nil {
		return "", err
	}
	return workspace.Identity([]any{m.RunID, m.Attempt, w.receipts["sweep"].Subject}), nil
}

// certify verifies the sweep's artifacts, compares them with the published
// history of the old image, asks the gates and publishes the final report.
func (w *work) certify(ctx context.Context) (any, error) {
	v, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	c, a, err := w.judge(ctx, v)
	if err != nil {
		return nil, err
	}
	verdict := gate.All(c.Gates)
	if verdict.Answer == gate.Pass {
		if err := w.furtherRound(ctx, c); err != nil {
			return nil, err
		}
	}
	required := gate.Policy(w.Config.Policy.Require, c.Result)
	switch {
	case verdict.Answer == gate.Pass:
		a.stands = report.Validated
	case required.Answer == gate.Fail:
		a.stands = report.Regressed
	default:
		a.stands = report.Uncertain
	}
	if c.URL, err = w.publishAttempt(ctx, a); err != nil {
		return nil, err
	}
	switch a.stands {
	case report.Validated:
		return c, nil
	case report.Regressed:
		subject := w.receipts["sweep"].Subject
		if w.receipts["verdict"].Subject != subject {
			if err := w.keep(ctx, "verdict", subject, c); err != nil {
				return nil, err
			}
		}
		return nil, &End{Outcome: Regressed, Phase: FinalSweep, Reason: required.Reason}
	default:
		return nil, &End{Outcome: Uncertain, Phase: FinalSweep, Reason: verdict.Reason}
	}
}

// judge derives everything from the artifacts and the history, again: those of
// the sweep, and those of every further round.
func (w *work) judge(ctx context.Context, v treeView) (Certified, attempt, error) {
	runs, err := w.sweepRuns(ctx, v)
	if err != nil {
		return Certified{}, attempt{}, err
	}
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return Certified{}, attempt{}, err
	}
	rows, evals, err := w.History(ctx, w.c.Family, r.OldDigest)
	if err != nil {
		return Certified{}, attempt{}, fmt.Errorf("history of the old image: %w", err)
	}
	frozen, err := evidence[Rehearsed](w, "rehearse")
	if err != nil {
		return Certified{}, attempt{}, err
	}
	a := attempt{kind: "final", want: matrix.Full(v.Points)}
	var measured [][]result.Row
	var answers []result.EvalRow
	for i, run := range runs { // oldest first: the report shows the newest that is proven
		if run.Status != "completed" {
			return Certified{}, attempt{}, Waiting{progress("further sweep", run)}
		}
		p, err := w.proven(ctx, run, a.want)
		if err != nil {
			return Certified{}, attempt{}, err
		}
		if p.verdict.Answer != gate.Pass && (len(measured) > 0 || i < len(runs)-1) {
			continue // a run that failed takes nothing from those that did not
		}
		a.run, a.proof = run, p
		measured = append(measured, p.run.Rows)
		answers = append(answers, p.run.Evals...)
	}
	if len(measured) == 0 {
		return Certified{}, attempt{}, errors.New("the sweep's run is gone from the forge")
	}
	res := compare.Compare(compare.ByRun(rows), measured, evals, answers)
	a.verdicts = &res
	c := Certified{RunID: a.run.ID, Attempt: a.run.Attempt, Head: a.run.HeadSHA, Rounds: len(runs) - 1, Sweeps: len(measured), Origins: report.OriginsOf(a.proof.run), Verdicts: map[string]string{}, Result: res}
	for _, d := range dimensions {
		c.Verdicts[d] = string(res.Overall(d))
	}
	c.Gates = append(slices.Clone(a.proof.gates), gate.Roster(frozen.Baseline, v.Points), w.tagHolds(ctx, r), gate.Policy(w.Config.Policy.Require, res))
	return c, a, nil
}

// tagHolds says whether the tag in the recipe still is the digest that was measured.
func (w *work) tagHolds(ctx context.Context, r Resolved) gate.Verdict {
	img, err := w.digest(ctx, r.NewImage)
	if err != nil {
		return gate.Verdict{Gate: "tag", Answer: gate.Unknown, Reason: err.Error()}
	}
	if img.Digest != r.NewDigest {
		return fail("tag", "%s is now %s, measured was %s", r.NewImage, img.Digest, r.NewDigest)
	}
	return pass("tag", "%s still is %s", r.NewImage, r.NewDigest)
}
