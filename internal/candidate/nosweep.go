package candidate

import (
	"context"
	"fmt"
	"strings"
)

// NoSweepAfter is how long a sweep label may stand without a run before
// somebody who judges is asked why.
const NoSweepAfter = 10 * labelLag

// AwaitsSweep says that the sweep label is on and no run has begun.
func (st Status) AwaitsSweep() bool {
	return st.State == Waits && st.Step == "sweep" && strings.HasPrefix(st.Waiting, sweepStarts)
}

// NoSweep asks what to do about a sweep that was asked for and does not begin:
// the reasons are those of Why. With the decision to stop it ends the
// candidate for the chosen reason. false: wait on.
func (s *Shepherd) NoSweep(ctx context.Context, c Candidate, st Status) (Status, bool, error) {
	if s.Judge == nil || st.Pull == 0 {
		return st, false, nil
	}
	why, err := s.Why(ctx, st.Pull)
	if err != nil {
		return st, false, err
	}
	q := Question{
		Kind: NoSweep, Candidate: c, Commit: st.Head, Files: map[string]any{"why.json": why}, Evidence: []string{"why.json"},
		Ask: "The sweep label is on and no sweep has begun. Choose the reason that keeps it from beginning, or wait.",
		Decisions: []Option{
			{waitOn, "wait on: nothing is in the way that would not pass"},
			{stopWaiting, "end the candidate as uncertain, for the one reason that is chosen"},
		},
	}
	for i, r := range why.Reasons {
		q.Choices = append(q.Choices, Choice{ID: fmt.Sprintf("r%d", i+1), What: r.What + ": " + r.Do})
	}
	a, ok, _, err := s.ask(ctx, q, func(Answer) error { return nil })
	if err != nil || !ok || a.Decision != stopWaiting {
		return st, false, err
	}
	reason := "no sweep began: " + q.taken(a)[0].What
	st, err = s.Stop(ctx, c, Uncertain, reason)
	return st, err == nil, err
}
