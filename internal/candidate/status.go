package candidate

import (
	"context"
	"fmt"
)

// sealed is the status of a candidate that has its outcome receipt.
func (w *work) sealed() (Status, bool) {
	for _, end := range []struct{ receipt, step string }{{"outcome", "receipt"}, {"finish", "finish"}} {
		s, err := evidence[Sealed](w, end.receipt)
		if err != nil {
			continue
		}
		st := w.summary(end.step, Done)
		st.Outcome = Outcome(s.Receipt.Outcome)
		if after, ok := w.parted(); ok && st.Outcome == Validated {
			st.State = after
			st.Next = next(st, "")
		}
		return Status{Summary: st, Reason: s.Reason, Sealed: true}, true
	}
	return Status{}, false
}

// status computes where the candidate stands and, once it has claimed its
// family, saves that for lists and pages.
func (w *work) status(ctx context.Context, step string, state State, waiting string, end *End) (Status, error) {
	s := w.summary(step, state)
	st := Status{Waiting: waiting}
	switch {
	case end != nil:
		s.Outcome, st.Reason = end.Outcome, end.Reason
	case state == Done:
		if sealed, err := evidence[Sealed](w, "finish"); err == nil {
			s.Outcome = Outcome(sealed.Receipt.Outcome)
		}
	}
	s.Next = next(s, waiting)
	st.Summary = s
	if !w.claimed || w.dry || w.shut {
		return st, nil
	}
	return st, w.save(ctx, s)
}

// save updates the list of candidates; doing it twice is harmless.
func (w *work) save(ctx context.Context, s Summary) error {
	err := w.Ledger.SaveCandidate(ctx, s)
	if err != nil && ctx.Err() == nil {
		err = w.Ledger.SaveCandidate(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("candidate %s: save state: %w", w.c.ID, err)
	}
	return nil
}

func (w *work) summary(step string, state State) Summary {
	s := Summary{Candidate: w.c, Step: step, State: state, Owner: w.login, Created: w.now, Updated: w.now}
	if p, err := evidence[Proposed](w, "propose"); err == nil {
		s.Pull, s.PullURL = p.Pull, p.URL
		s.Created, s.Owner = w.receipts["propose"].At, w.receipts["propose"].By
	}
	s.Head = w.expectedHead()
	if c, ok := w.judged(); ok {
		s.Verdicts, s.Marks = c.Verdicts, marks(c)
	}
	return s
}

// judged is the last judgement: that of certify, or the verdict that refused.
func (w *work) judged() (Certified, bool) {
	for _, step := range []string{"verdict", "certify"} {
		if c, err := evidence[Certified](w, step); err == nil {
			return c, true
		}
	}
	return Certified{}, false
}

func next(s Summary, waiting string) string {
	switch {
	case waiting != "":
		return "wait for " + waiting
	case s.State == Merged:
		return fmt.Sprintf("#%d is merged: refit candidate recover looks for its results on the current curve", s.Pull)
	case s.State == Closed:
		return fmt.Sprintf("#%d was closed without a merge", s.Pull)
	case s.Outcome == Validated:
		return fmt.Sprintf("a maintainer reviews and merges #%d", s.Pull)
	case s.Outcome == Regressed || s.Outcome == Incompatible || s.Outcome == Uncertain:
		return "a person looks at the report and decides"
	case s.Outcome != "":
		return "a later upgrade may try again"
	case s.State == Ready:
		return "run it without --dry-run"
	}
	return ""
}

// Certificate is the last judgement of a candidate, when it got that far.
func (s *Shepherd) Certificate(ctx context.Context, c Candidate) (Certified, bool, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return Certified{}, false, err
	}
	cert, ok := w.judged()
	return cert, ok, nil
}

// Show computes where a candidate stands from its receipts alone, without
// moving it. The forge is asked only where receipts are comments of it; then
// those that a claim carries are shown until there is a pull request, and one
// that somebody edited is the reason why it does not move.
func (s *Shepherd) Show(ctx context.Context, c Candidate) (Status, []Receipt, error) {
	w, err := s.open(ctx, c)
	if reason, changed := Changed(err); changed {
		return w.blockedAt("", reason), nil, nil
	}
	if err != nil {
		return Status{}, nil, err
	}
	all, err := s.Ledger.Receipts(ctx, c.ID)
	if err != nil {
		return Status{}, nil, fmt.Errorf("candidate %s: read receipts: %w", c.ID, err)
	}
	if s.batch() != nil && !w.claimed {
		if err := w.inherit(ctx, true); err != nil {
			return Status{}, nil, fmt.Errorf("candidate %s: %w", c.ID, err)
		}
		all = append(all, w.fresh...)
	}
	return w.stands(), all, nil
}

// stands is where the receipts say that the candidate is.
func (w *work) stands() Status {
	if st, ok := w.sealed(); ok {
		return st
	}
	last := "doctor"
	for _, step := range Lifecycle {
		if _, ok := w.receipts[step.Name]; ok {
			last = step.Name
		}
	}
	if t, blocked := w.blocked(); blocked {
		return w.blockedAt(last, t.String())
	}
	return Status{Summary: w.summary(last, Waits)}
}

// blockedAt is the state of a candidate that a record blocks.
func (w *work) blockedAt(step, reason string) Status {
	st := Status{Summary: w.summary(step, Waits), Reason: reason}
	st.Next = "delete that comment; it is published again"
	return st
}
