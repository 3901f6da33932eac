package bench

import (
	"cmp"
	"slices"
	"time"
)

// Steady is the part of a run between its ramp and its drain: from the first to
// the last moment at which as many requests were in flight as the cap allows.
// Throughput over the whole duration mixes the three, and the less so the
// longer the run.
type Steady struct {
	From, To          time.Duration // since the start of the run
	AtCap             float64       // share of that time with all places taken; the rest is turnaround
	Completed         int           // requests that ended in it
	RequestsPerSecond float64       // requests, each by the share of its time that lies in it
	OutputPerSecond   float64       // output tokens, by the time they came
	TokensPerSecond   float64       // and prompts, by the time of their first text
	Unknown           int           // requests of the run whose tokens nobody counted: above 0 the figures of tokens are none
}

// Steady is nil when the cap was never reached, or there is none.
func (r Result) Steady() *Steady {
	from, to, full := window(r.Requests, r.Workload.Concurrency)
	if to <= from {
		return nil
	}
	s := Steady{From: from, To: to, AtCap: full.Seconds() / (to - from).Seconds(), Unknown: r.Totals(nil).Unknown}
	inside := func(at time.Duration) bool { return at >= from && at < to }
	requests, output, input := 0.0, 0.0, 0
	for _, q := range r.Requests {
		if q.Error != "" || q.FirstText == 0 {
			continue
		}
		if inside(q.Ended) || q.Ended == to {
			s.Completed++
		}
		if within := min(q.Ended, to) - max(q.Sent, from); within > 0 {
			requests += within.Seconds() / (q.Ended - q.Sent).Seconds()
		}
		at := q.Sent + q.FirstText
		if inside(at) {
			input += q.InputTokens
		}
		each := float64(q.OutputTokens) / float64(1+len(q.TextITLs))
		for i := range len(q.TextITLs) + 1 {
			if i > 0 {
				at += q.TextITLs[i-1]
			}
			if inside(at) {
				output += each
			}
		}
	}
	seconds := (to - from).Seconds()
	s.RequestsPerSecond = requests / seconds
	s.OutputPerSecond = output / seconds
	s.TokensPerSecond = (output + float64(input)) / seconds
	return &s
}

// window is the time from the first to the last moment with all places taken,
// and how long of it they were.
func window(requests []Request, places int) (from, to, full time.Duration) {
	type step struct {
		at time.Duration
		by int
	}
	var steps []step
	for _, q := range requests {
		if q.Ended > 0 {
			steps = append(steps, step{q.Sent, 1}, step{q.Ended, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	running, since := 0, time.Duration(0)
	for _, s := range steps {
		if running == places && s.by < 0 {
			full += s.at - since
			to = s.at
		}
		running += s.by
		if running != places || s.by < 0 || places == 0 {
			continue
		}
		if since = s.at; to == 0 {
			from = s.at
		}
	}
	return from, to, full
}

// object spells the figures; null keys in the file stand for no Steady.
func (s Steady) object() *object {
	var o object
	o.float("from_s", s.From.Seconds())
	o.float("to_s", s.To.Seconds())
	o.float("share_at_cap", s.AtCap)
	o.integer("completed", s.Completed)
	o.float("request_throughput", s.RequestsPerSecond)
	if s.Unknown == 0 {
		o.float("output_throughput", s.OutputPerSecond)
		o.float("total_token_throughput", s.TokensPerSecond)
	} else {
		o.null("output_throughput")
		o.null("total_token_throughput")
	}
	return &o
}
