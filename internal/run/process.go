package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one life of a process. The time it was born tells it from a later
// one of the same number.
type process struct {
	pid  int
	born string
}

// processOf is the process that has the number now; it may be gone.
func processOf(pid int) process {
	k, err := kernelView(pid)
	if err != nil {
		return process{pid: pid}
	}
	return process{pid, k.born}
}

// alive says whether the process runs; a zombie does not.
func (p process) alive() bool {
	k, err := kernelView(p.pid)
	return err == nil && k.alive() && k.born == p.born
}

// alive says whether a process of this number runs.
func alive(pid int) bool { return processOf(pid).alive() }

// kernelStat is what the kernel says about a process.
type kernelStat struct {
	state  byte
	parent int
	group  int
	born   string // ticks since boot
}

func (k kernelStat) alive() bool { return k.state != 'Z' && k.state != 'X' }

func kernelView(pid int) (kernelStat, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return kernelStat{}, err
	}
	// The name in brackets may hold anything, brackets too.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || len(fields[0]) != 1 {
		return kernelStat{}, errors.New("unreadable process state")
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return kernelStat{}, err
	}
	group, err := strconv.Atoi(fields[2])
	return kernelStat{fields[0][0], parent, group, fields[19]}, err
}

// markName is the variable by which a job's processes are found, also those
// that left the process group.
const markName = "REFIT_JOB"

// marked lists the living processes whose mark is the given one or continues
// it behind a dot.
func marked(mark string) []int {
	var pids []int
	for _, pid := range running() {
		if k, err := kernelView(pid); err == nil && k.alive() && pid != os.Getpid() && belongs(markOf(pid), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func belongs(have, mark string) bool {
	rest, ok := strings.CutPrefix(have, mark)
	return ok && (rest == "" || rest[0] == '.')
}

// running lists the numbers of all processes.
func running() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// markOf is the mark in a process's environment, "" when it has none.
func markOf(pid int) string {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return ""
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(markName+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// family says whether a process belongs to another: it is the same, shares its
// group or its mark, or descends from it.
func (p process) family(pid int) bool {
	k, err := kernelView(p.pid)
	if err != nil {
		return pid == p.pid
	}
	mark := markOf(p.pid)
	for pid > 1 {
		other, err := kernelView(pid)
		if err != nil {
			return false
		}
		if pid == p.pid || other.group == k.group || mark != "" && markOf(pid) == mark {
			return true
		}
		pid = other.parent
	}
	return false
}

// until does something to every process of a list until the list is empty.
func until(limit time.Duration, list func() []int, do func(pid int)) bool {
	deadline := time.Now().Add(limit)
	for {
		pids := list()
		if len(pids) == 0 {
			return true
		}
		for _, pid := range pids {
			do(pid)
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may be gone by now, which is what is wanted

// killMarked leaves no process with the mark.
func killMarked(mark string, limit time.Duration) error {
	list := func() []int { return marked(mark) }
	if !until(limit, list, kill) {
		return fmt.Errorf("processes %v do not end", list())
	}
	return nil
}
