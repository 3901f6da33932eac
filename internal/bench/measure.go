package bench

import (
	"context"
	"encoding/json"
	"time"
)

// measure runs the plans under the clock and judges the client.
func measure(ctx context.Context, l *loop, s side, ps []plan, progress func(done, total int)) (Result, []*exchange, error) {
	told, stop := teller(len(ps), progress)
	l.done = told
	defer stop()
	tokens := 0
	for _, p := range ps {
		tokens += p.output + 8
	}
	l.delays.server = make([]int64, 0, tokens)
	before := s.metrics(ctx)
	r := Result{Started: time.Now()}
	waited, known := starved()
	cpu, origin := cpuTime(), l.clock.now()
	xs, err := l.run(ctx, ps)
	r.Duration = time.Duration(l.clock.now() - origin)
	cpu = cpuTime() - cpu
	r.Ended = time.Now()
	if err != nil {
		return Result{}, nil, err
	}
	for _, x := range xs {
		r.Requests = append(r.Requests, x.request(origin))
	}
	var pressure *float64
	if after, ok := starved(); known && ok && r.Duration > 0 && sameHost(s.target.URL) {
		share := (after - waited).Seconds() / r.Duration.Seconds()
		pressure = &share
	}
	r.Health = receipt(r, l.delays, cpu, pressure)
	after := s.metrics(ctx)
	r.Health.Engine, r.Health.PrefixCacheHits = load(before, after), cacheHits(before, after, r.Requests)
	return r, xs, nil
}

// receipt is the client's health over a run.
func receipt(r Result, d *delays, cpu time.Duration, pressure *float64) Health {
	h := Health{Requests: len(r.Requests), HostPressure: pressure, MeanITL: time.Duration(1e9 * r.Stats("itl", nil).Mean)}
	for _, q := range r.Requests {
		if q.Error != "" {
			h.Errors++
		}
	}
	if r.Duration > 0 {
		h.ClientCPU = cpu.Seconds() / r.Duration.Seconds()
	}
	h.DelaySource, h.Samples, h.ReadDelayP50, h.ReadDelayP99 = d.quantiles()
	return h.judged(d.future())
}

// teller passes the number of finished requests on from its own goroutine, so
// that the measuring thread never waits for a terminal.
func teller(total int, progress func(done, total int)) (told func(), stop func()) {
	if progress == nil {
		return nil, func() {}
	}
	ticks := make(chan struct{}, total)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		n := 0
		for range ticks {
			n++
			progress(n, total)
		}
	}()
	return func() { ticks <- struct{}{} }, func() { close(ticks); <-finished }
}

// settleTokens has the server count the texts of requests without usage, and
// takes its word for prompts nobody could count before.
func settleTokens(ctx context.Context, s side, r *Result, xs []*exchange, tokenized bool) {
	for i := range r.Requests {
		q := &r.Requests[i]
		if !tokenized && q.PromptTokens > 0 {
			q.InputTokens = q.PromptTokens
		}
		if q.Error != "" || q.TokensFrom != "" || !tokenized {
			continue
		}
		var text string
		if err := json.Unmarshal([]byte(`"`+string(xs[i].text)+`"`), &text); err != nil || text == "" {
			continue
		}
		if n, err := s.count(ctx, text); err == nil {
			q.OutputTokens, q.TokensFrom = n, "count"
		}
	}
}
