package run

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// descendants are the processes below this one that came after the value was
// made, however they call themselves: a process can leave its group, its
// session and its environment, but not its ancestors. The zero value has none.
type descendants struct {
	before map[process]bool // children that are somebody else's business
}

// adopt makes this process the one to which the kernel gives what its
// descendants leave behind, so that they stay descendants. Their zombies are
// kept until reap. Where the kernel cannot do it, marks and groups remain.
// It is for a process that does nothing else meanwhile: every child that is
// started from now on counts.
func adopt() descendants {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	d := descendants{before: map[process]bool{}}
	for _, pid := range running() {
		if k, err := kernelView(pid); err == nil && k.parent == os.Getpid() {
			d.before[process{pid, k.born}] = true
		}
	}
	return d
}

// living lists those that run.
func (d descendants) living() []int {
	if d.before == nil {
		return nil
	}
	all := map[int]kernelStat{}
	for _, pid := range running() {
		if k, err := kernelView(pid); err == nil {
			all[pid] = k
		}
	}
	var pids []int
	for pid, k := range all {
		if k.alive() && d.above(pid, all) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// above says whether the way up from a process leads here, and not through
// somebody else's child.
func (d descendants) above(pid int, all map[int]kernelStat) bool {
	for range len(all) { // what changes while it is read may look like a circle
		k, ok := all[pid]
		switch {
		case !ok || d.before[process{pid, k.born}]:
			return false
		case k.parent == os.Getpid():
			return true
		}
		pid = k.parent
	}
	return false
}

// reap takes the zombies that were left to this process. Whoever calls has
// waited for the children that it started itself.
func (d descendants) reap() {
	if d.before == nil {
		return
	}
	for _, pid := range running() {
		k, err := kernelView(pid)
		if err == nil && !k.alive() && k.parent == os.Getpid() && !d.before[process{pid, k.born}] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// end leaves none of them.
func (d descendants) end(limit time.Duration) error {
	ended := until(limit, d.living, kill)
	d.reap()
	if !ended {
		return fmt.Errorf("processes %v do not end", d.living())
	}
	return nil
}
