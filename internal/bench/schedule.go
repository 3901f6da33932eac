package bench

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// schedule books how a request came to be sent: Sent is its release, the wait
// for a free place under the cap, and what the client itself was late.
func (x *exchange) schedule(r *Request, origin int64) {
	since := func(at int64) time.Duration { return time.Duration(at - origin) }
	r.Session, r.Turn = x.plan.session, x.plan.turn
	if x.sent == 0 { // never sent
		r.Sent = 0
		return
	}
	r.Intended = since(x.release.intended())
	r.Queued = time.Duration(x.release.granted - x.release.released)
	r.Lag = time.Duration(x.sent - x.release.granted)
	r.Ended = since(x.ended)
}

// Late is how much later than intended a request was sent: latencies with it
// are those of a user who does not know about the client's queue.
func (q Request) Late() time.Duration { return q.Sent - q.Intended }

// ScheduleHealth says how well the client kept to its schedule. The lag is the
// client's own; waiting for a place under the concurrency cap is none.
type ScheduleHealth struct {
	LagP50    time.Duration `json:"lag_p50_ns"`
	LagP99    time.Duration `json:"lag_p99_ns"`
	LagMax    time.Duration `json:"lag_max_ns"`
	QueuedP50 time.Duration `json:"queued_p50_ns"`
	QueuedMax time.Duration `json:"queued_max_ns"`
}

// kept describes the schedule of the requests that were sent.
func (r Result) kept() *ScheduleHealth {
	var lags, queued []float64
	for _, q := range r.Requests {
		if q.Ended > 0 {
			lags = append(lags, float64(q.Lag))
			queued = append(queued, float64(q.Queued))
		}
	}
	if len(lags) == 0 {
		return nil
	}
	slices.Sort(lags)
	slices.Sort(queued)
	at := func(sorted []float64, p float64) time.Duration { return time.Duration(percentile(sorted, p)) }
	return &ScheduleHealth{LagP50: at(lags, 50), LagP99: at(lags, 99), LagMax: at(lags, 100),
		QueuedP50: at(queued, 50), QueuedMax: at(queued, 100)}
}

// object spells the figures with the keys of their JSON form.
func (s ScheduleHealth) object() *object {
	var o object
	ns := func(name string, d time.Duration) { o.raw(name, strconv.FormatInt(int64(d), 10)) }
	ns("lag_p50_ns", s.LagP50)
	ns("lag_p99_ns", s.LagP99)
	ns("lag_max_ns", s.LagMax)
	ns("queued_p50_ns", s.QueuedP50)
	ns("queued_max_ns", s.QueuedMax)
	return &o
}

// Limits of an open loop's schedule. A lag is charged to the server, in the
// latencies from the intended time, and makes bursts of even arrivals.
const (
	maxLag      = time.Millisecond // at the 99th percentile; less is no lag
	maxLagShare = 0.20             // of the median time to the first text
)

// scheduled adds the schedule, and judges it where there is one to be kept.
func (h Health) scheduled(r Result) Health {
	s := r.kept()
	h.Schedule = s
	if s == nil || r.Workload.Rate == 0 || s.LagP99 <= maxLag {
		return h
	}
	first := time.Duration(1e9 * r.Stats("first-text", nil).Median)
	if limit := time.Duration(maxLagShare * float64(first)); s.LagP99 > limit {
		return h.sick("requests were sent up to %v late at the 99th percentile, limit %v and %.0f %% of the first text's %v",
			short(s.LagP99), maxLag, 100*maxLagShare, short(first))
	}
	return h
}

// sick makes a receipt unhealthy for one more reason.
func (h Health) sick(format string, args ...any) Health {
	h.Verdict, h.Reasons = Unhealthy, append(h.Reasons, fmt.Sprintf(format, args...))
	return h
}

// finished is the number of requests that ended by themselves.
func (r Result) finished() int {
	n := 0
	for _, q := range r.Requests {
		if q.ErrorKind != interrupted {
			n++
		}
	}
	return n
}
