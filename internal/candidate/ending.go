package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/run"
)

// finishWith ends a candidate that cannot be validated. Before propose there is
// nothing to clean; after it the Ending list is walked. A handoff touches nothing.
func (w *work) finishWith(ctx context.Context, step Step, end *End) (Status, error) {
	if end.Phase == Unknown {
		end.Phase = step.Phase
	}
	if end.Outcome == Handoff || w.dry {
		return w.status(ctx, step.Name, Done, "", end)
	}
	if !w.claimed {
		return w.abandon(ctx, step, end)
	}
	return w.walkEnding(ctx, end)
}

// walkEnding walks Ending from the top. What is done already is found done,
// and what a person has taken over meanwhile is left as it is.
func (w *work) walkEnding(ctx context.Context, end *End) (Status, error) {
	for _, step := range Ending {
		err := w.mayEnd(ctx)
		if err == nil {
			err = w.takeLease(ctx)
		}
		if err == nil {
			err = w.twice(ctx, func() error { return step.Act(w, ctx, end) })
		}
		var wait Waiting
		var handoff *End
		if errors.As(err, &wait) {
			w.tell(step.Name, "waiting", wait.For)
			return w.status(ctx, step.Name, Waits, wait.For, nil)
		}
		if errors.As(err, &handoff) {
			w.tell(step.Name, "end", handoff.Error())
			return w.status(ctx, step.Name, Done, "", handoff)
		}
		if err != nil {
			return Status{}, fmt.Errorf("candidate %s: %s: %w", w.c.ID, step.Name, err)
		}
	}
	return w.status(ctx, "receipt", Done, "", end)
}

// pendingEnd is the end that an earlier Advance announced and did not finish.
func (w *work) pendingEnd() (*End, bool) {
	end, err := evidence[End](w, "cleanup")
	return &end, err == nil
}

// announce records the decision first, so that a crash cannot lose it, and
// publishes "cleanup pending" bound to the head.
func (w *work) announce(ctx context.Context, end *End) error {
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	if _, ok := w.pendingEnd(); !ok {
		if err := w.keep(ctx, "cleanup", p.HeadSHA, *end); err != nil {
			return err
		}
	}
	branch := "deleted"
	if w.keepsBranch(end.Outcome) {
		branch = "kept"
	}
	rec := report.Cleanup{
		Candidate: w.c.ID, Family: w.c.Family, Outcome: string(end.Outcome), Phase: string(end.Phase),
		PullRequest: p.Number, Head: p.HeadSHA, Branch: branch,
		Why:     report.Status(report.Situation(end.Outcome)),
		Started: w.receipts["cleanup"].At.UTC(),
	}
	body, err := w.pages().Record("cleanup", w.c.Parent, w.c.ID, "", rec, w.pages().CleanupComment(rec))
	if err != nil {
		return err
	}
	_, err = w.upsert(ctx, p.Number, []report.NamedComment{{Name: "cleanup", Body: body}})
	return err
}

// keepsBranch is the outcome's disposition, which the workspace may change.
func (w *work) keepsBranch(o Outcome) bool {
	switch w.Config.Policy.Outcomes[string(o)] {
	case "kept":
		return true
	case "deleted":
		return false
	}
	return o.KeepsBranch()
}

func (w *work) cancelRuns(ctx context.Context, _ *End) error {
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	runs, err := w.ownedRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status == "completed" || w.startedByTheEnd(p, r) {
			continue
		}
		if err := w.Forge.CancelRun(ctx, r.ID); err != nil {
			return fmt.Errorf("cancel run %d: %w", r.ID, err)
		}
	}
	return nil
}

// startedByTheEnd says that a run is one that the end itself has started when it
// took the sweep label off: it skips, and is only waited for.
func (w *work) startedByTheEnd(p forge.Pull, r forge.Run) bool {
	announced := w.receipts["cleanup"].At.Truncate(time.Second) // runs have whole seconds
	asked := run.AskedBy(p.Labels, w.Config.Policy.SweepLabel)
	return r.Event == "pull_request" && !r.Created.Before(announced) && len(asked.Primary) == 0
}

func (w *work) awaitRuns(ctx context.Context, _ *End) error {
	runs, err := w.ownedRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status != "completed" {
			return Waiting{fmt.Sprintf("run %d to end (%s)", r.ID, r.Status)}
		}
	}
	return nil
}

func (w *work) unlabel(ctx context.Context, _ *End) error {
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	for _, l := range p.Labels {
		if !slices.Contains(run.SweepLabels(w.Config.Policy.SweepLabel), l) {
			continue
		}
		if err := w.Forge.RemoveLabel(ctx, p.Number, l); err != nil {
			return fmt.Errorf("remove label %s: %w", l, err)
		}
	}
	return nil
}

func (w *work) redraft(ctx context.Context, _ *End) error {
	p, err := w.ownPull(ctx)
	if err != nil || p.Draft || p.State != "open" {
		return err
	}
	return w.Forge.MarkDraft(ctx, p)
}

func (w *work) closePull(ctx context.Context, _ *End) error {
	p, err := w.ownPull(ctx)
	if err != nil || p.State != "open" {
		return err
	}
	closed := "closed"
	return w.Forge.EditPull(ctx, p.Number, forge.PullEdit{State: &closed})
}

func (w *work) disposeBranch(ctx context.Context, end *End) error {
	if w.keepsBranch(end.Outcome) {
		return nil
	}
	return w.dropBranch(ctx)
}

// sealOutcome writes the receipt. A label that came off is an event, which may
// have started a run that skips: until it has ended the receipt would be early.
func (w *work) sealOutcome(ctx context.Context, end *End) error {
	if _, ok := w.receipts["outcome"]; ok {
		return nil
	}
	if err := w.awaitRuns(ctx, end); err != nil {
		return err
	}
	var judged Certified
	if end.Outcome == Regressed {
		judged, _ = evidence[Certified](w, "verdict") // lost, the receipt only says less
	}
	s, err := w.seal(ctx, end.Outcome, end.Phase, end.Reason, nil, judged.Origins)
	if err != nil {
		return err
	}
	return w.keep(ctx, "outcome", s.Receipt.Head, s)
}

// releaseClaim frees the family for a later wave. Where the branch is kept a
// retry is pointless, so the claim stays until a person releases it.
func (w *work) releaseClaim(ctx context.Context, end *End) error {
	if w.keepsBranch(end.Outcome) {
		return nil
	}
	ours, err := w.claimIsOurs(ctx)
	if err != nil || !ours {
		return err
	}
	return w.Forge.DeleteRef(ctx, ClaimRef(w.prefix(), w.c.Family))
}
