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
	x       *exchange
	active  int64 // last byte in either direction
	take    func([]byte)
	line    func([]byte)
}

// newConn makes a connection that is not open; header is called before the
// first bytes of each response's body are taken.
func newConn(header func(*conn)) *conn {
	c := &conn{fd: -1}
	c.line = func(b []byte) { c.x.line(b) }
	c.take = func(b []byte) {
		if !c.looked {
			c.looked = true
			header(c)
		}
		if c.resp.Status != 200 {
			c.x.keepStray(b)
			return
		}
		if !c.lines.feed(b, c.line) {
			c.x.fail("stream", "line longer than %d bytes", maxLine)
		}
	}
	return c
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
	var b [1]byte
	n, _, err := unix.Recvfrom(c.fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return !(n < 0 && errors.Is(err, unix.EAGAIN)) // an end, an error or stray bytes
}

// send hands as much of the request to the kernel as it takes.
func (c *conn) send() error {
	for len(c.pending) > 0 {
		n, err := unix.SendmsgN(c.fd, c.pending, nil, nil, unix.MSG_NOSIGNAL)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return os.NewSyscallError("send", err)
		default:
			c.pending = c.pending[n:]
		}
	}
	return nil
}

// errAgain says that nothing is there to be read now.
var errAgain = errors.New("nothing to read")

// recv reads once. stamp is the kernel's receive time (CLOCK_REALTIME,
// nanoseconds) when stamps are on and the kernel gave one.
func (c *conn) recv(buf, control []byte, stamps bool) (n int, stamp int64, err error) {
	for {
		var oob int
		if stamps {
			n, oob, _, _, err = unix.Recvmsg(c.fd, buf, control, unix.MSG_DONTWAIT)
		} else {
			n, err = unix.Read(c.fd, buf)
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, 0, errAgain
		case err != nil:
			return 0, 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, 0, io.EOF
		}
		return n, kernelStamp(control[:oob]), nil
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
	c.lines.rest = c.lines.rest[:0]
}

// silent is how long nothing has moved.
func (c *conn) silent(now int64) time.Duration { return time.Duration(now - c.active) }
