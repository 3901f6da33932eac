package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
)

// abandon ends a candidate that has no receipt of propose. Usually nothing
// exists; but a process that died inside propose left a claim, and with it
// perhaps a branch and a draft that nobody has written to.
func (w *work) abandon(ctx context.Context, step Step, end *End) (Status, error) {
	ours, err := w.claimIsOurs(ctx)
	if err != nil {
		return Status{}, fmt.Errorf("candidate %s: claim: %w", w.c.ID, err)
	}
	if !ours {
		return w.status(ctx, step.Name, Done, "", end)
	}
	err = w.takeLease(ctx)
	if err == nil {
		err = w.twice(ctx, func() error { return w.clear(ctx) })
	}
	var wait Waiting
	var handoff *End
	if errors.As(err, &wait) {
		return w.status(ctx, step.Name, Waits, wait.For, nil)
	}
	if errors.As(err, &handoff) {
		return w.status(ctx, step.Name, Done, "", handoff)
	}
	if err != nil {
		return Status{}, fmt.Errorf("candidate %s: abandon: %w", w.c.ID, err)
	}
	return w.status(ctx, step.Name, Done, "", end)
}

// clear closes the draft, deletes the branch and frees the claim, in this
// order: the claim goes last, so that a crash leaves it to be found. What a
// person has taken over or pushed to stays, all of it.
func (w *work) clear(ctx context.Context) error {
	branch := w.c.Branch(w.prefix())
	pulls, err := w.Forge.PullsByHead(ctx, branch)
	if err != nil {
		return err
	}
	pulls = slices.DeleteFunc(pulls, func(p forge.Pull) bool { return p.State != "open" })
	if err := w.mayClear(ctx, pulls); err != nil {
		return err
	}
	closed := "closed"
	for _, p := range pulls {
		if err := w.Forge.EditPull(ctx, p.Number, forge.PullEdit{State: &closed}); err != nil {
			return err
		}
	}
	if err := w.dropRef(ctx, "heads/"+branch); err != nil {
		return err
	}
	return w.dropRef(ctx, ClaimRef(w.prefix(), w.c.Family))
}

// mayClear looks whether branch and open pull requests are as a process left
// them that died while it made them.
func (w *work) mayClear(ctx context.Context, open []forge.Pull) error {
	label := w.Config.Forge.HandoffLabel
	for _, p := range open {
		if label != "" && slices.Contains(p.Labels, label) {
			return &End{Outcome: Handoff, Phase: Resolve, Reason: fmt.Sprintf("a maintainer has taken over #%d (label %s)", p.Number, label)}
		}
	}
	head, ok, err := w.Forge.Ref(ctx, "heads/"+w.c.Branch(w.prefix()))
	if err != nil || !ok {
		return err
	}
	return w.headIsSigned(ctx, head)
}

// dropRef deletes a reference that is there.
func (w *work) dropRef(ctx context.Context, name string) error {
	if _, ok, err := w.Forge.Ref(ctx, name); err != nil || !ok {
		return err
	}
	return w.Forge.DeleteRef(ctx, name)
}
