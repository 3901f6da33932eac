package bench

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel is called here for every read and every request. None of these
// calls waits, so the scheduler of goroutines is not told of them, and none
// allocates, as the general wrappers do for an address nobody wants.

// readNow reads what has arrived, at most len(buf) bytes.
func readNow(fd int, buf []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)))
	return int(n), errno
}

// sendNow hands the kernel as much as it takes.
func sendNow(fd int, p []byte) (int, unix.Errno) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
	return int(n), errno
}

// peekNow looks at the first byte that has arrived, without taking it.
func peekNow(fd int) (int, unix.Errno) {
	var b [1]byte
	const flags = unix.MSG_DONTWAIT | unix.MSG_PEEK
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1, flags, 0, 0)
	return int(n), errno
}

// stamped reads with control messages, in which the kernel's receive time is.
type stamped struct {
	header unix.Msghdr
	vector unix.Iovec
}

// readNow reads what has arrived and returns the bytes of control messages.
func (s *stamped) readNow(fd int, buf, control []byte) (n, controls int, errno unix.Errno) {
	s.vector.Base = unsafe.SliceData(buf)
	s.vector.SetLen(len(buf))
	s.header = unix.Msghdr{Iov: &s.vector, Control: unsafe.SliceData(control)}
	s.header.SetIovlen(1)
	s.header.SetControllen(len(control))
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.header)), unix.MSG_DONTWAIT)
	return int(got), int(s.header.Controllen), errno
}
