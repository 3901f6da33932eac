package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/run"
)

// CheckStop says what is left to do before whoever works on a candidate may
// stop; "" is nothing. An outcome counts only if the forge is as its receipt
// says. What a person has taken over, merged or closed holds nobody. It never
// writes.
func (s *Shepherd) CheckStop(ctx context.Context, c Candidate) (string, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return "", err
	}
	w.dry = true
	if st, ok := w.sealed(); ok {
		return w.checkSealed(ctx, st)
	}
	if err := w.ready(ctx); err != nil {
		return "", err
	}
	if !w.claimed {
		return "", nil // nothing was written
	}
	var end *End
	if err := isOwned(ctx, w); err != nil {
		if pending, ok := w.pendingEnd(); ok && !w.handedOver() { // its own ending has closed it
			return w.endingIsLeft(pending), nil
		}
		if errors.As(err, &end) {
			return "", nil // a handoff
		}
		return "", err
	}
	if pending, ok := w.pendingEnd(); ok {
		return w.endingIsLeft(pending), nil
	}
	return fmt.Sprintf("candidate %s has no outcome yet, its next step is %s. Go on with `refit candidate advance %s`, or end it with `refit candidate stop %s --reason TEXT`.",
		w.c.ID, w.at().Name, w.c.ID, w.c.ID), nil
}

func (w *work) endingIsLeft(end *End) string {
	return fmt.Sprintf("the end of candidate %s (%s) is announced and not finished. Go on with `refit candidate advance %s`.", w.c.ID, end.Outcome, w.c.ID)
}

// handedOver looks at the pull request that was read last.
func (w *work) handedOver() bool {
	return w.pull != nil && (w.pull.Merged || w.Config.Forge.HandoffLabel != "" && slices.Contains(w.pull.Labels, w.Config.Forge.HandoffLabel))
}

// checkSealed compares a receipt with the forge.
func (w *work) checkSealed(ctx context.Context, st Status) (string, error) {
	if err := w.obeyBase(ctx); err != nil {
		return "", err
	}
	p, err := w.ownPull(ctx)
	if err != nil {
		return "", err
	}
	if w.handedOver() {
		return "", nil
	}
	wrong := w.notValidated(p)
	if st.Outcome != Validated {
		wrong, err = w.notCleaned(ctx, p, st.Outcome)
	}
	if err != nil || wrong == "" {
		return "", err
	}
	return fmt.Sprintf("candidate %s has the receipt of outcome %s, but %s. Say so to a person.", w.c.ID, st.Outcome, wrong), nil
}

// notValidated is what a validated pull request lacks. Closed, or at another
// head, it is somebody's whose decision that was.
func (w *work) notValidated(p forge.Pull) string {
	s, err := evidence[Sealed](w, "finish")
	switch asked := run.AskedBy(p.Labels, w.Config.Policy.SweepLabel); {
	case p.State != "open" || err == nil && s.Receipt.Head != p.HeadSHA:
		return ""
	case p.Draft:
		return fmt.Sprintf("#%d is a draft", p.Number)
	case len(asked.Primary) != 1:
		return fmt.Sprintf("#%d has %d sweep labels, not one", p.Number, len(asked.Primary))
	}
	return ""
}

// notCleaned is what the end of a candidate has left behind.
func (w *work) notCleaned(ctx context.Context, p forge.Pull, o Outcome) (string, error) {
	asked := run.AskedBy(p.Labels, w.Config.Policy.SweepLabel)
	switch {
	case p.State == "open":
		return fmt.Sprintf("#%d is open", p.Number), nil
	case len(asked.Primary) > 0:
		return fmt.Sprintf("#%d has the sweep label %s", p.Number, asked.Primary[0]), nil
	}
	runs, err := w.ownedRuns(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.Status != "completed" {
			return fmt.Sprintf("run %d is %s", r.ID, r.Status), nil
		}
	}
	if w.keepsBranch(o) {
		return "", nil
	}
	_, there, err := w.Forge.Ref(ctx, "heads/"+w.c.Branch(w.prefix()))
	if err != nil {
		return "", fmt.Errorf("branch: %w", err)
	}
	if there {
		return "the branch " + w.c.Branch(w.prefix()) + " is still there", nil
	}
	return "", nil
}
