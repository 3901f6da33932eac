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

// broken fails the exchange, unless the server had closed a connection that
// was kept open: then the request is sent once more on a new one.
func (l *loop) broken(c *conn, kind string, err error) {
	if c.reused && !c.resp.started() {
		l.again(c)
		return
	}
	if c.x.done { // everything had arrived
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
	if c.resp.Status != 200 {
		status := strings.TrimSpace(fmt.Sprintf("%d %s", c.resp.Status, c.resp.Reason))
		if body := strings.TrimSpace(start(c.x.stray)); body != "" {
			status += ": " + body
		}
		c.x.fail("status", "%s", workspace.Printable(status))
	} else {
		c.lines.flush(c.line)
		c.x.finish(true)
	}
	l.end(c, !c.resp.Close)
}

// end frees the connection for the next plan.
func (l *loop) end(c *conn, reusable bool) {
	if c.x == nil {
		return
	}
	c.x, c.pending = nil, nil
	if !reusable || !c.open {
		l.drop(c)
	}
	l.running--
	l.free = append(l.free, c)
	if l.done != nil {
		l.done()
	}
}

// drop closes a connection; closing takes it out of the poller.
func (l *loop) drop(c *conn) {
	delete(l.byFD, int32(c.fd))
	c.close()
}

// expire fails the exchanges that have been silent for too long.
func (l *loop) expire() {
	now := l.clock.now()
	if time.Duration(now-l.looked) < min(tick, l.idle) {
		return
	}
	l.looked = now
	for _, c := range l.conns {
		if c.x != nil && c.silent(now) > l.idle {
			c.x.fail("idle", "nothing for %v after %d messages", l.idle, c.x.messages)
			l.end(c, false)
		}
	}
}
