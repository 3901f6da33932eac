package bench

import (
	"fmt"
	"time"
)

// Above these a client is suspect: the means stand, and a reader of the tails
// should know. They lie below the limits of a healthy one.
const (
	suspectDelayShare = 0.10 // of the mean gap, the read delay's 99th percentile
	suspectCPU        = 0.50 // cores; at 0.6 of them 2,048 streams were read with an error of 0.1 %, on a quiet host
	suspectPauseShare = 0.50 // of the mean gap, the longest stop for a garbage collection
	suspectDropped    = 0.01 // of the messages, those whose read delay nobody knows
	suspectRoom       = 0.10 // of the connections needed, what is left to be opened besides
)

// Usable says whether verdicts may rest on what was measured: a suspect
// client's means may, like a healthy one's.
func (h Health) Usable() bool { return h.Verdict == Healthy || h.Verdict == Suspect }

// doubted makes a healthy client suspect where a figure says so. Of one that is
// unhealthy, or not known, the reasons are added.
func (h Health) doubted() Health {
	doubt := func(format string, args ...any) {
		if h.Verdict == Healthy {
			h.Verdict = Suspect
		}
		h.Reasons = append(h.Reasons, fmt.Sprintf(format, args...))
	}
	gap := float64(h.MeanITL)
	if p := float64(h.ReadDelayP99); gap > 0 && h.DelaySource != fromNobody && p > suspectDelayShare*gap && p <= maxDelayShare*gap {
		doubt("p99 read delay %v is %.1f %% of the mean gap %v: tails of the gaps are the client's too", short(h.ReadDelayP99), 100*p/gap, short(h.MeanITL))
	}
	if h.ClientCPU > suspectCPU && h.ClientCPU <= maxClientCPU {
		doubt("client used %.2f cores: little is left for bursts", h.ClientCPU)
	}
	if c := h.Client; c != nil {
		if gap > 0 && float64(c.PauseMax) > suspectPauseShare*gap {
			doubt("a garbage collection stopped the client for %v, the mean gap is %v", short(c.PauseMax), short(time.Duration(gap)))
		}
		if all := h.Samples + c.Dropped; float64(c.Dropped) > suspectDropped*float64(all) {
			doubt("%d of %d messages have no read delay", c.Dropped, all)
		}
	}
	if r := h.Headroom; r != nil && float64(r.most()-r.Connections) < suspectRoom*float64(r.Connections) {
		doubt("%d connections at a time, and room for %d: descriptors or ports run short", r.Connections, r.most())
	}
	return h
}
