package bench

import (
	"context"
	"encoding/json"
	"time"
)

// measure runs the plans under the clock and judges the client. When ctx ends
// in between, the result holds what was measured and the error says why.
func measure(ctx context.Context, l *loop, s side, ps []plan, progress func(Progress)) (Result, []*exchange, error) {
	l.live = &gauges{}
	told, stop := tell(l, len(ps), progress)
	l.done = told
	defer stop()
	before := s.metrics(ctx)
	waited, known := starved()
	collect := quiet(gapBytes(ps))
	pauses, cpu := pausesFrom(), cpuTime()
	xs, stopped := l.run(ctx, ps)
	r := Result{Started: l.started, Duration: time.Duration(l.clock.now() - l.origin)}
	cpu = cpuTime() - cpu
	paused := pauses()
	collect()
	r.Ended = time.Now()
	r.Partial = stopped != nil
	for _, x := range xs {
		r.Requests = append(r.Requests, x.request(l.origin))
	}
	var pressure *float64
	if after, ok := starved(); known && ok && r.Duration > 0 && sameHost(s.target.URL) {
		share := (after - waited).Seconds() / r.Duration.Seconds()
		pressure = &share
	}
	r.Health = receipt(r, l.delays, cost{cpu, l.polled}, pressure)
	r.Health.Client.Pauses = paused
	after := s.metrics(ctx)
	r.Health.Engine, r.Health.PrefixCacheHits = load(before, after), cacheHits(before, after, r.Requests)
	return r, xs, stopped
}

// cost is the processor time of a run.
type cost struct {
	all    time.Duration
	polled time.Duration // of it, by the clock: waiting for the next request's time without sleeping
}

// receipt is the client's health over a run. Waiting without sleeping is no
// work: a client that does nothing else is as good as an idle one.
func receipt(r Result, d *delays, c cost, pressure *float64) Health {
	h := Health{Requests: len(r.Requests), HostPressure: pressure, MeanITL: time.Duration(1e9 * r.Stats("itl", nil).Mean)}
	for _, q := range r.Requests {
		if q.Error != "" && q.ErrorKind != interrupted {
			h.Errors++
		}
	}
	s := d.summary()
	h.DelaySource, h.Samples, h.ReadDelayP50, h.ReadDelayP99 = s.source, s.samples, s.p50, s.p99
	h.Client = r.active()
	h.Client.Dropped = s.dropped
	if r.Duration > 0 {
		h.Client.Polling = c.polled.Seconds() / r.Duration.Seconds()
		h.ClientCPU = max(c.all-c.polled, 0).Seconds() / r.Duration.Seconds()
	}
	h = h.judged(d.future())
	if r.Partial {
		h = h.sick("stopped after %d of %d requests: the figures are of a part", r.finished(), len(r.Requests))
	}
	return h
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
