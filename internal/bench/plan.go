package bench

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"
)

// plan is one request that is ready to be sent: the bytes on the wire are
// made before the clock starts.
type plan struct {
	wire          []byte
	input, output int
	measured      bool

	session, turn int           // turns of a session stand behind each other
	wait          time.Duration // of the first turn since the start of the run, of the others since the end of the one before
	paced         bool          // there is a time for it, whatever the server does
}

// bothPlans writes the requests of both phases.
func bothPlans(ctx context.Context, s side, w Workload) (warm, measured []plan, tokenized bool, err error) {
	if warm, _, err = plans(ctx, s, w, warming, w.Warmups); err != nil {
		return nil, nil, false, fmt.Errorf("warm-up: %w", err)
	}
	if w.Trace != nil {
		measured, err = tracePlans(s.target, w)
		return warm, measured, false, err
	}
	measured, tokenized, err = plans(ctx, s, w, measuring, w.Requests)
	return warm, measured, tokenized, err
}

// plans writes n requests of a phase. tokenized says that input lengths are
// the server's own count.
func plans(ctx context.Context, s side, w Workload, phase string, n int) (ps []plan, tokenized bool, err error) {
	made, err := s.prompts(ctx, w, phase, n)
	if err != nil {
		return nil, false, err
	}
	for i, a := range made.asks {
		wire, err := wireRequest(s.target, w, a)
		if err != nil {
			return nil, false, err
		}
		ps = append(ps, plan{wire: wire, input: a.input, output: a.most, measured: phase == measuring, session: i})
	}
	if phase == measuring {
		pace(ps, made.rest, w)
	}
	return ps, made.tokenized, nil
}

// pace gives the sessions their times, where the workload has a rate.
func pace(ps []plan, draws *Twister, w Workload) {
	if w.Rate == 0 || len(ps) == 0 {
		return
	}
	due := arrivals(draws, ps[len(ps)-1].session+1, w)
	for i := range ps {
		if ps[i].turn == 0 {
			ps[i].wait, ps[i].paced = due[ps[i].session], true
		}
	}
}

// promptSeed differs between the points of a sweep, which share one seed and
// may share one engine: a prompt that was seen before is in its prefix cache.
func (w Workload) promptSeed() int64 {
	h := fnv.New64a()
	fmt.Fprint(h, w.Seed, w.Requests, w.Concurrency, w.InputTokens, w.OutputTokens)
	if w.Rate > 0 {
		fmt.Fprint(h, w.Rate, w.Spacing)
	}
	return int64(h.Sum64())
}

// Phases of a run.
const (
	warming   = "w"
	measuring = "m"
)
