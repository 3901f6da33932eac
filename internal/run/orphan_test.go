package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// strangerScript starts, by way of a shell that ends at once, a process with
// nothing by which it could be found: another session, no environment, no
// descriptor of the job's. It names the job's process, itself and that one, and
// goes on when that one has been named.
const strangerScript = `echo $PPID > "$RUN_TEST_PIDS"; echo $$ > "$RUN_TEST_PIDS"
mkfifo "$PWD/up"
( setsid env -i /bin/sh -c 'echo $$ > "$0"; echo up > "$1"; exec sleep 1000' "$RUN_TEST_PIDS" "$PWD/up" < /dev/null > /dev/null 2>&1 & )
read -r _ < "$PWD/up"
`

func (l *lab) strangers(more string) named {
	l.t.Helper()
	pids := l.victimTree()
	l.commit("strangers", map[string]string{scriptDir + "tiny_fp8_cpu_sim.sh": strangerScript + more})
	return pids
}

// gone fails when a process is there, dead or alive.
func gone(t *testing.T, pid int) {
	t.Helper()
	if k, err := kernelView(pid); pid == 0 || err == nil {
		t.Errorf("process %d is left, in state %c", pid, k.state)
	}
}

func TestStrangerOfAJobEnds(t *testing.T) {
	const stay = "exec sleep 1000\n"
	for _, c := range []struct {
		name, more string
		whom       int // of the job's process, the recipe, the stranger
		signal     syscall.Signal
		want       string
	}{
		{"recipe-ends", "exit 0\n", 2, 0, "c1: recipe left no "},
		{"recipe-killed", stay, 1, syscall.SIGKILL, "it was ended by the signal: killed"},
		{"job-told-to-end", stay, 0, syscall.SIGTERM, "job told to end: terminated signal received"},
		{"job-killed", stay, 0, syscall.SIGKILL, "job process: signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			pids := l.strangers(c.more)
			seen := make(chan []int, 1)
			go func() {
				p := pids.read(t, 3)
				if len(p) == 3 {
					_ = syscall.Kill(p[c.whom], c.signal)
				}
				seen <- p
			}()
			var log strings.Builder
			err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", l.git("rev-parse", "HEAD")), &log).Run(context.Background())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q\n%s", err, c.want, log.String())
			}
			for _, pid := range <-seen {
				gone(t, pid)
			}
		})
	}
}

// The whole run is killed: its job, told so by the kernel, ends the stranger.
func TestStrangerOfAKilledRunEnds(t *testing.T) {
	l := newLab(t)
	pids := l.strangers("exec sleep 1000\n")
	event := fmt.Sprintf(`{"inputs": {"generate-cli-command": "test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", "test-name": "refit-p1-a", "ref": %q},
		"ref": "refs/heads/main", "repository": {"default_branch": "main"}}`, l.git("rev-parse", "HEAD"))
	cmd := exec.Command(os.Args[0], "ci", l.dir, event)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := pids.read(t, 3)
	if len(p) != 3 {
		t.Fatalf("processes %v, want three", p)
	}
	of := []process{processOf(p[0]), processOf(p[1]), processOf(p[2])}
	cmd.Process.Kill()
	cmd.Wait()
	left := func() (pids []int) {
		for _, o := range of {
			if o.alive() {
				pids = append(pids, o.pid)
			}
		}
		return pids
	}
	if !until(time.Minute, left, func(int) {}) {
		t.Errorf("processes %v are left", left())
	}
}

// What was there before a job is none of its descendants.
func TestDescendantsAreOfTheJob(t *testing.T) {
	other := sleeper(t)
	d := adopt()
	if got := d.living(); len(got) != 0 {
		t.Errorf("processes %v came before", got)
	}
	own := exec.Command("sh", "-c", "sleep 1000 & echo; wait")
	out, err := own.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if got := d.living(); len(got) != 2 || !slices.Contains(got, own.Process.Pid) {
		t.Errorf("got %v, want %d and its child", got, own.Process.Pid)
	}
	if got := (descendants{}).living(); len(got) != 0 {
		t.Errorf("processes %v of a process that adopted none", got)
	}
	defer own.Wait() // reaped already
	if err := d.end(time.Minute); err != nil || len(d.living()) != 0 || !alive(other.Process.Pid) {
		t.Errorf("ended with %v, %v are left, alive what came before: %v", err, d.living(), alive(other.Process.Pid))
	}
}
