package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the longest time the loop goes without looking at its context and
// at silent requests.
const tick = 100 * time.Millisecond

// loop drives all connections from one thread: one wait, then a read and a
// stamp per ready connection. Waking a goroutine per message through the
// runtime's poller costs two thread hand-overs and doubles the read delay.
type loop struct {
	clock    clock
	boot     string
	addr     unix.Sockaddr
	idle     time.Duration
	chat     bool
	keep     bool          // keep the texts, to have them counted
	texts    bool          // keep the texts for the result
	dialect  *dialect      // of the answers, nil = OpenAI's
	deadline time.Duration // longest request
	stamps   bool          // ask the kernel for receive times
	delays   *delays
	done     func(*exchange) // after each exchange, which does not change any more
	users    int             // sessions at a time, 0 = as many as come
	live     *gauges         // what others may read while it runs
	pause    time.Duration   // longest time without any request under way between the turns of sessions, 0 = any

	poll    int
	alarm   alarm
	conns   []*conn
	byFD    map[int32]*conn
	free    []*conn // finished, waiting for the next plan
	agenda  *agenda
	origin  int64     // start of the run
	started time.Time // the same by the wall clock
	running int
	out     []*exchange
	buf     []byte
	control []byte
	events  []unix.EpollEvent
	looked  int64         // when expire last looked
	polled  time.Duration // of the last run: looking whether the next request's time has come, and nothing to do
}

// newLoop opens the poller; close releases it and all connections. A
// concurrency of 0 has as many connections as are needed at a time.
func newLoop(addr unix.Sockaddr, concurrency int) (*loop, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create", err)
	}
	timer, err := newAlarm(poll)
	if err != nil {
		unix.Close(poll)
		return nil, err
	}
	l := &loop{
		clock: newClock(), boot: bootID(), addr: addr, poll: poll, alarm: timer, users: concurrency,
		byFD: make(map[int32]*conn), delays: &delays{}, live: &gauges{},
		buf: make([]byte, readSize), control: make([]byte, 128),
		events: make([]unix.EpollEvent, 256),
	}
	for range concurrency {
		l.conns = append(l.conns, newConn(l.header))
	}
	return l, nil
}

func (l *loop) close() {
	for _, c := range l.conns {
		c.close()
	}
	l.alarm.close()
	unix.Close(l.poll)
}

// run sends all plans when their time has come and returns their exchanges in
// the order of the plans. Connections stay open for the next run, unless ctx
// has ended: then what is unfinished has failed as interrupted.
func (l *loop) run(ctx context.Context, plans []plan) ([]*exchange, error) {
	l.running, l.polled = 0, 0
	l.out = make([]*exchange, len(plans))
	for i, p := range plans {
		l.out[i] = &exchange{plan: p, index: i, chat: l.chat, keep: l.keep, texts: l.texts, dialect: l.dialect, delays: l.delays,
			prompt: -1, completion: -1, cached: -1,
			itls: make([]time.Duration, 0, p.output+8), textITLs: make([]time.Duration, 0, p.output)}
	}
	l.free = append(l.free[:0], l.conns...)
	l.started, l.origin = time.Now(), l.clock.now()
	l.agenda = newAgenda(plans, l.users, l.origin)
	l.agenda.idle = int64(l.pause)
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its priority
		prefer()
		err := l.drive(ctx)
		l.interrupt()
		ended <- err
	}()
	return l.out, <-ended
}

// drive waits, reads and sends until every plan is done.
func (l *loop) drive(ctx context.Context) error {
	idle := int64(0) // when the last look began, where it found nothing
	for l.agenda.waiting() || l.running > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := l.clock.now()
		if idle > 0 { // a look takes no longer by itself: then somebody else had the processor
			l.polled += min(time.Duration(now-idle), early)
		}
		idle = 0
		if l.launch(now) {
			// Requests that are running come before the next one is sent.
			if _, err := l.wait(0); err != nil {
				return err
			}
			continue
		}
		if l.running == 0 {
			l.agenda.hurry(now)
		}
		limit := tick
		if at := l.agenda.wake(); time.Duration(at-now) <= early {
			limit = 0 // close to the next request the loop looks instead of sleeping
		} else if err := l.alarm.set(at - int64(early)); err != nil {
			return err
		}
		found, err := l.wait(limit)
		if err != nil {
			return err
		}
		if limit == 0 && found == 0 {
			idle = now
		}
		l.expire()
	}
	return nil
}

// launch sends the request whose time has come.
func (l *loop) launch(now int64) bool {
	r, ok := l.agenda.take(now)
	if !ok {
		return false
	}
	c := l.spare()
	c.x = l.out[r.index]
	c.x.release = r
	l.running++
	l.live.sent(l.running)
	l.begin(c)
	return true
}

// spare is a connection without a request.
func (l *loop) spare() *conn {
	if len(l.free) == 0 {
		c := newConn(l.header)
		l.conns = append(l.conns, c)
		return c
	}
	c := l.free[0]
	l.free = l.free[1:]
	return c
}

// begin starts the exchange of a connection, from its first byte.
func (l *loop) begin(c *conn) {
	if c.open && c.stale() {
		l.drop(c)
	}
	c.reused = c.open
	c.pending = c.x.plan.wire
	c.resp.reset()
	c.looked = false
	c.active = l.clock.now()
	if c.x.sent == 0 { // else it is sent again, and what it waited for before counts
		c.x.sent = c.active
	}
	if !c.open {
		c.x.dialed = c.active
		if err := c.dial(l.addr); err != nil {
			c.x.fail("connect", "%v", err)
			l.end(c, false)
			return
		}
		l.byFD[int32(c.fd)] = c
		if l.stamps {
			c.wantStamps()
		}
		l.watch(c, unix.EPOLL_CTL_ADD, unix.EPOLLIN|unix.EPOLLOUT)
		return
	}
	l.flush(c)
}

// flush sends what is left of the request.
func (l *loop) flush(c *conn) {
	before := len(c.pending)
	if err := c.send(); err != nil {
		l.broken(c, "send", err)
		return
	}
	switch {
	case len(c.pending) > 0:
		l.watch(c, unix.EPOLL_CTL_MOD, unix.EPOLLIN|unix.EPOLLOUT)
	case before > 0 && (!c.reused || before < len(c.x.plan.wire)):
		l.watch(c, unix.EPOLL_CTL_MOD, unix.EPOLLIN)
	}
}

func (l *loop) watch(c *conn, op int, events uint32) {
	ev := unix.EpollEvent{Events: events, Fd: int32(c.fd)}
	if err := unix.EpollCtl(l.poll, op, c.fd, &ev); err != nil {
		c.x.fail("connect", "watch: %v", err)
		l.end(c, false)
	}
}

// wait handles what is ready, waiting for it at most limit, and returns how
// much that was.
func (l *loop) wait(limit time.Duration) (found int, err error) {
	n, err := unix.EpollWait(l.poll, l.events, int(limit/time.Millisecond))
	if err != nil {
		if errors.Is(err, unix.EINTR) {
			return 0, nil
		}
		return 0, fmt.Errorf("wait for responses: %w", os.NewSyscallError("epoll_wait", err))
	}
	for _, ev := range l.events[:n] {
		c := l.byFD[ev.Fd]
		if c == nil || c.fd != int(ev.Fd) {
			continue
		}
		l.ready(c, ev.Events)
	}
	return n, nil
}

func (l *loop) ready(c *conn, events uint32) {
	if c.x == nil { // an idle connection that the server ended
		l.drop(c)
		return
	}
	if c.dialing {
		if err := c.connected(); err != nil {
			c.x.fail("connect", "%v", err)
			l.end(c, false)
			return
		}
		c.x.connected = l.clock.now()
	}
	if events&unix.EPOLLOUT != 0 {
		if l.flush(c); c.x == nil {
			return
		}
	}
	if events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR|unix.EPOLLRDHUP) != 0 {
		l.read(c)
	}
}

// read takes what has arrived, stamps it and hands it to the exchange.
func (l *loop) read(c *conn) {
	n, kernel, err := c.recv(l.buf, l.control, l.stamps)
	now := l.clock.now()
	if errors.Is(err, errAgain) {
		return
	}
	c.active, c.x.stamp = now, now
	if err != nil {
		l.ended(c, err)
		return
	}
	if l.stamps && c.x.plan.measured {
		l.delays.arrival(kernel)
	}
	before := c.x.choices
	rest, err := c.resp.feed(l.buf[:n], c.take)
	l.live.took(c.x.choices - before)
	switch {
	case err != nil:
		c.x.fail("protocol", "%v", err)
		l.end(c, false)
	case len(rest) > 0:
		c.x.fail("protocol", "%d bytes behind the response", len(rest))
		l.end(c, false)
	case c.resp.state == atEnd:
		l.whole(c)
	case c.x.kind != "" && c.x.kind != "status" && c.x.ref.failure != "":
		l.end(c, false) // what follows a broken stream is of no use, unless the reference reads on
	}
}

// header learns from the response's header whose clock its stamps are of.
func (l *loop) header(c *conn) {
	kind, boot, _ := strings.Cut(c.resp.Clock, " ")
	if kind == "monotonic" && boot != "" && boot == l.boot {
		l.delays.trusted = true
		return
	}
	if !l.stamps && c.resp.Status == 200 && !l.delays.trusted {
		l.stamps = true
		for _, other := range l.conns {
			if other.fd >= 0 {
				other.wantStamps()
			}
		}
	}
}
