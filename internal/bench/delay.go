package bench

import (
	"slices"
	"time"
)

// delays collects how long messages lay between the server's send and the
// client's read.
type delays struct {
	trusted bool    // the server's stamps are of this machine's clock
	server  []int64 // one per stamped message
	kernel  []int64 // one per read, from the kernel's receive stamp
	events  int     // messages that could have had a stamp
}

// event books a message; sent is 0 when it carried no stamp.
func (d *delays) event(sent, read int64) {
	d.events++
	if d.trusted && sent > 0 {
		d.server = append(d.server, read-sent)
	}
}

// Sources of delays.
const (
	fromServer = "server-stamp"
	fromKernel = "kernel"
	fromNobody = "none"
)

// quantiles names the source and returns the median and 99th percentile.
func (d *delays) quantiles() (source string, samples int, p50, p99 time.Duration) {
	source, sample := fromNobody, []int64(nil)
	switch {
	case len(d.server) > 0 && 2*len(d.server) >= d.events:
		source, sample = fromServer, d.server
	case len(d.kernel) > 0:
		source, sample = fromKernel, d.kernel
	default:
		return source, 0, 0, 0
	}
	sorted := make([]float64, len(sample))
	for i, v := range sample {
		sorted[i] = float64(v)
	}
	slices.Sort(sorted)
	return source, len(sorted), time.Duration(percentile(sorted, 50)), time.Duration(percentile(sorted, 99))
}

// future says that a stamp lies more than a scheduling hair after its read:
// then the two clocks are not the same.
func (d *delays) future() bool {
	for _, v := range d.server {
		if v < -int64(20*time.Microsecond) {
			return true
		}
	}
	return false
}
