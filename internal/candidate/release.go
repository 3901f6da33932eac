package candidate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Released is the receipt of a maintainer's word that a kept candidate may be
// tried again: its branch and its claim go, and a later upgrade begins anew.
type Released struct {
	Outcome Outcome   `json:"outcome"` // how it had ended
	Owner   string    `json:"owner"`   // whose candidate it was
	By      string    `json:"by"`
	Reason  string    `json:"reason,omitempty"`
	Pull    int       `json:"pull"`
	Head    string    `json:"head"`
	Branch  string    `json:"branch"`
	At      time.Time `json:"at"`
}

func (r Released) String() string {
	return fmt.Sprintf("#%d of %s, %s at %.12s, released by %s: %s is deleted, the family is free", r.Pull, r.Owner, r.Outcome, r.Head, r.By, r.Branch)
}

// Release deletes the branch of a candidate that ended and was kept, and frees
// its family, on the word of somebody with write permission who is not the
// candidate's owner. head is the commit that the maintainer looked at, all 40
// digits. A rule that does not allow it is a *Refused; Waiting says that
// somebody moves the candidate right now. The approval is kept first, so that
// after a crash Release is called again.
func (s *Shepherd) Release(ctx context.Context, c Candidate, head, reason string) (Released, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return Released{}, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	r, err := w.release(ctx, head, line(reason))
	var other notOurs
	if errors.As(err, &other) {
		err = refuse("%s", other)
	}
	if err != nil {
		return Released{}, fmt.Errorf("release candidate %s: %w", c.ID, err)
	}
	w.tell("release", "done", r.String())
	return r, nil
}

func (w *work) release(ctx context.Context, head, reason string) (Released, error) {
	if err := w.obeyBase(ctx); err != nil {
		return Released{}, err
	}
	if done, ok, err := w.releasedBefore(ctx, head); err != nil || ok {
		return done, err
	}
	if _, err := w.heldClaim(ctx); err != nil {
		return Released{}, err
	}
	if err := w.knowEnd(ctx); err != nil {
		return Released{}, err
	}
	r, err := w.releasable(ctx, head)
	if err != nil {
		return Released{}, err
	}
	if err := w.takeLease(ctx); err != nil {
		return Released{}, err
	}
	// What was looked at may have changed before the lease was ours.
	if r, err = w.releasable(ctx, head); err != nil {
		return Released{}, err
	}
	r.Reason = reason
	if err := w.twice(ctx, func() error { return w.approve(ctx, &r) }); err != nil {
		return Released{}, err
	}
	if err := w.twice(ctx, func() error { return w.dropRef(ctx, "heads/"+r.Branch) }); err != nil {
		return Released{}, fmt.Errorf("branch: %w", err)
	}
	if _, err := w.freeFamily(ctx); err != nil {
		return Released{}, fmt.Errorf("claim: %w", err)
	}
	return r, w.saveReleased(ctx, r)
}

// releasedBefore is an earlier Release that came to its end: its receipt stands
// and neither branch nor claim is left.
func (w *work) releasedBefore(ctx context.Context, head string) (Released, bool, error) {
	r, err := evidence[Released](w, "release")
	if err != nil || r.Head != head {
		return Released{}, false, nil
	}
	held, err := w.claimIsOurs(ctx)
	if err != nil || held {
		return Released{}, false, err
	}
	if _, there, err := w.Forge.Ref(ctx, "heads/"+r.Branch); err != nil || there {
		return Released{}, false, err
	}
	if err := w.tidyLease(ctx); err != nil {
		return Released{}, false, err
	}
	return r, true, w.saveReleased(ctx, r)
}

// approve posts the audit line and keeps the receipt, each once. One that a
// first try kept before it died stays what it was.
func (w *work) approve(ctx context.Context, r *Released) error {
	said := fmt.Sprintf("**Released** by %s: the branch is deleted, a later upgrade of the family begins anew.", word(r.By))
	if err := w.audit(ctx, r.Pull, "release", r.Head, said, orWord(r.Reason, "none given")); err != nil {
		return err
	}
	if kept, err := evidence[Released](w, "release"); err == nil && kept.Head == r.Head {
		*r = kept
		return nil
	}
	return w.keep(ctx, "release", r.Head, *r)
}

// saveReleased tells the list what comes next.
func (w *work) saveReleased(ctx context.Context, r Released) error {
	sum := w.summary("release", Done)
	sum.Outcome, sum.Owner, sum.Pull, sum.Head = r.Outcome, r.Owner, r.Pull, r.Head
	sum.Next = "released by " + r.By + ": a later upgrade begins anew"
	return w.save(ctx, sum)
}

// released says whether an ended candidate was released, here or by somebody
// whose store is another: then neither the branch that its end keeps nor the
// claim is left on the forge. It is asked when the family has no claim.
func (s *Shepherd) released(ctx context.Context, c Candidate, o Outcome) (bool, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return false, err
	}
	if w.knows("release") {
		return true, nil
	}
	if err := w.obeyBase(ctx); err != nil {
		return false, err
	}
	if !w.keepsBranch(o) {
		return false, nil
	}
	_, there, err := w.Forge.Ref(ctx, "heads/"+c.Branch(w.prefix()))
	return !there, err
}
