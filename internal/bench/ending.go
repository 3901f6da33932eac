package bench

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// ended is told that the connection ended or broke.
func (l *loop) ended(c *conn, err error) {
	if err == io.EOF && c.resp.started() && c.resp.end() {
		l.whole(c)
		return
	}
	if c.resp.Status != 0 && c.resp.Status != 200 { // refused, whatever is missing of the reason
		c.resp.Close = true
		l.whole(c)
		return
	}
	if err == io.EOF {
		if c.resp.Status == 200 {
			c.lines.flush(c.line)
			c.x.finish(false)
			l.end(c, false)
			return
		}
		err = io.ErrUnexpectedEOF
	}
	l.broken(c, "reset", err)
}

// crossing is the longest time in which a request and the end of the connection
// that was kept open for it may have crossed on their way. An end that comes
// later is what the server makes of the request.
const crossing = time.Second

// broken fails the exchange, unless the server had closed a connection that
// was kept open: then the request is sent once more on a new one, and its
// times are those from its first sending.
func (l *loop) broken(c *conn, kind string, err error) {
	if waited := time.Duration(l.clock.now() - c.x.sent); c.reused && !c.resp.started() && waited < crossing {
		l.again(c)
		return
	}
	if c.x.done { // everything had arrived
		c.x.gaveUp("%v", err)
		c.x.finish(true)
	} else {
		c.x.fail(kind, "%v after %d messages", err, c.x.messages)
	}
	l.end(c, false)
}

func (l *loop) again(c *conn) {
	l.drop(c)
	l.begin(c)
}

// whole ends an exchange whose response is complete.
func (l *loop) whole(c *conn) {
	c.x.status = c.resp.Status
	if c.resp.Status != 200 {
		c.x.gaveUp("%s", workspace.Printable(c.resp.Reason))
		c.x.retryAfter = c.resp.RetryAfter
		status := strings.TrimSpace(fmt.Sprintf("%d %s", c.resp.Status, c.resp.Reason))
		if c.resp.RetryAfter != "" {
			status += " (Retry-After " + c.resp.RetryAfter + ")"
		}
		if body := strings.TrimSpace(start(c.x.stray)); body != "" {
			status += ": " + body
		}
		c.x.fail("status", "%s", workspace.Printable(status))
	} else {
		c.lines.flush(c.line)
		c.x.media = c.resp.ContentType
		c.x.finish(true)
	}
	l.end(c, !c.resp.Close)
}

// end frees the connection for the next plan.
func (l *loop) end(c *conn, reusable bool) {
	if c.x == nil {
		return
	}
	x := c.x
	x.ended = l.clock.now()
	c.x, c.pending = nil, nil
	if !reusable || !c.open {
		l.drop(c)
	}
	l.running--
	l.free = append(l.free, c)
	l.agenda.ended(x.index, x.ended)
	l.live.ended(l.running)
	if l.done != nil {
		l.done(x)
	}
}

// interrupt fails what is unfinished when the run has stopped.
func (l *loop) interrupt() {
	for _, c := range l.conns {
		if c.x != nil {
			c.x.fail(interrupted, "after %d messages", c.x.messages)
			l.end(c, false)
		}
	}
	for _, x := range l.out {
		if x.ended == 0 {
			x.fail(interrupted, "before it was sent")
		}
	}
}

// interrupted is the kind of the requests that somebody stopped.
const interrupted = "interrupted"

// drop closes a connection; closing takes it out of the poller.
func (l *loop) drop(c *conn) {
	delete(l.byFD, int32(c.fd))
	c.close()
}

// expire fails the exchanges that have been silent for too long.
func (l *loop) expire() {
	now := l.clock.now()
	if time.Duration(now-l.looked) < min(tick, l.idle, l.deadline) {
		return
	}
	l.looked = now
	for _, c := range l.conns {
		if c.x != nil {
			l.late(c, now)
		}
	}
}

// afterFailure is how long the end of a stream is waited for that has failed
// already, for the sake of the reference's reading of it.
const afterFailure = 5 * time.Second

// late fails an exchange that is over its time.
func (l *loop) late(c *conn, now int64) {
	idle := l.idle
	if c.x.kind != "" {
		idle = min(idle, afterFailure)
	}
	switch {
	case time.Duration(now-c.x.sent) > l.deadline:
		c.x.fail("deadline", "not ended after %v and %d messages", l.deadline, c.x.messages)
	case c.silent(now) > idle:
		c.x.fail("idle", "nothing for %v after %d messages", idle, c.x.messages)
	default:
		return
	}
	l.end(c, false)
}
