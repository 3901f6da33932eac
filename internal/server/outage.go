package server

import (
	"context"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
)

// longestOutage is how long a forge that has answered before may be out of
// reach: its hourly limit of requests is over by then.
const longestOutage = 70 * time.Minute

// outage advances a candidate for somebody who waits. What passes by itself, a
// forge that does not answer for a while or whose limit of requests is used up,
// is waited for; but only once it has answered: a wrong address is told at once.
type outage struct {
	advance func(context.Context, candidate.Candidate) (candidate.Status, error)
	now     func() time.Time
	tell    func(candidate.Event) // nil tells nobody
	every   time.Duration

	answered bool
	since    time.Time // of the outage, zero without one
	told     string
}

// through is an outage of a Shepherd, which is looked at every so often.
func through(s *candidate.Shepherd, every time.Duration) *outage {
	return &outage{advance: s.Advance, now: s.Now, tell: s.Tell, every: every}
}

func (o *outage) next(ctx context.Context, c candidate.Candidate) (candidate.Status, error) {
	for {
		st, err := o.advance(ctx, c)
		if err == nil {
			o.answered, o.since, o.told = true, time.Time{}, ""
			return st, nil
		}
		if !o.passes(ctx, err) {
			return st, err
		}
		if o.told != err.Error() && o.tell != nil {
			o.told = err.Error()
			o.tell(candidate.Event{Step: "forge", Mark: "waiting", Detail: "the forge to answer again: " + o.told})
		}
		if stop := Pause(ctx, o.every); stop != nil {
			return st, stop
		}
	}
}

// passes says whether an error may be gone at the next look.
func (o *outage) passes(ctx context.Context, err error) bool {
	if !o.answered || ctx.Err() != nil || !forge.Passing(err) {
		return false
	}
	if o.since.IsZero() {
		o.since = o.now()
	}
	return o.now().Sub(o.since) < longestOutage
}
