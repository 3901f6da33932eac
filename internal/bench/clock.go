package bench

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clock reads CLOCK_MONOTONIC without a system call. Go's own monotonic time
// is that clock, counted from the process's start; the distance is measured
// once. A direct system call per read would be ten times dearer.
type clock struct {
	base   time.Time
	offset int64 // CLOCK_MONOTONIC at base, nanoseconds
}

func newClock() clock {
	c := clock{base: time.Now()}
	best := int64(1 << 62)
	for range 16 { // the tightest bracket of several wins
		var ts unix.Timespec
		before := time.Since(c.base)
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			continue
		}
		after := time.Since(c.base)
		if width := int64(after - before); width < best {
			best = width
			c.offset = ts.Nano() - int64(before+after)/2
		}
	}
	return c
}

// now is CLOCK_MONOTONIC in nanoseconds.
func (c clock) now() int64 { return int64(time.Since(c.base)) + c.offset }

// bootID names the running kernel: two processes with the same one share
// CLOCK_MONOTONIC. Empty when it cannot be read.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// cpuTime is the processor time of this process so far, user and system.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
