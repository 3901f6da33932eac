package run

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/matrix"
)

// named is a pipe with a name, to learn something from a process without
// looking again and again.
type named struct{ path string }

func fifo(t *testing.T) named {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return named{path}
}

// read reads n numbers; writers open and close the pipe as they like.
func (n named) read(t *testing.T, want int) []int {
	f, err := os.OpenFile(n.path, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer f.Close()
	var pids []int
	lines := bufio.NewScanner(f)
	for len(pids) < want && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Error(err)
			return pids
		}
		pids = append(pids, pid)
	}
	return pids
}

func row() matrix.Row {
	var r matrix.Row
	for _, f := range []struct {
		name  string
		value any
	}{{"image", "lab/engine:v1"}, {"model", "lab/tiny"}, {"model-prefix", "tiny"}, {"precision", "fp8"}, {"framework", "sim"},
		{"spec-decoding", "none"}, {"runner", "cpu"}, {"isl", 8}, {"osl", 4}, {"tp", 2}, {"pp", 1}, {"dcp-size", 1}, {"pcp-size", 3}, {"ep", 1},
		{"dp-attn", false}, {"conc", 4}, {"max-model-len", 20}, {"exp-name", "tiny_8x4"}, {"disagg", false}} {
		r.Set(f.name, f.value)
	}
	return r
}

func job(dir string) Job {
	return Job{Version: JobVersion, Name: "r", Family: "f", Key: strings.Repeat("a", 64), Row: row(), Throughput: true, Image: "lab/engine:v1",
		Checkout: filepath.Join(dir, "checkout"), Out: filepath.Join(dir, "out"), Script: "benchmarks/r.sh", Env: []string{"PATH=/image/bin", "API_TOKEN=swordfish"}}
}

func TestContract(t *testing.T) {
	j := job("/j")
	j.Eval, j.Throughput = true, false
	j.Provenance.Runner = "cpu_local"
	env := contract(j, 4711)
	for name, want := range map[string]string{
		"MODEL": "lab/tiny", "TP": "2", "PCP_SIZE": "3", "GPU_COUNT": "6", "CONC": "4", "ISL": "8", "OSL": "4", "MAX_MODEL_LEN": "20",
		"EVAL_MAX_MODEL_LEN": "268", "RUN_EVAL": "true", "EVAL_ONLY": "true", "DISAGG": "false", "DP_ATTENTION": "false", "PORT": "4711",
		"RESULT_FILENAME": "r", "RUNNER_TYPE": "cpu", "RUNNER_NAME": "cpu_local", "SCENARIO_TYPE": "fixed-seq-len", "IS_AGENTIC": "0", "RANDOM_RANGE_RATIO": "0.8",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("REFIT_TEST_LEAK", "x")
	t.Setenv("PATH", "/host/bin")
	j := job("/j")
	env := environMap(j.environment(contract(j, 1), "/bin/refit", "mark"))
	if _, ok := env["REFIT_TEST_LEAK"]; ok {
		t.Error("a variable of this process reached the recipe")
	}
	for name, want := range map[string]string{"PATH": "/image/bin:/host/bin", "HOME": "/j/home", "TMPDIR": "/j/tmp", "REFIT": "/bin/refit", markName: "mark", "API_TOKEN": "swordfish"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if got := string(j.hideSecrets([]byte("token swordfish here"))); got != "token *** here" {
		t.Errorf("hidden: %q", got)
	}
}

func TestResultName(t *testing.T) {
	got := resultName(row(), strings.Repeat("0123456789abcdef", 4), "cpu_local")
	want := "tiny_8x4_fp8_sim_tp2-pp1-dcp1-pcp3-ep1-dpafalse_disagg-false_spec-none_conc4_cpu_local_recipe-0123456789abcdef"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	evil := row()
	evil.Set("exp-name", "../x y")
	if got := resultName(evil, "", "r"); strings.ContainsAny(got, "/ ") || got[0] == '.' {
		t.Errorf("got %q", got)
	}
}

func TestLoadJobIsStrict(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "job.json")
	check := func(name string, change func(*Job), want string) {
		t.Helper()
		j := job(dir)
		change(&j)
		if err := writeJSON(path, j); err != nil {
			t.Fatal(err)
		}
		_, err := LoadJob(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	check("as it is", func(*Job) {}, "")
	check("version", func(j *Job) { j.Version = 9 }, "version 9")
	check("name", func(j *Job) { j.Name = "../r" }, "no file name")
	check("nothing asked", func(j *Job) { j.Throughput = false }, "neither throughput nor eval")
	check("script", func(j *Job) { j.Script = "../../x.sh" }, "does not lie in the checkout")
	check("relative", func(j *Job) { j.Out = "out" }, "absolute")
	check("environment", func(j *Job) { j.Env = []string{"x"} }, "NAME=value")
	check("multi-node", func(j *Job) { j.Row.Set("prefill", row()) }, "multi-node")
	for _, more := range []string{"{}", "]", "x", "\x00"} {
		if err := writeJSON(path, job(dir)); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(src, more...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadJob(path); err == nil || !strings.HasSuffix(err.Error(), path+": more than one JSON value") {
			t.Errorf("%q after the object: got %v", more, err)
		}
	}
	if err := os.WriteFile(path, []byte(`{"version": 1, "nmae": "r"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadJob(path); err == nil || !strings.Contains(err.Error(), "nmae") {
		t.Errorf("unknown key: got %v", err)
	}
}

func TestWatchdogEndsTheGroupOfADeadJob(t *testing.T) {
	g, err := startGroup("mark-of-a-dead-job")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.leader.Process.Pid}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.alive.Close() // what happens when the job's process is gone
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	g.leader.Wait()
}

func TestWaitReady(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) (pid int, log string) {
		t.Helper()
		log = filepath.Join(dir, fmt.Sprintf("%d.log", len(args)))
		f, err := os.Create(log)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = f, f
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd.Process.Pid, log
	}
	wait := func(port, pid int, log string) (string, error) {
		var out, said strings.Builder
		err := WaitReadyCommand(context.Background(), []string{"--port", strconv.Itoa(port), "--pid", strconv.Itoa(pid), "--log", log, "--every", "5ms"}, &out, &said)
		return out.String() + said.String(), err
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	pid, log := start(self, "engine", "--port", strconv.Itoa(port))
	if out, err := wait(port, pid, log); err != nil || !strings.Contains(out, "engine ready after") {
		t.Errorf("ready: %q, %v", out, err)
	}
	free, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	pid, log = start(self, "engine", "--port", strconv.Itoa(free), "--fail", "ValueError: no such model")
	if out, err := wait(free, pid, log); err == nil || !strings.Contains(err.Error(), "engine died before it was ready: ValueError: no such model") || !strings.Contains(out, "no such model") {
		t.Errorf("died: %q, %v", out, err)
	}
	pid, log = start("sh", "-c", "echo 'serve: error: unrecognized arguments: --graph'; exec sleep 1000", "1", "2", "3")
	if _, err := wait(free, pid, log); err == nil || !strings.Contains(err.Error(), "cannot become ready: serve: error: unrecognized arguments: --graph") {
		t.Errorf("fatal line: %v", err)
	}
}

func TestLastLines(t *testing.T) {
	check := func(in string, n int, want string) {
		t.Helper()
		if got := string(lastLines([]byte(in), n)); got != want {
			t.Errorf("last %d of %q: %q, want %q", n, in, got, want)
		}
	}
	check("a\nb\nc\n", 2, "b\nc")
	check("a\nb\nc", 5, "a\nb\nc")
	check("", 5, "")
}

func TestTimeLimit(t *testing.T) {
	dir := t.TempDir()
	j := job(dir)
	j.TimeLimit = time.Millisecond
	if err := os.MkdirAll(filepath.Join(j.Checkout, "benchmarks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(j.Checkout, j.Script), []byte("sleep 1000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Execute(context.Background(), j, Deps{Refit: "refit", Now: time.Now, Grace: 5 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "time limit of 1ms is over") {
		t.Errorf("got %v", err)
	}
}

func TestPortIsFreeAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := released(port, 0); err == nil || !strings.Contains(err.Error(), "still in use") {
		t.Errorf("in use: %v", err)
	}
	l.Close()
	if err := released(port, time.Second); err != nil {
		t.Error(err)
	}
}
