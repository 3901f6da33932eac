package candidate

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/run"
)

// bySweepWork binds the sweep to the image and to every point and eval, not to
// the head: merging main keeps a measurement.
func bySweepWork(ctx context.Context, w *work) (string, error) {
	v, err := w.head(ctx)
	if err != nil {
		return "", err
	}
	return w.workSubject(v, matrix.Full(v.Points))
}

// sweepRests waits for a sweep that is under way, without taking the lease. The
// entry waits for it too: redoing that takes the label off and pushes, and
// either would cancel what is being measured.
func sweepRests(ctx context.Context, w *work) error {
	if err := isOwned(ctx, w); err != nil {
		return err
	}
	v, err := w.head(ctx)
	if err != nil {
		return err
	}
	runs, err := w.sweepRuns(ctx, v)
	if err == nil {
		err = unfinished(runs)
	}
	return err
}

// sweep checks the final matrix, puts the one sweep label on, and waits for
// the run that the label started.
func (w *work) sweep(ctx context.Context) (any, error) {
	v, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := w.sweepRuns(ctx, v)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, w.label(ctx, v)
	}
	if err := unfinished(runs); err != nil {
		return nil, err
	}
	want := matrix.Full(v.Points)
	run, p, err := w.firstProven(ctx, runs, want)
	if err != nil {
		return nil, err
	}
	if p.verdict.Answer != gate.Pass {
		if _, err := w.publishAttempt(ctx, attempt{kind: "final", run: run, want: want, proof: p, stands: report.SweepFailed}); err != nil {
			return nil, err
		}
		if err := w.measureAgain(ctx, p, len(runs)-1); err != nil {
			return nil, err
		}
		return nil, &End{Outcome: Failed, Phase: FinalSweep, Reason: fmt.Sprintf("sweep run %d: %s", run.ID, p.verdict.Reason)}
	}
	return Measured{run.ID, run.Attempt, run.HeadSHA, len(p.run.Rows), len(p.run.Evals), w.runURL(run.ID, run.Attempt)}, nil
}

// unfinished is the wait for a run that has not ended, nil when all have.
func unfinished(runs []forge.Run) error {
	for _, r := range runs {
		if r.Status != "completed" {
			return Waiting{progress("sweep", r)}
		}
	}
	return nil
}

// firstProven is the oldest run that every gate lets pass, else the newest.
func (w *work) firstProven(ctx context.Context, runs []forge.Run, want matrix.Selection) (forge.Run, proof, error) {
	var last proof
	for _, run := range runs {
		p, err := w.proven(ctx, run, want)
		if err != nil || p.verdict.Answer == gate.Pass {
			return run, p, err
		}
		last = p
	}
	return runs[len(runs)-1], last, nil
}

// sweepRuns are the sweeps of this work that did something, oldest first. They
// may be of earlier heads: what was measured stands while the work is the same.
func (w *work) sweepRuns(ctx context.Context, v treeView) ([]forge.Run, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := w.Forge.Runs(ctx, forge.RunFilter{
		Branch: w.c.Branch(w.prefix()), Event: "pull_request", Workflow: w.Config.Executor.Sweep, Since: p.Created,
	})
	if err != nil {
		return nil, fmt.Errorf("runs of %s: %w", w.Config.Executor.Sweep, err)
	}
	if runs, err = w.ofThisAttempt(ctx, runs); err != nil {
		return nil, err
	}
	var own []forge.Run
	w.lain = nil
	for _, r := range slices.Backward(runs) {
		if idle, err := w.idle(ctx, r); err != nil {
			return nil, err
		} else if idle {
			if r.HeadSHA == v.Commit {
				w.lain = &r
			}
			continue
		}
		same, err := w.sameWork(ctx, v, r.HeadSHA, matrix.Full)
		if err != nil {
			return nil, err
		}
		if same {
			own = append(own, r)
		}
	}
	return own, nil
}

// ofThisAttempt leaves out runs of an earlier attempt, which used a branch of
// the same name and may have ended in the second in which this one began.
func (w *work) ofThisAttempt(ctx context.Context, runs []forge.Run) ([]forge.Run, error) {
	if w.c.Attempt == 0 {
		return runs, nil
	}
	var own []forge.Run
	for _, r := range runs {
		message, err := w.Forge.Message(ctx, r.HeadSHA)
		if err != nil {
			return nil, fmt.Errorf("head of run %d: %w", r.ID, err)
		}
		if w.signed(message) {
			own = append(own, r)
		}
	}
	return own, nil
}

// sweepStarts is what a candidate waits for between its label and its sweep; more
// may stand behind it.
const sweepStarts = "the sweep run to start"

// label asks for the sweep: capacity, check-final, then the label, the sole
// one. With the label on, it was asked for before.
func (w *work) label(ctx context.Context, v treeView) error {
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	want := w.Config.Policy.SweepLabel
	for _, l := range p.Labels {
		if l != want && slices.Contains(run.SweepLabels(want), l) {
			return &End{Outcome: Handoff, Phase: FinalSweep, Reason: "somebody put the sweep label " + l + " on"}
		}
	}
	if slices.Contains(p.Labels, want) { // asked for; that the nodes are in use now may be its own doing
		return w.sweepToStart(p.Number)
	}
	if c := w.Capacity(ctx, v.Family.Entry.Runner); c.Answer != gate.Pass {
		return &End{Outcome: CapacityDeferred, Phase: FinalSweep, Reason: c.Reason}
	}
	if err := w.passesFinal(ctx, v); err != nil {
		return err
	}
	if err := w.awaken(ctx); err != nil {
		return err
	}
	if err := w.readyForSweep(ctx, p); err != nil {
		return err
	}
	if err := w.Forge.AddLabel(ctx, p.Number, want); err != nil {
		return fmt.Errorf("label %s: %w", want, err)
	}
	w.pull = nil
	return Waiting{sweepStarts}
}

// passesFinal ends the candidate when check-final says no. Main's changelog may
// have grown since the entry was looked at: then the entry is redone instead.
func (w *work) passesFinal(ctx context.Context, v treeView) error {
	final, err := w.checkFinal(ctx, v)
	if err != nil || final.Answer == gate.Pass {
		return err
	}
	now, err := byChangelog(ctx, w)
	if err != nil {
		return err
	}
	if now != w.receipts["enter"].Subject {
		return Waiting{"a fresh look: main's changelog has just grown"}
	}
	return &End{Outcome: Failed, Phase: FinalSweep, Reason: "check-final: " + final.Reason}
}

// checkFinal proves before the label that the sweep will measure what the
// candidate is: the changelog selects exactly this family, its plan is the
// canonical set of the head's own recipe, and the frozen baseline is covered.
// The head is data: only this program's generator runs.
func (w *work) checkFinal(ctx context.Context, v treeView) (gate.Verdict, error) {
	main, err := w.mainLog(ctx)
	if err != nil {
		return gate.Verdict{}, err
	}
	head, err := fs.ReadFile(v.FS, w.Paths.Changelog)
	if err != nil {
		return gate.Verdict{}, err
	}
	entries, err := recipe.Delta(main, head, w.Paths.Changelog)
	if err != nil {
		return fail("changelog", "%v", err), nil
	}
	catalogue, err := recipe.Load(v.FS, w.Paths.Masters, w.Paths.Runners)
	if err != nil {
		return gate.Verdict{}, err
	}
	rule, err := matrix.ParseEvalRule(w.Config.Evals.Lengths, w.Config.Evals.Floor)
	if err != nil {
		return gate.Verdict{}, err
	}
	plan, err := matrix.BuildPlan(catalogue, entries, rule)
	if err != nil {
		return fail("matrix", "%v", err), nil
	}
	if len(plan.Families) != 1 || plan.Families[0].Family.ID != w.c.Family {
		return fail("changelog", "the entry selects %s, want exactly %s", selected(plan), w.c.Key()), nil
	}
	rehearsed, err := evidence[Rehearsed](w, "rehearse")
	if err != nil {
		return gate.Verdict{}, err
	}
	return gate.All([]gate.Verdict{
		gate.FinalMatrix(matrix.Full(v.Points), plan.Families[0].Selection),
		gate.Roster(rehearsed.Baseline, v.Points),
	}), nil
}

func selected(p matrix.Plan) string {
	var keys []string
	for _, f := range p.Families {
		keys = append(keys, f.Family.Key)
	}
	return "[" + strings.Join(keys, " ") + "]"
}
