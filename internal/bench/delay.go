package bench

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// delays collects how long messages lay between the server's send and the
// client's read.
type delays struct {
	trusted bool     // the server's stamps are of this machine's clock
	server  recorder // one sample per stamped message
	kernel  recorder // one per read, from the kernel's receive stamp
	events  int      // messages that could have had a stamp
	reads   int      // that could have had the kernel's
}

// event books a message; sent is 0 when it carried no stamp.
func (d *delays) event(sent, read int64) {
	d.events++
	if d.trusted && sent > 0 {
		d.server.add(read - sent)
	}
}

// arrival books a read whose data the kernel received at the given time of its
// wall clock, 0 when it gave none.
func (d *delays) arrival(kernel int64) {
	d.reads++
	if kernel > 0 {
		d.kernel.add(time.Now().UnixNano() - kernel)
	}
}

// Sources of delays.
const (
	fromServer = "server-stamp"
	fromKernel = "kernel"
	fromNobody = "none"
)

// delaySummary is what is known of the delays of a run.
type delaySummary struct {
	source   string
	samples  int
	dropped  int // messages or reads without a sample, of those that could have had one
	p50, p99 time.Duration
}

// summary describes the delays from the best source there is.
func (d *delays) summary() delaySummary {
	switch {
	case d.server.n > 0 && 2*d.server.n >= d.events:
		return d.server.summary(fromServer, d.events)
	case d.kernel.n > 0:
		return d.kernel.summary(fromKernel, d.reads)
	}
	return delaySummary{source: fromNobody}
}

// future says that a stamp lies more than a scheduling hair after its read:
// then the two clocks are not the same.
func (d *delays) future() bool { return d.server.least < -int64(20*time.Microsecond) }

// Limits of a recorder: delays up to a minute, to a thousandth.
const (
	longestDelay = int64(time.Minute)
	delayDigits  = 3
)

// recorder keeps delays in nanoseconds in a room that does not grow with their
// number. Its zero value is ready.
type recorder struct {
	n     int
	least int64 // of the samples and 0
	seen  *hdrhistogram.Histogram
}

func (r *recorder) add(v int64) {
	if r.seen == nil {
		r.seen = hdrhistogram.New(1, longestDelay, delayDigits)
	}
	r.n++
	r.least = min(r.least, v)
	// A value inside the limits is always recorded.
	_ = r.seen.RecordValue(min(max(v, 0), longestDelay))
}

func (r *recorder) summary(source string, most int) delaySummary {
	at := func(p float64) time.Duration { return time.Duration(r.seen.ValueAtPercentile(p)) }
	return delaySummary{source: source, samples: r.n, dropped: max(most-r.n, 0), p50: at(50), p99: at(99)}
}
