package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// markName is the variable by which a job's processes are found, also those
// that left the process group.
const markName = "REFIT_JOB"

// group is everything that a job starts. Its leader is a watchdog: a shell
// that reads a pipe whose other end only this process has. When this process
// is gone, however it went, the read ends and the group is killed.
type group struct {
	leader *exec.Cmd
	alive  io.Closer // closing it wakes the watchdog
	mark   string
}

// startGroup starts the watchdog alone.
func startGroup(mark string) (*group, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("process group: %w", err)
	}
	defer in.Close()
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM INT HUP; read -r _; kill -KILL 0")
	cmd.Stdin, cmd.Env = in, []string{"PATH=/usr/bin:/bin", markName + "=" + mark}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		out.Close()
		return nil, fmt.Errorf("process group: %w", err)
	}
	return &group{leader: cmd, alive: out, mark: mark}, nil
}

// runInto runs a command inside the group, with all its output to w, and then
// ends the group. The output is a pipe of our own: the command is over when
// its process is, whoever else still holds the pipe.
func (g *group) runInto(ctx context.Context, cmd *exec.Cmd, w io.Writer, grace time.Duration) error {
	in, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, g.end(grace))
	}
	defer in.Close()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(w, in) // a log that cannot be written is no reason to stop
	}()
	cmd.Stdout, cmd.Stderr = out, out
	err = g.run(ctx, cmd, grace)
	out.Close()
	ended := g.end(grace)
	if ended != nil {
		in.Close() // somebody unkillable holds the other end
	}
	<-copied
	return errors.Join(err, ended)
}

// run runs a command inside the group until it ends; when ctx ends first the
// group gets TERM and, after grace, KILL.
func (g *group) run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.leader.Process.Pid, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	g.terminate(grace)
	<-ended
	return context.Cause(ctx)
}

// end leaves no process of the group and releases the watchdog. It returns an
// error when some cannot be killed.
func (g *group) end(grace time.Duration) error {
	defer g.leader.Wait()
	defer g.alive.Close()
	if !g.terminate(grace) {
		return fmt.Errorf("processes %v do not end", g.members())
	}
	return nil
}

// terminate sends TERM once to every member, also to those that start while
// it waits, and after grace KILL. It says whether all are gone.
func (g *group) terminate(grace time.Duration) bool {
	told := map[int]bool{}
	term := func(pid int) {
		if !told[pid] {
			told[pid] = true
			_ = syscall.Kill(pid, syscall.SIGTERM) // it may be gone by now, which is what is wanted
		}
	}
	kill := func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }
	return g.until(grace, term) || g.until(grace, kill)
}

// until does something to every member until none is left.
func (g *group) until(limit time.Duration, do func(pid int)) bool {
	deadline := time.Now().Add(limit)
	for {
		pids := g.members()
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

// members lists the living processes of the job without the watchdog: those
// of the process group and those that carry the mark in their environment.
func (g *group) members() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == g.leader.Process.Pid || pid == os.Getpid() {
			continue
		}
		state, pgrp, err := processState(pid)
		if err != nil || state == 'Z' || state == 'X' {
			continue
		}
		if pgrp == g.leader.Process.Pid || g.marked(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (g *group) marked(pid int) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	want := []byte(markName + "=" + g.mark)
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(kv, want) {
			return true
		}
	}
	return false
}

// processState reads a process's state letter and group from the kernel.
func processState(pid int) (state byte, pgrp int, err error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, err
	}
	// The name in brackets may hold anything, brackets too.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0, errors.New("unreadable process state")
	}
	pgrp, err = strconv.Atoi(fields[2])
	return fields[0][0], pgrp, err
}
