package bench

import (
	"fmt"
	"strings"
	"time"
)

// loadNotes are what the load's shape has to say beside the figures.
func (r Result) loadNotes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if s := r.Health.Schedule; s != nil && r.Workload.Rate > 0 {
		add("latencies from the intended time of sending; the client was late by %v at the 99th percentile, %v at most", short(s.LagP99), short(s.LagMax))
	}
	if s := r.Health.Schedule; s != nil && r.Workload.Rate > 0 && s.QueuedMax > 0 {
		add("warning: requests waited up to %v in the client for a place", short(s.QueuedMax))
	}
	if s := r.Steady(); s != nil && r.Workload.Trace == nil {
		output := ""
		if s.Unknown == 0 {
			output = fmt.Sprintf(", %.1f output tok/s", s.OutputPerSecond)
		}
		add("between ramp and drain, %v to %v: %.2f req/s%s", short(s.From), short(s.To), s.RequestsPerSecond, output)
	}
	if slo := r.Workload.SLO; len(slo) > 0 {
		g := r.Goodput(slo)
		add("%d of %d requests within all limits (%.1f %%), %.2f req/s", g.Good, len(r.Requests), 100*g.Share, g.RequestsPerSecond)
	}
	if s := r.boundsNote(); s != "" {
		add("%s", s)
	}
	return notes
}

// boundsNote says what the percentiles are below of, and which there are none
// of.
func (r Result) boundsNote() string {
	var parts []string
	missing := 0
	for _, m := range [][2]string{{"TTFT", r.firstMetric()}, {"TPOT", "tpot"}, {"E2EL", r.wholeMetric()}} {
		var at []string
		for _, p := range []float64{50, 99} {
			if b := r.Bound(m[1], p); b != nil {
				at = append(at, fmt.Sprintf("p%v %v", p, short(time.Duration(1e9*b.Upper))))
			} else if len(r.sample(m[1])) > 0 {
				missing = max(missing, int(p))
			}
		}
		if len(at) > 0 {
			parts = append(parts, m[0]+" "+strings.Join(at, ", "))
		}
	}
	note := ""
	if len(parts) > 0 {
		note = fmt.Sprintf("with %.0f %% confidence at most: %s", 100*confidence, strings.Join(parts, "; "))
	}
	if missing > 0 {
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf("no p%d of fewer than %d requests", missing, samplesFor(float64(missing)))
	}
	return note
}

// firstMetric is the time to the first text that a user sees: at a rate the
// user does not know about the client's queue.
func (r Result) firstMetric() string {
	if r.Workload.Rate > 0 {
		return "intended-first-text"
	}
	return "first-text"
}

// wholeMetric is the same for the whole answer.
func (r Result) wholeMetric() string {
	if r.Workload.Rate > 0 {
		return "intended-e2el"
	}
	return "e2el"
}

// shape is what the table's title says of the load.
func (w Workload) shape() string {
	switch {
	case w.Trace != nil:
		return fmt.Sprintf("%d recorded sessions", len(w.Trace.Sessions))
	case w.Rate > 0:
		return fmt.Sprintf("%d input and %d output tokens, %g req/s %s", w.InputTokens, w.OutputTokens, w.Rate, w.Spacing)
	}
	return fmt.Sprintf("%d input and %d output tokens", w.InputTokens, w.OutputTokens)
}

// capName is the cap in a table.
func (w Workload) capName() string {
	if w.Concurrency == 0 {
		return "none"
	}
	return fmt.Sprint(w.Concurrency)
}
