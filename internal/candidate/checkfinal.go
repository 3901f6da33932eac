package candidate

import (
	"context"
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/gate"
)

// CheckFinal answers whether the sweep of the present head would measure what
// the candidate is: check-final of the lifecycle, which only looks.
func (s *Shepherd) CheckFinal(ctx context.Context, c Candidate) (gate.Verdict, error) {
	return s.check(ctx, c, func(treeView) []gate.Verdict { return nil })
}

// check asks the gates of check-final and, when they pass, more of them.
func (s *Shepherd) check(ctx context.Context, c Candidate, more func(treeView) []gate.Verdict) (gate.Verdict, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return gate.Verdict{}, err
	}
	w.dry = true
	v, err := w.final(ctx, more)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("candidate %s: check-final: %w", c.ID, err)
	}
	v.Gate = "check-final"
	return v, nil
}

func (w *work) final(ctx context.Context, more func(treeView) []gate.Verdict) (gate.Verdict, error) {
	if err := w.ready(ctx); err != nil {
		return gate.Verdict{}, err
	}
	if !w.claimed {
		return gate.Verdict{}, errors.New("it has no pull request yet: advance it first")
	}
	v, err := w.head(ctx)
	if err != nil {
		return gate.Verdict{}, err
	}
	own, err := w.checkFinal(ctx, v)
	if err != nil || own.Answer != gate.Pass {
		return own, err
	}
	if also := more(v); len(also) > 0 {
		return gate.All(also), nil
	}
	return own, nil
}
