package bench

import (
	"errors"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// conn is one reusable connection, read and written without blocking by the
// loop's thread only.
type conn struct {
	fd      int
	open    bool // connected at least once and not ended
	dialing bool
	reused  bool   // the running exchange found the connection open
	pending []byte // of the request, not yet taken by the kernel
	resp    response
	looked  bool // at the header of the running response
	lines   lines
	shape   shape     // of the messages that come
	gzip    *inflater // of the running response, nil = its body is plain
	x       *exchange
	active  int64 // last byte in either direction
	stamped stamped
	take    func([]byte)
	plain   func([]byte) // takes the body without its coding
	line    func([]byte)
}

// newConn makes a connection that is not open; header is called before the
// first bytes of each response's body are taken.
func newConn(header func(*conn)) *conn {
	c := &conn{fd: -1}
	c.line = func(b []byte) { c.x.line(b) }
	c.plain = func(b []byte) {
		if c.resp.Status != 200 {
			c.x.keepStray(b)
			return
		}
		if c.lines.between() {
			if b = c.x.known(b); len(b) == 0 {
				return
			}
		}
		if !c.lines.feed(b, c.line) {
			c.x.gaveUp("line longer than %d bytes", maxLine)
			c.x.fail("stream", "line longer than %d bytes", maxLine)
		}
	}
	c.take = func(b []byte) {
		if !c.looked {
			c.looked = true
			header(c)
			c.beginBody()
		}
		if c.gzip == nil {
			c.plain(b)
		} else if err := c.gzip.feed(b, c.plain); err != nil && c.resp.Status == 200 {
			c.x.fail("protocol", "gzip: %v", err)
		}
	}
	return c
}

// beginBody prepares for the body of a response.
func (c *conn) beginBody() {
	c.lines.reset()
	c.x.shape = &c.shape
	c.gzip = c.gzip.close()
	if c.resp.Gzip {
		c.gzip = newInflater()
	}
}

// dial starts a connection; the answer comes as writability.
func (c *conn) dial(addr unix.Sockaddr) error {
	family := unix.AF_INET
	if _, six := addr.(*unix.SockaddrInet6); six {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		unix.Close(fd)
		return os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Connect(fd, addr); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		unix.Close(fd)
		return os.NewSyscallError("connect", err)
	}
	c.fd, c.dialing, c.open = fd, true, false
	return nil
}

// connected asks how a started connection ended up.
func (c *conn) connected() error {
	code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if code != 0 {
		return os.NewSyscallError("connect", unix.Errno(code))
	}
	c.dialing, c.open = false, true
	return nil
}

// stale says whether an idle connection was ended by the other side.
func (c *conn) stale() bool {
	_, errno := peekNow(c.fd)
	return errno != unix.EAGAIN // an end, an error or stray bytes
}

// send hands as much of the request to the kernel as it takes.
func (c *conn) send() error {
	for len(c.pending) > 0 {
		n, errno := sendNow(c.fd, c.pending)
		switch errno {
		case 0:
			c.pending = c.pending[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			return nil
		default:
			return os.NewSyscallError("send", errno)
		}
	}
	return nil
}

// readSize is the most that one read takes. A loopback can hold more; it is read
// in turns, so that no connection keeps the others waiting for long.
const readSize = 256 << 10

// errAgain says that nothing is there to be read now.
var errAgain = errors.New("nothing to read")

// recv reads once. stamp is the kernel's receive time (CLOCK_REALTIME,
// nanoseconds) when stamps are on and the kernel gave one.
func (c *conn) recv(buf, control []byte, stamps bool) (n int, stamp int64, err error) {
	for {
		var errno unix.Errno
		controls := 0
		if stamps {
			n, controls, errno = c.stamped.readNow(c.fd, buf, control)
		} else {
			n, errno = readNow(c.fd, buf)
		}
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			return 0, 0, errAgain
		case errno != 0:
			return 0, 0, os.NewSyscallError("read", errno)
		case n == 0:
			return 0, 0, io.EOF
		}
		return n, kernelStamp(control[:controls]), nil
	}
}

// wantStamps asks the kernel for receive times on this connection.
func (c *conn) wantStamps() {
	// A kernel that cannot is one that gives none.
	_ = unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// kernelStamp finds the receive time in a control message, 0 when absent.
func kernelStamp(control []byte) int64 {
	const header = unix.SizeofCmsghdr
	if len(control) < header+int(unsafe.Sizeof(unix.Timespec{})) {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SO_TIMESTAMPNS {
		return 0
	}
	ts := *(*unix.Timespec)(unsafe.Pointer(&control[header]))
	return ts.Nano()
}

func (c *conn) close() {
	if c.fd >= 0 {
		unix.Close(c.fd)
	}
	c.fd, c.open, c.dialing, c.pending = -1, false, false, nil
	c.resp.reset()
	c.lines.reset()
	c.gzip = c.gzip.close()
}

// silent is how long nothing has moved.
func (c *conn) silent(now int64) time.Duration { return time.Duration(now - c.active) }
