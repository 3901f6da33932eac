package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// group is everything that a job starts. Its leader is a watchdog: a shell
// that reads a pipe whose other end only this process has. When this process
// is gone, however it went, the read ends and everything of the job is killed.
type group struct {
	leader *exec.Cmd
	alive  io.Closer // closing it wakes the watchdog
	mark   string
	below  descendants // nothing unless adopted

	children sync.WaitGroup // members that start started
}

// watchdog kills what carries the job's mark, looking twice because a process
// may have been forked meanwhile, and then its own group.
const watchdog = `trap '' TERM INT HUP
read -r _
for again in 1 2; do
	for env in /proc/[0-9]*/environ; do
		pid=${env#/proc/}; pid=${pid%/environ}
		[ "$pid" = $$ ] || ! grep -zqxF "REFIT_JOB=$REFIT_JOB" "$env" || kill -KILL "$pid"
	done
done 2>/dev/null
kill -KILL 0`

// startGroup starts the watchdog alone.
func startGroup(mark string) (*group, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("process group: %w", err)
	}
	defer in.Close()
	cmd := exec.Command("/bin/sh", "-c", watchdog)
	cmd.Stdin, cmd.Env = in, []string{"PATH=/usr/bin:/bin", markName + "=" + mark}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		out.Close()
		return nil, fmt.Errorf("process group: %w", err)
	}
	return &group{leader: cmd, alive: out, mark: mark}, nil
}

// within does the work of a job, with the output of its commands to w, and
// then ends the group. The output is a pipe of our own: the work is over when
// its processes are, whoever else still holds the pipe.
func (g *group) within(w io.Writer, grace time.Duration, work func(out *os.File) error) error {
	in, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, g.end(grace))
	}
	defer in.Close()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(w, in) // w keeps its own mistakes and takes everything
	}()
	err = work(out)
	out.Close()
	ended := g.end(grace)
	if ended != nil {
		in.Close() // somebody unkillable holds the other end
	}
	<-copied
	return errors.Join(err, ended)
}

// join makes a command a member of the group, with its output to out. It dies
// with this process.
func (g *group) join(cmd *exec.Cmd, out *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.leader.Process.Pid, Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = out, out
}

// start starts a member that lives until the group ends or it ends itself.
func (g *group) start(cmd *exec.Cmd) (process, error) {
	if err := cmd.Start(); err != nil {
		return process{}, err
	}
	p := processOf(cmd.Process.Pid) // not waited for yet, so that the number is still its own
	g.children.Go(func() { _ = cmd.Wait() })
	return p, nil
}

// run runs a member until it ends; when ctx ends first the group gets TERM
// and, after grace, KILL.
func (g *group) run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
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
	g.children.Wait()
	g.below.reap()
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
	return until(grace, g.members, term) || until(grace, g.members, kill)
}

// members lists the living processes of the job without the watchdog: those
// below this process, those of the process group and those that carry the mark
// in their environment.
func (g *group) members() []int {
	pids := g.below.living()
	for _, pid := range running() {
		k, err := kernelView(pid)
		if err != nil || !k.alive() || pid == g.leader.Process.Pid || pid == os.Getpid() {
			continue
		}
		if (k.group == g.leader.Process.Pid || markOf(pid) == g.mark) && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
