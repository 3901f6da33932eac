package bench

import (
	"maps"
	"slices"
	"time"
)

// Goodput is how many requests a user would have been content with. Its times
// are the corrected ones: to the first text, and from the intended time of
// sending, so that a request that waited in the client is late. The reference's
// own figure stands beside it under its own key.
type Goodput struct {
	Good              int
	Share             float64 // of all requests, failed ones among them
	RequestsPerSecond float64
}

// Goodput judges every request by all limits of the SLO.
func (r Result) Goodput(slo SLO) Goodput {
	var g Goodput
	for _, q := range r.Requests {
		if q.Error == "" && q.contents(slo) {
			g.Good++
		}
	}
	if n := len(r.Requests); n > 0 {
		g.Share = float64(g.Good) / float64(n)
	}
	if d := r.Duration.Seconds(); d > 0 {
		g.RequestsPerSecond = float64(g.Good) / d
	}
	return g
}

// contents says whether a completed request is within all limits. An answer
// without text has no first one in time, tokens that nobody counted are not in
// time either; one token has no time per token.
func (q Request) contents(slo SLO) bool {
	for name, most := range slo {
		var took time.Duration
		switch name {
		case "ttft":
			if q.FirstText == 0 {
				return false
			}
			took = q.Late() + q.FirstText
		case "tpot":
			if q.TokensFrom == "" {
				return false
			}
			if q.OutputTokens > 1 {
				took = (q.Latency - q.FirstText) / time.Duration(q.OutputTokens-1)
			}
		case "e2el":
			took = q.Late() + q.Latency
		}
		if took > most {
			return false
		}
	}
	return true
}

// object spells the figures beside the limits they are of, in milliseconds.
func (g Goodput) object(slo SLO) *object {
	var o, limits object
	for _, name := range slices.Sorted(maps.Keys(slo)) {
		limits.float(name, 1000*slo[name].Seconds())
	}
	o.object("limits_ms", &limits)
	o.integer("good", g.Good)
	o.float("share", g.Share)
	o.float("request_throughput", g.RequestsPerSecond)
	return &o
}
