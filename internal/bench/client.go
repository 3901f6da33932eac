package bench

import (
	"cmp"
	"runtime/debug"
	"slices"
	"strconv"
	"time"
)

// ClientHealth is what the client itself did during a run.
type ClientHealth struct {
	Opened       int           `json:"opened"`         // connections, for the requests of the run
	ConnectP50   time.Duration `json:"connect_p50_ns"` // of setting one up
	ConnectP99   time.Duration `json:"connect_p99_ns"`
	ConnectMax   time.Duration `json:"connect_max_ns"`
	InFlightMean float64       `json:"in_flight_mean"` // requests under way, over the whole run
	InFlightMax  int           `json:"in_flight_max"`
	Dropped      int           `json:"dropped_samples"` // messages without a read delay, beside those that have one
	Polling      float64       `json:"polling_cores"`   // spent on waiting for the next request's time without sleeping; not part of the receipt's client_cpu_cores
	Pauses
}

// Pauses are what garbage collections cost the measuring thread, which stands
// still in each of them.
type Pauses struct {
	Collections int           `json:"gc_collections"`
	PauseTotal  time.Duration `json:"gc_pause_total_ns"`
	PauseMax    time.Duration `json:"gc_pause_max_ns"` // of the last 256 collections
}

// active describes the requests of a run.
func (r Result) active() *ClientHealth {
	var c ClientHealth
	var connects []float64
	var total time.Duration
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for _, q := range r.Requests {
		if q.Connect > 0 {
			connects = append(connects, float64(q.Connect))
		}
		if q.Ended > 0 {
			total += q.Ended - q.Sent
			changes = append(changes, change{q.Sent, 1}, change{q.Ended, -1})
		}
	}
	slices.Sort(connects)
	c.Opened = len(connects)
	at := func(p float64) time.Duration { return time.Duration(percentile(connects, p)) }
	c.ConnectP50, c.ConnectP99, c.ConnectMax = at(50), at(99), at(100)
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	running := 0
	for _, ch := range changes {
		running += ch.by
		c.InFlightMax = max(c.InFlightMax, running)
	}
	if r.Duration > 0 {
		c.InFlightMean = total.Seconds() / r.Duration.Seconds()
	}
	return &c
}

// pausesFrom looks at the garbage collector; what it returns says what happened
// since.
func pausesFrom() func() Pauses {
	var before debug.GCStats
	debug.ReadGCStats(&before)
	return func() Pauses {
		var after debug.GCStats
		debug.ReadGCStats(&after)
		p := Pauses{Collections: int(after.NumGC - before.NumGC), PauseTotal: after.PauseTotal - before.PauseTotal}
		for _, one := range after.Pause[:min(p.Collections, len(after.Pause))] { // the newest first
			p.PauseMax = max(p.PauseMax, one)
		}
		return p
	}
}

// object spells the figures with the keys of their JSON form.
func (c ClientHealth) object() *object {
	var o object
	ns := func(name string, d time.Duration) { o.raw(name, strconv.FormatInt(int64(d), 10)) }
	o.integer("opened", c.Opened)
	ns("connect_p50_ns", c.ConnectP50)
	ns("connect_p99_ns", c.ConnectP99)
	ns("connect_max_ns", c.ConnectMax)
	o.float("in_flight_mean", c.InFlightMean)
	o.integer("in_flight_max", c.InFlightMax)
	o.integer("dropped_samples", c.Dropped)
	o.float("polling_cores", c.Polling)
	o.integer("gc_collections", c.Collections)
	ns("gc_pause_total_ns", c.PauseTotal)
	ns("gc_pause_max_ns", c.PauseMax)
	return &o
}
