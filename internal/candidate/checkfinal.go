package candidate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/gate"
)

// CheckFinal answers whether the sweep of the present head would measure what
// the candidate is: check-final of the lifecycle, which only looks.
func (s *Shepherd) CheckFinal(ctx context.Context, c Candidate) (gate.Verdict, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return gate.Verdict{}, err
	}
	w.dry = true
	v, err := w.final(ctx)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("candidate %s: check-final: %w", c.ID, err)
	}
	v.Gate = "check-final"
	if v.Answer == gate.Pass && strings.TrimSpace(v.Reason) == "" {
		v.Reason = "the sweep of this head measures exactly this family, and every point of the baseline"
	}
	return v, nil
}

func (w *work) final(ctx context.Context) (gate.Verdict, error) {
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
	return w.checkFinal(ctx, v)
}
