package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/result"
)

// victimScript starts an engine that never answers and a child that leaves the
// group, and names its processes: the job's own, itself, the child. The engine
// names itself when it is asked for something.
const victimScript = `source "$(dirname "$0")/../../benchmark_lib.sh"
touch "$TMPDIR/scratch" "$HOME/scratch"
setsid sleep 1000 &
echo $PPID > "$RUN_TEST_PIDS"; echo $$ > "$RUN_TEST_PIDS"; echo $! > "$RUN_TEST_PIDS"; echo $PORT > "$RUN_TEST_PIDS"
testengine --port "$PORT" --stall "$RUN_TEST_PIDS" > "$PWD/server.log" 2>&1 &
SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$PWD/server.log" --server-pid "$SERVER_PID"
run_benchmark_serving --model "$MODEL" --port "$PORT" --input-len "$ISL" --output-len "$OSL" --num-prompts 20 \
    --num-warmups 0 --max-concurrency "$CONC" --result-filename "$RESULT_FILENAME" --result-dir "$PWD/" || exit 1
`

const declaredVictim = `version: 1
server:
  command: [testengine, --port, "${PORT}", --stall, %q]
`

// victims are the processes of a job at the moment its engine is asked.
type victims struct {
	job, bash, outsider, port, engine int
	mark                              string
	dir                               string // of the job
}

// strike runs a job until its engine is asked for the first time, lets strike
// do something about it, and returns how the run ended.
func (l *lab) strike(pids named, do func(victims), read func() victims) (victims, string, error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	struck := make(chan victims, 1)
	go func() {
		v := read()
		v.mark = markOf(v.engine)
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", v.engine)); err == nil {
			v.dir = filepath.Dir(cwd)
		}
		do(v)
		struck <- v
	}()
	var log strings.Builder
	err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", l.git("rev-parse", "HEAD")), &log).Run(ctx)
	return <-struck, log.String(), err
}

// nothingLeft checks processes, port and folders of a job that is over.
func nothingLeft(t *testing.T, v victims) {
	t.Helper()
	if v.mark == "" || v.dir == "" {
		t.Fatalf("the job was not seen: %+v", v)
	}
	if pids := marked(v.mark); len(pids) != 0 {
		t.Errorf("processes %v carry the job's mark", pids)
	}
	for _, pid := range []int{v.job, v.bash, v.outsider, v.engine} {
		if pid != 0 && alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if v.port != 0 {
		if err := released(v.port, 0); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"home", "tmp"} {
		if _, err := os.Stat(filepath.Join(v.dir, name)); !os.IsNotExist(err) {
			t.Errorf("the job's %s is left: %v", name, err)
		}
	}
}

func (l *lab) victimTree() named {
	l.t.Helper()
	pids := fifo(l.t)
	l.t.Setenv("RUN_TEST_PIDS", pids.path)
	files := tree()
	files["refit.yaml"] = "evals: {lengths: [8/4], floor: 1, task: arith, data: {path: data/arith.jsonl}}\njobs: {env: [RUN_TEST_PIDS]}\n"
	files["benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.sh"] = victimScript
	l.commit("start", files)
	return pids
}

func (n named) victims(t *testing.T) func() victims {
	return func() victims {
		p := n.read(t, 5)
		if len(p) != 5 {
			return victims{}
		}
		return victims{job: p[0], bash: p[1], outsider: p[2], port: p[3], engine: p[4]}
	}
}

func TestKilledAnywhereLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		whom   func(victims) int
		signal syscall.Signal
		want   string // of the error
		result string
	}{
		{"job-told-to-end", func(v victims) int { return v.job }, syscall.SIGTERM, "c1: job told to end: terminated signal received", result.Cancelled},
		{"job-killed", func(v victims) int { return v.job }, syscall.SIGKILL, "job process: signal: killed", result.Failed},
		{"bash-told-to-end", func(v victims) int { return v.bash }, syscall.SIGTERM, "", result.Failed},
		{"bash-killed", func(v victims) int { return v.bash }, syscall.SIGKILL, "recipe ended with exit code -1: it was ended by the signal: killed", result.Failed},
		{"engine-told-to-end", func(v victims) int { return v.engine }, syscall.SIGTERM, "engine died during the load: ValueError: the log's own reason", result.Failed},
		{"engine-killed", func(v victims) int { return v.engine }, syscall.SIGKILL, "engine died during the load: ValueError: the log's own reason", result.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			pids := l.victimTree()
			v, log, err := l.strike(pids, func(v victims) { _ = syscall.Kill(c.whom(v), c.signal) }, pids.victims(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q\n%s", err, c.want, log)
			}
			nothingLeft(t, v)
			run, err := result.ReadRun(l.artifacts())
			if err != nil || len(run.Rows) != 1 || run.Rows[0].Result != c.result {
				t.Errorf("rows %+v, %v; want one %s", run.Rows, err, c.result)
			}
			if left, _ := os.ReadDir(l.work()); len(left) != 0 {
				t.Errorf("left in the work folder: %v", left)
			}
		})
	}
}

// The engine of a declarative recipe is the job's own child.
func TestDeclaredEngineKilled(t *testing.T) {
	l := newLab(t)
	pids := fifo(t)
	files := tree()
	delete(files, "benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.sh")
	files["benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.yaml"] = fmt.Sprintf(declaredVictim, pids.path)
	l.commit("start", files)
	v, log, err := l.strike(pids, func(v victims) { _ = syscall.Kill(v.engine, syscall.SIGKILL) }, func() victims {
		if p := pids.read(t, 1); len(p) == 1 {
			return victims{engine: p[0]}
		}
		return victims{}
	})
	if err == nil || !strings.Contains(err.Error(), "tiny-fp8-cpu-sim c1: engine died during the load") {
		t.Errorf("got %v\n%s", err, log)
	}
	nothingLeft(t, v)
	run, err := result.ReadRun(l.artifacts())
	if err != nil || len(run.Rows) != 1 || run.Rows[0].Result != result.Failed {
		t.Errorf("rows %+v, %v; want one that failed", run.Rows, err)
	}
}

// Nobody is there to clean up when the whole run is killed: its job does it.
func TestKilledRunLeavesNoProcess(t *testing.T) {
	l := newLab(t)
	pids := l.victimTree()
	event, err := json.Marshal(dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", l.git("rev-parse", "HEAD")))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0], "ci", l.dir, string(event))
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := pids.victims(t)()
	v.mark = markOf(v.job)
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", v.engine)); err == nil {
		v.dir = filepath.Dir(cwd)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !until(time.Minute, func() []int { return marked(v.mark) }, func(int) {}) {
		t.Errorf("processes %v are left\n%s", marked(v.mark), said.String())
	}
	nothingLeft(t, v)
	clearWork(l.work())
	if left, _ := os.ReadDir(l.work()); len(left) != 0 {
		t.Errorf("the next run leaves the folders of the killed one: %v", left)
	}
}

// Both are killed at once: the watchdog alone is left to end the others.
func TestKilledRunAndJobLeaveNoProcess(t *testing.T) {
	l := newLab(t)
	pids := l.victimTree()
	event, err := json.Marshal(dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", l.git("rev-parse", "HEAD")))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "ci", l.dir, string(event))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := pids.victims(t)()
	mark := markOf(v.job)
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGSTOP) // so that it sweeps nothing
	_ = syscall.Kill(v.job, syscall.SIGKILL)
	cmd.Process.Kill()
	cmd.Wait()
	if mark == "" || !until(time.Minute, func() []int { return marked(mark) }, func(int) {}) {
		t.Errorf("processes %v with the mark %q are left", marked(mark), mark)
	}
	for _, pid := range []int{v.bash, v.outsider, v.engine} {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if err := released(v.port, 0); err != nil {
		t.Error(err)
	}
}

func TestWorkOfALivingRunIsLeftAlone(t *testing.T) {
	base := t.TempDir()
	living, release, err := workDir(base)
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(base, workPrefix+"dead")
	for _, dir := range []string{filepath.Join(dead, "job-1", "tmp"), filepath.Join(base, workPrefix+"of-another-program")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dead, ownerFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	clearWork(base)
	check := func(path string, want bool) {
		t.Helper()
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want there: %v", path, err, want)
		}
	}
	check(living, true)
	check(dead, false)
	check(filepath.Join(base, workPrefix+"of-another-program"), true)
	if err := release(); err != nil {
		t.Error(err)
	}
	check(living, false)
}
