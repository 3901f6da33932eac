package server

import (
	"context"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
)

// Drive advances a candidate until it has an outcome, asking again every so
// often while it waits. acted says whether anything was left to do.
func Drive(ctx context.Context, s *candidate.Shepherd, c candidate.Candidate, every time.Duration) (st candidate.Status, acted bool, err error) {
	o := through(s, every)
	for {
		if st, err = o.next(ctx, c); err != nil || st.State.Over() {
			return st, acted || !st.Sealed, err
		}
		acted = true
		if err = Pause(ctx, every); err != nil {
			return st, acted, err
		}
	}
}

// Pause waits, or returns the context's error.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Poll is how often a waiting candidate is looked at: a forge on this machine
// costs nothing, one elsewhere counts its requests by the hour.
func (p *Parts) Poll() time.Duration {
	if forge.Loopback(hostOf(p.Address.Forge)) {
		return time.Second
	}
	return 30 * time.Second
}
