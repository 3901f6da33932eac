package bench

import (
	"fmt"
	"time"
)

// Verdicts of a Health receipt.
const (
	Healthy   = "healthy"
	Suspect   = "suspect" // its means stand, its tails may be its own
	Unhealthy = "unhealthy"
	Unknown   = "unknown"
)

// Limits of a healthy client. The read delay's is one of tails: what a client
// reads late, it reads early the next time, so that the mean of the gaps, which
// TPOT and throughput are, hardly knows it: of eight points on a noisy host with
// a 99th percentile between 10 and 14 % of the gap, TPOT was within 0.1 % and
// throughput within 0.4 % of those below.
const (
	maxDelayShare = 0.20 // of the mean gap between messages, at the 99th percentile
	maxClientCPU  = 0.8  // cores: one thread reads, and at the end of its core it is late
	maxPressure   = 0.25 // of the time some task of the host waited for a processor
)

// Health answers "was it the server or my load generator?" with figures.
type Health struct {
	Verdict         string        `json:"verdict"`
	Reasons         []string      `json:"reasons"`
	ReadDelayP50    time.Duration `json:"read_delay_p50_ns"`
	ReadDelayP99    time.Duration `json:"read_delay_p99_ns"`
	MeanITL         time.Duration `json:"mean_itl_ns"`
	ClientCPU       float64       `json:"client_cpu_cores"` // of work: without the client's polling_cores
	Errors          int           `json:"errors"`
	Requests        int           `json:"requests"`
	Samples         int           `json:"samples"`           // messages with a delay
	DelaySource     string        `json:"delay_source"`      // "server-stamp", "kernel" or "none"
	HostPressure    *float64      `json:"host_cpu_pressure"` // share of the time in which some task of this host waited for a processor; nil = the engine is elsewhere, or the kernel does not say
	PrefixCacheHits *float64      `json:"prefix_cache_hits"` // tokens taken from the server's prefix cache during the run; nil = not reported

	Schedule *ScheduleHealth `json:"schedule,omitempty"` // nil = nothing was sent
	Headroom *Headroom       `json:"headroom,omitempty"` // nil = not looked at
	Client   *ClientHealth   `json:"client,omitempty"`   // nil = a record of before it was kept

	Agreement *ServerAgreement `json:"server_agreement,omitempty"` // nil = the server keeps no clock of its own
	Engine    *EngineLoad      `json:"engine,omitempty"`           // nil = no /metrics page, or nobody's that is known
}

// compared adds what the server's own clock says. A client whose readings are
// others is unhealthy: something between the two was measured as well.
func (h Health) compared(a *ServerAgreement) Health {
	h.Agreement = a
	if a != nil && !a.Agree() {
		h.Verdict, h.Reasons = Unhealthy, append(h.Reasons, a.String())
	}
	return h
}

// judged fills in the verdict. A client is unhealthy when a figure says so,
// unknown when the figure that could clear it is missing.
func (h Health) judged(future bool) Health {
	h.Verdict, h.Reasons = Healthy, []string{}
	bad := func(format string, args ...any) {
		h.Verdict = Unhealthy
		h.Reasons = append(h.Reasons, fmt.Sprintf(format, args...))
	}
	unknown := func(format string, args ...any) {
		if h.Verdict == Healthy {
			h.Verdict = Unknown
		}
		h.Reasons = append(h.Reasons, fmt.Sprintf(format, args...))
	}
	if h.Requests == 0 {
		bad("no request was made")
	}
	if h.Errors > 0 {
		bad("%d of %d requests had an error", h.Errors, h.Requests)
	}
	if h.ClientCPU > maxClientCPU {
		bad("client used %.2f cores, limit %.2f", h.ClientCPU, maxClientCPU)
	}
	if h.HostPressure != nil && *h.HostPressure > maxPressure {
		bad("this host was short of processors %.0f %% of the time, limit %.0f %%: engine and client share it", 100**h.HostPressure, 100*maxPressure)
	}
	limit := time.Duration(maxDelayShare * float64(h.MeanITL))
	switch {
	case future:
		unknown("server stamps lie after the client's reads: the clocks differ")
	case h.DelaySource == fromNobody:
		unknown("read delay cannot be known: no trusted server stamp and no kernel stamp")
	case h.MeanITL <= 0:
		unknown("no gap between messages to measure the read delay against")
	case h.ReadDelayP99 > limit:
		bad("p99 read delay %v is %.1f %% of the mean gap %v, limit %.0f %%", h.ReadDelayP99.Round(time.Microsecond),
			100*float64(h.ReadDelayP99)/float64(h.MeanITL), h.MeanITL.Round(time.Microsecond), 100*maxDelayShare)
	}
	return h
}
