package bench

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// early is how long before a request's time the loop is woken, to look from
// there on: a thread that sleeps comes back tens of microseconds late.
const early = 50 * time.Microsecond

// alarm wakes the poller at a time. The poller's own timeout is in whole
// milliseconds.
type alarm struct {
	fd int
	at int64 // CLOCK_MONOTONIC, the last time set
}

func newAlarm(poll int) (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return alarm{}, os.NewSyscallError("timerfd_create", err)
	}
	// Edges: setting it again is all that a ring needs.
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		unix.Close(fd)
		return alarm{}, os.NewSyscallError("epoll_ctl", err)
	}
	return alarm{fd: fd}, nil
}

// set has the alarm ring at a time of CLOCK_MONOTONIC, once.
func (a *alarm) set(at int64) error {
	if at == a.at {
		return nil
	}
	a.at = at
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at)}
	return os.NewSyscallError("timerfd_settime", unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil))
}

func (a *alarm) close() { unix.Close(a.fd) }
