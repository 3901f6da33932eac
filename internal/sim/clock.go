package sim

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// clock is monotonic time in nanoseconds and a sleep to an absolute moment.
// Tests put a counter in its place.
type clock struct {
	now        func() int64
	sleepUntil func(deadline int64)
}

func systemClock() clock { return clock{now: monotonic, sleepUntil: sleepUntil} }

// monotonic reads CLOCK_MONOTONIC, which every process of the host shares.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("sim: CLOCK_MONOTONIC is not readable: " + err.Error())
	}
	return ts.Nano()
}

// sleepUntil returns at the deadline or as soon after it as the kernel allows;
// at once when it has passed.
func sleepUntil(deadline int64) {
	ts := unix.NsecToTimespec(deadline)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

// bootID names the running kernel: stamps of two boots, or of two machines,
// cannot be compared.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
}
