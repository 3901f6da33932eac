package bench

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread that has one core alone must not become a real-time thread there.
func TestPreferOnASingleCore(t *testing.T) {
	type answer struct {
		policy uint32
		err    error
	}
	answers := make(chan answer)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with what was changed
		var all, one unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			answers <- answer{err: err}
			return
		}
		core := 0
		for !all.IsSet(core) {
			core++
		}
		one.Set(core)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			answers <- answer{err: err}
			return
		}
		prefer()
		attr, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			answers <- answer{err: err}
			return
		}
		answers <- answer{policy: attr.Policy}
	}()
	got := <-answers
	if got.err != nil {
		t.Skipf("this system does not let a thread choose its core: %v", got.err)
	}
	if got.policy == unix.SCHED_FIFO {
		t.Error("a thread with one core became a real-time thread")
	}
}
