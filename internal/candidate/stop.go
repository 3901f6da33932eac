package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// stoppable are the outcomes that a session may decide by itself; the others
// are proved by measurements, or are somebody else's decision.
var stoppable = []Outcome{Uncertain, Failed, Incompatible, ReadinessBlocked, CapacityDeferred, AlreadyUpdated, UnexpectedError}

// ParseStop reads the outcome of a stop; "" is uncertain.
func ParseStop(s string) (Outcome, error) {
	if s == "" {
		return Uncertain, nil
	}
	if !slices.Contains(stoppable, Outcome(s)) {
		return "", fmt.Errorf("outcome %q: a stop ends with one of %v", s, stoppable)
	}
	return Outcome(s), nil
}

// Stop ends a candidate with an outcome that whoever works on it has decided,
// and walks the ending as far as it goes now: while a run has still to end it
// returns a status that waits, and Advance goes on. An end that was announced
// before stays what it was, and so does one that has its receipt. What is no
// longer ours is left alone: then the status says handoff.
func (s *Shepherd) Stop(ctx context.Context, c Candidate, o Outcome, reason string) (Status, error) {
	reason = line(reason)
	if reason == "" {
		return Status{}, errors.New("stop: no reason given: it goes into the receipt")
	}
	w, err := s.open(ctx, c)
	if err != nil {
		return Status{}, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	if st, ok := w.sealed(); ok {
		return st, w.tidy(ctx, st)
	}
	if err := w.ready(ctx); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	if err := w.untampered(ctx); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	at := w.at()
	end, announced := w.pendingEnd()
	if !announced {
		end = &End{Outcome: o, Phase: at.Phase, Reason: reason}
		if w.claimed {
			err = isOwned(ctx, w)
		}
		if err != nil && !errors.As(err, &end) { // a handoff is an end of its own
			return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
		}
	}
	return w.finishWith(ctx, at, end)
}

// ready makes a work that was just opened know what the base and the forge know.
func (w *work) ready(ctx context.Context) error {
	if err := w.obeyBase(ctx); err != nil {
		return err
	}
	return w.inherit(ctx, false)
}

// at is the step that comes next: the first without a receipt. Doctor is left
// out, every session sees it anew.
func (w *work) at() Step {
	for _, step := range Lifecycle[1:] {
		if _, ok := w.receipts[step.Name]; !ok {
			return step
		}
	}
	return Lifecycle[len(Lifecycle)-1]
}
