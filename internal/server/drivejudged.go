package server

import (
	"context"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
)

// DriveJudged drives the candidate that which names as Drive does, and has
// s.Judge asked where evidence alone does not decide: by the steps themselves,
// about a sweep that does not begin, and after a failed smoke run, when which
// is asked again for the further attempt. Without a judge it is Drive.
func DriveJudged(ctx context.Context, s *candidate.Shepherd, which func() (candidate.Candidate, error), every time.Duration) (candidate.Status, error) {
	c, err := which()
	if err != nil {
		return candidate.Status{}, err
	}
	for {
		st, err := driveToEnd(ctx, s, c, every)
		if err != nil {
			return st, err
		}
		again, err := s.Again(ctx, c)
		if err != nil || !again {
			return st, err
		}
		next, err := which()
		if err != nil {
			return st, err
		}
		if next.ID != c.ID || next.Attempt <= c.Attempt {
			return st, nil // main has moved on: that is another candidate
		}
		c = next
	}
}

// driveToEnd advances one attempt until it has an outcome.
func driveToEnd(ctx context.Context, s *candidate.Shepherd, c candidate.Candidate, every time.Duration) (candidate.Status, error) {
	var since time.Time // that a sweep is asked for and has not begun
	o := through(s, every)
	for {
		st, err := o.next(ctx, c)
		if err != nil || st.State.Over() {
			return st, err
		}
		switch {
		case !st.AwaitsSweep():
			since = time.Time{}
		case since.IsZero():
			since = s.Now()
		case s.Now().Sub(since) >= candidate.NoSweepAfter:
			since = s.Now()
			st, stopped, err := s.NoSweep(ctx, c, st)
			if err != nil || stopped && st.State.Over() {
				return st, err
			}
		}
		if err := Pause(ctx, every); err != nil {
			return st, err
		}
	}
}
