package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/workspace"
)

// notRun are the examples that TestExamples leaves out, with who runs them.
var notRun = map[string]string{
	"refit lab":                         "CI runs the lab as a step of its own",
	"refit lab --dir .refit-lab --json": "the same lab",
	"refit job run job.json":            "every point of a `refit ci` example is one",
}

// Every example of every command's help works. The names of the lab are
// replaced by those of the toy workspace, which is measured in seconds.
func TestExamples(t *testing.T) {
	var first, rest []string // what shows an upgrade needs one
	for _, line := range examples(commands(env{os.Stdin, io.Discard, io.Discard, time.Now})) {
		switch {
		case notRun[line] != "":
			t.Logf("not run here: %s (%s)", line, notRun[line])
		case strings.HasPrefix(line, "refit upgrade "):
			first = append(first, line)
		default:
			rest = append(rest, line)
		}
	}
	x := newExampler(t)
	for _, line := range append(first, rest...) {
		t.Run(line, func(t *testing.T) { x.run(t, line) })
	}
}

// The list of what is not run holds examples only, and does not grow.
func TestExamplesLeftOut(t *testing.T) {
	lines := examples(commands(env{os.Stdin, io.Discard, io.Discard, time.Now}))
	for line := range notRun {
		if !slices.Contains(lines, line) {
			t.Errorf("%q is no example", line)
		}
	}
	if len(notRun) > 3 {
		t.Errorf("%d of %d examples are not run, want at most 3", len(notRun), len(lines))
	}
}

// examples are the example lines of a command and all below it.
func examples(c *cobra.Command) []string {
	var lines []string
	for line := range strings.Lines(c.Example) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, sub := range c.Commands() {
		lines = append(lines, examples(sub)...)
	}
	return lines
}

// exampler runs examples in one toy workspace, with a simulated engine beside.
type exampler struct {
	ws       string
	port     int
	pid      int
	upgraded bool // the upgrade came to its end on this machine
	words    *strings.Replacer
}

func newExampler(t *testing.T) *exampler {
	t.Helper()
	dir := t.TempDir()
	x := &exampler{ws: filepath.Join(dir, "ws")}
	if err := makeToy(t.Context(), x.ws, "io.refit.engine.source"); err != nil {
		t.Fatal(err)
	}
	x.engine(t)
	x.agent(t)
	x.words = strings.NewReplacer("laba-fp8-cpu-sim", toyFamily, "v1.0.0-cpu", "v1.0.0-box", "v2.0.0-cpu", "v2.0.0-box",
		"lab/tiny-a", "toy/tiny", "data/arith200.jsonl", "data/arith.jsonl", "8888", strconv.Itoa(x.port), "4711", strconv.Itoa(x.pid))
	return x
}

// engine starts the example of `refit sim`, on a port of its own.
func (x *exampler) engine(t *testing.T) {
	t.Helper()
	for name, from := range map[string]string{"engine.json": "loom.json", "lib/simengine/server_args.py": "v1.py"} {
		data, err := toyFiles.ReadFile("testdata/toy/engine/" + from)
		if err != nil {
			t.Fatal(err)
		}
		x.write(t, name, string(data))
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x.port = free.Addr().(*net.TCPAddr).Port
	free.Close()
	log, err := os.Create(filepath.Join(x.ws, "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	line := strings.NewReplacer("8888", strconv.Itoa(x.port), "lab/tiny-a", "toy/tiny").Replace(simCommand(env{}).Example)
	words := strings.Fields(line)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stderr = x.ws, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.pid = cmd.Process.Pid
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	})
}

func (x *exampler) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(x.ws, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs one example. Every command must be named here: one that is not is
// an example without a test.
func (x *exampler) run(t *testing.T, line string) {
	words := strings.Fields(strings.ReplaceAll(x.words.Replace(line), "'", ""))
	command := strings.Join(words[1:min(3, len(words))], " ")
	allowed := []int{0}
	switch words[1] {
	case "bench", "eval":
		x.ready(t)
		x.write(t, "sessions.jsonl", recordedSession)
	case "sim":
		x.ready(t) // engine has started it
		return
	case "serve":
		words = []string{"withserve", ".", "refit", "doctor"}
	case "upgrade":
		if !slices.Contains(words, "--dry-run") {
			allowed = append(allowed, exitRefused) // a busy machine measures badly, and says so
		}
	case "ci":
		x.event(t, words[2])
	case "candidate":
		switch {
		case !x.upgraded:
			allowed = append(allowed, exitError, exitRefused)
		case command == "candidate adopt", command == "candidate takeover":
			allowed = append(allowed, exitError) // there is nothing to take here, and they say so
		case command == "candidate release":
			allowed = []int{exitRefused} // it is validated, and the bot does not decide that
		case command == "candidate stop":
			allowed = []int{exitRefused} // it is validated, and stays so
		}
	case "job":
		if command != "job wait-ready" {
			t.Fatalf("%q: no test knows how to run it", line)
		}
	case "wave":
		if command == "wave plan" {
			x.wave(t)
			break
		}
		if !x.upgraded {
			allowed = append(allowed, exitError) // it tries again what a busy machine has spoilt
		}
		x.plan(t)
	case "capacity":
		x.clusters(t)
	case "compare":
		x.history(t)
	case "changelog":
		if command == "changelog compile" || command == "changelog resolve" {
			allowed = append(allowed, exitError) // nothing was merged here, and they say so
		}
	case "config", "doctor", "why", "init", "version", "lab", "matrix", "status", "mcp": // the client of mcp hangs up at once
	default:
		t.Fatalf("%q: no test knows how to run it", line)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = x.ws
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); !slices.Contains(allowed, code) {
		t.Errorf("%s: got exit code %d (%v), want %v\n%s", strings.Join(words, " "), code, err, allowed, out)
	}
	if words[1] == "upgrade" {
		x.upgraded = err == nil
		if err != nil && !bytes.Contains(out, []byte("unhealthy client")) {
			t.Errorf("%s: ended for another reason than a busy machine\n%s", strings.Join(words, " "), out)
		}
	}
}

// recordedSession is a trace for the example of bench.
const recordedSession = `{"session": "a", "turns": [{"messages": [{"role": "user", "content": "One?"}], "output_tokens": 4, "assistant": "One."}, {"delay_ms": 10, "messages": [{"role": "user", "content": "Two?"}], "output_tokens": 4}]}
`

// history publishes the runs that the examples of compare name.
func (x *exampler) history(t *testing.T) {
	t.Helper()
	layout := filepath.Join(filepath.Dir(x.ws), "images")
	for id, name := range map[int64]string{17961030729: toyOldImage, 17961030913: toyOldImage, 17961031251: "toy/loom:v2.0.0-box"} {
		if err := toyHistory(t.Context(), x.ws, layout, name, id); err != nil {
			t.Fatal(err)
		}
	}
}

// agent writes the agent of the examples, which has no answer.
func (x *exampler) agent(t *testing.T) {
	t.Helper()
	x.write(t, "agent.sh", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(x.ws, "agent.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// ready waits for the engine.
func (x *exampler) ready(t *testing.T) {
	t.Helper()
	cmd := exec.Command("refit", "job", "wait-ready", "--port", strconv.Itoa(x.port), "--pid", strconv.Itoa(x.pid), "--log", "server.log")
	cmd.Dir = x.ws
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("engine: %v\n%s", err, out)
	}
}

// event writes what starts a workflow, and makes room for its artifacts.
func (x *exampler) event(t *testing.T, workflow string) {
	t.Helper()
	head, err := workspace.Repo{Dir: x.ws}.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	event := fmt.Sprintf(`{"ref": "refs/heads/main", "before": %q, "after": %q}`, strings.Repeat("0", 40), head)
	if workflow == "e2e-tests" {
		event = fmt.Sprintf(`{"inputs": {"generate-cli-command": "test-config --config-keys %s --smoke", "ref": %q}}`, toyFamily, head)
	}
	x.write(t, "event.json", event)
	if err := os.RemoveAll(filepath.Join(x.ws, "out")); err != nil {
		t.Fatal(err)
	}
}

// called finds calls of refit in a text: in code spans and on lines of their own.
var called = regexp.MustCompile("`(refit [^`]+)`|^(?:[ \t]*|//\t)(refit [a-z][^#]*)")

// The README, the documents and the manual name only commands and flags that exist.
func TestDocumentsNameWhatExists(t *testing.T) {
	for _, file := range []string{"../../README.md", "../../docs/agents.md", "main.go"} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		lines := bufio.NewScanner(f)
		for row := 1; lines.Scan(); row++ {
			for _, m := range called.FindAllStringSubmatch(lines.Text(), -1) {
				n++
				if err := exists(m[1] + m[2]); err != nil {
					t.Errorf("%s:%d: %s: %v", file, row, m[1]+m[2], err)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s names no command", file)
		}
	}
}

// exists says what is wrong with a call as a document writes it.
func exists(call string) error {
	words := strings.Fields(strings.NewReplacer("[", "", "]", "", "...", "").Replace(call))
	cmd, _, err := commands(env{os.Stdin, io.Discard, io.Discard, time.Now}).Find(words[1:])
	if err != nil {
		return err
	}
	if cmd.HasSubCommands() && !cmd.Runnable() || cmd.DisableFlagParsing {
		return nil
	}
	for _, w := range words {
		name, isFlag := strings.CutPrefix(w, "--")
		if name, _, _ = strings.Cut(name, "="); isFlag && cmd.Flag(name) == nil {
			return fmt.Errorf("no flag --%s", name)
		}
	}
	return nil
}
