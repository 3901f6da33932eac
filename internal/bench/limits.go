package bench

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// lifted counts the runs that may have raised the limit of open files. The
// limit is the process's: the first of them remembers it, the last one puts it
// back.
var lifted struct {
	sync.Mutex
	runs   int
	before unix.Rlimit // when the first of them began
	raised unix.Rlimit // as one of them left it; zero = nobody raised it
}

// holdFileLimit has the limit of open files put back by the function that it
// returns, unless somebody else has changed it by then.
func holdFileLimit() (release func()) {
	lifted.Lock()
	defer lifted.Unlock()
	if lifted.runs++; lifted.runs == 1 {
		lifted.raised = unix.Rlimit{}
		if unix.Getrlimit(unix.RLIMIT_NOFILE, &lifted.before) != nil {
			lifted.before = unix.Rlimit{}
		}
	}
	return func() {
		lifted.Lock()
		defer lifted.Unlock()
		if lifted.runs--; lifted.runs > 0 || lifted.raised == (unix.Rlimit{}) || lifted.before == (unix.Rlimit{}) {
			return
		}
		var now unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_NOFILE, &now) == nil && now == lifted.raised {
			_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &lifted.before) // everybody may lower it
		}
	}
}

// raised is the limit of open files after trying to have it raised: beyond the
// hard limit, which only a privileged process may, else up to it.
func raised(limit unix.Rlimit, want uint64) unix.Rlimit {
	lifted.Lock()
	defer lifted.Unlock()
	for _, try := range []unix.Rlimit{{Cur: want, Max: max(want, limit.Max)}, {Cur: limit.Max, Max: limit.Max}} {
		if try != limit && unix.Setrlimit(unix.RLIMIT_NOFILE, &try) == nil {
			lifted.raised = try
			return try
		}
	}
	return limit
}

// moreSlots has at least so many goroutines run at a time until the function
// that it returns is called.
func moreSlots(least int) (restore func()) {
	before := runtime.GOMAXPROCS(0)
	if before >= least {
		return func() {}
	}
	chosen := chosenByTheRuntime(before)
	runtime.GOMAXPROCS(least)
	return func() {
		if chosen {
			runtime.SetDefaultGOMAXPROCS()
			return
		}
		runtime.GOMAXPROCS(before)
	}
}

// chosenByTheRuntime says whether the number of slots follows the processors
// that this process may use. A number that somebody sets is fixed from then on,
// and the runtime does not tell which of the two it is: it is asked to choose
// again, and the numbers are compared.
func chosenByTheRuntime(slots int) bool {
	if os.Getenv("GOMAXPROCS") != "" {
		return false
	}
	runtime.SetDefaultGOMAXPROCS()
	return runtime.GOMAXPROCS(0) == slots
}
