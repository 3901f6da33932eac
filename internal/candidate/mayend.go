package candidate

import (
	"context"
	"fmt"
)

// mayEnd looks afresh whether the pull request is still ours to end. Until the
// end is announced that is isOwned. After it the ending itself may have closed
// it; but one that a person took over, merged or pushed to since then keeps
// everything that is left, branch and label included.
// Source: lifecycle specification, section 6.
func (w *work) mayEnd(ctx context.Context) error {
	announced, ok := w.receipts["cleanup"]
	if !ok {
		return isOwned(ctx, w)
	}
	w.pull = nil
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	login, err := w.who(ctx)
	switch {
	case err != nil:
		return err
	case w.owner(p) != login:
		return w.mismatch(p, login)
	case w.handedOver() && p.Merged:
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("#%d was merged after its end was announced", p.Number)}
	case w.handedOver():
		return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("a maintainer has taken over after the end was announced (label %s)", w.Config.Forge.HandoffLabel)}
	}
	return w.unmoved(ctx, announced.Subject, p.HeadSHA)
}

// unmoved refuses a head that is not the one of which the end was announced,
// nor anything that we wrote on top of it.
func (w *work) unmoved(ctx context.Context, announced, head string) error {
	ours, err := w.oursSince(ctx, announced, head)
	if err != nil || ours {
		return err
	}
	return &End{Outcome: Handoff, Phase: Unknown, Reason: fmt.Sprintf("the branch moved from %.12s to %.12s after its end was announced, and not by us", announced, head)}
}

// dropBranch deletes the branch where it still is. The pull request does not
// tell: once it is closed, a forge does not follow its branch any more.
func (w *work) dropBranch(ctx context.Context) error {
	name := "heads/" + w.c.Branch(w.prefix())
	at, ok, err := w.Forge.Ref(ctx, name)
	if err != nil || !ok {
		return err
	}
	if err := w.unmoved(ctx, w.receipts["cleanup"].Subject, at); err != nil {
		return err
	}
	return w.Forge.DeleteRef(ctx, name)
}
