package bench

import (
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// gauges are what the measuring thread lets others read while it runs. It alone
// writes them.
type gauges struct {
	requests atomic.Int64 // sent
	running  atomic.Int64
	messages atomic.Int64 // with choices, of all requests
}

func (g *gauges) sent(running int) {
	g.requests.Add(1)
	g.running.Store(int64(running))
}

func (g *gauges) ended(running int) { g.running.Store(int64(running)) }

func (g *gauges) took(messages int) {
	if messages > 0 {
		g.messages.Add(int64(messages))
	}
}

// Progress is how far a run is.
type Progress struct {
	Done, Failed, Total int           // requests
	Running             int           // in flight
	Messages            int64         // received
	Tokens              float64       // in them, as far as the requests that have ended tell
	Elapsed             time.Duration // since the first release
	Left                time.Duration // until the end, at the pace so far; 0 = cannot be said yet
	TTFT                time.Duration // median time to the first text so far, 0 = none yet
	Ended               *Request      // the request that has just ended, nil when only time has passed
	Over                bool          // nothing comes after this
}

// tellEach is how often progress is told while no request ends.
const tellEach = 250 * time.Millisecond

// teller passes progress on from a goroutine of its own, so that the measuring
// thread never waits for a terminal.
type teller struct {
	progress func(Progress)
	live     *gauges
	origin   func() int64 // the run's start, once a request has ended
	ended    chan *exchange
	finished chan struct{}
	p        Progress
	firsts   *hdr.Histogram // times to the first text, nanoseconds
	messages int            // of the completed requests
	tokens   int
}

// tell starts a teller; what it returns is called after each exchange, and once
// when the run is over. Without progress both do nothing.
func tell(l *loop, total int, progress func(Progress)) (each func(*exchange), stop func()) {
	if progress == nil {
		return nil, func() {}
	}
	t := &teller{progress: progress, live: l.live, origin: func() int64 { return l.origin },
		ended: make(chan *exchange, total), finished: make(chan struct{}), p: Progress{Total: total}, firsts: hdr.New(hdrLowest, hdrHighest, hdrDigits)}
	go t.run(time.Now())
	return func(x *exchange) { t.ended <- x }, func() { close(t.ended); <-t.finished }
}

func (t *teller) run(start time.Time) {
	defer close(t.finished)
	clock := time.NewTicker(tellEach)
	defer clock.Stop()
	for {
		select {
		case x, ok := <-t.ended:
			if !ok {
				t.p.Over = true
				t.say(start, nil)
				return
			}
			r := x.request(t.origin())
			t.count(r)
			t.say(start, &r)
		case <-clock.C:
			t.say(start, nil)
		}
	}
}

func (t *teller) count(r Request) {
	t.p.Done++
	if r.Error != "" {
		t.p.Failed++
		return
	}
	if r.TokensFrom != "" {
		t.messages += 1 + len(r.ITLs)
		t.tokens += r.OutputTokens
	}
	if r.FirstText == 0 { // an answer without text
		return
	}
	_ = t.firsts.RecordValue(int64(r.FirstText)) // one of ten hours is beyond what is shown
	if t.p.Done <= exactFirsts {
		t.p.TTFT = t.median()
	}
}

// exactFirsts is the number of requests up to which the median is looked up
// after each; later it is when time has passed.
const exactFirsts = 100

func (t *teller) median() time.Duration { return time.Duration(t.firsts.ValueAtPercentile(50)) }

func (t *teller) say(start time.Time, ended *Request) {
	if ended == nil && t.firsts.TotalCount() > 0 {
		t.p.TTFT = t.median()
	}
	p := t.p
	p.Ended, p.Elapsed = ended, time.Since(start)
	p.Running, p.Messages = int(t.live.running.Load()), t.live.messages.Load()
	p.Tokens = float64(p.Messages)
	if t.messages > 0 {
		p.Tokens *= float64(t.tokens) / float64(t.messages)
	}
	if p.Done > 0 {
		p.Left = time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(p.Total-p.Done))
	}
	t.progress(p)
}
