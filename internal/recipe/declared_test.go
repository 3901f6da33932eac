package recipe

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const declaredText = `version: 1
server:
  command:
  - simserve # the engine
  - --model-path
  - ${MODEL}
  - "--graph-max-batch"
  - 16
  - --port=${PORT}
  - 'it costs $$5'
  env: {SIM_LEVEL: "2", SIM_SIZE: "${TP}"}
ready:
  path: /v1/ready
  timeout: 90s
  fatal:
  - weights (all) are missing
  - '/^panic: \d+/'
workload:
  backend: openai-chat
  num-prompts: 4 * CONC
  warmups: 3
  random-range-ratio: 0.5
  ignore-eos: false
eval: {shots: 2, train: data/train.jsonl}
`

func TestParseDeclared(t *testing.T) {
	d, err := ParseDeclared([]byte(declaredText), "r.yaml")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"MODEL": "lab/tiny", "PORT": "81", "TP": "2"}
	argv, err := d.Argv(env)
	if want := []string{"simserve", "--model-path", "lab/tiny", "--graph-max-batch", "16", "--port=81", "it costs $5"}; err != nil || !slices.Equal(argv, want) {
		t.Errorf("argv %q, %v, want %q", argv, err, want)
	}
	set, err := d.Environ(env)
	if err != nil || !slices.Equal(set, []string{"SIM_LEVEL=2", "SIM_SIZE=2"}) {
		t.Errorf("environment %q, %v", set, err)
	}
	if d.Ready.Path != "/v1/ready" || d.Ready.Timeout != 90*time.Second || len(d.Ready.Fatal) != 2 {
		t.Errorf("ready: %+v", d.Ready)
	}
	for line, want := range map[string]bool{"E: weights (all) are missing!": true, "weights all are missing": false, "panic: 7": true, "no panic: 7": false} {
		if got := d.Ready.Fatal[0].MatchString(line) || d.Ready.Fatal[1].MatchString(line); got != want {
			t.Errorf("fatal %q: %v, want %v", line, got, want)
		}
	}
	if w := d.Workload; w.Backend != "openai-chat" || w.Prompts.For(8) != 32 || w.Warmups.For(8) != 3 || w.RangeRatio != "0.5" || w.IgnoreEOS {
		t.Errorf("workload: %+v", w)
	}
	if d.Eval != (Shots{2, "data/train.jsonl"}) {
		t.Errorf("eval: %+v", d.Eval)
	}
	for _, w := range append(slices.Clone(d.Command), d.Env[0].Name, d.Env[1].Value) {
		if got := declaredText[w.Start:w.End]; got != w.Text || w.Reason != "" {
			t.Errorf("line %d: bytes are %q (%s), want %q", w.Line, got, w.Reason, w.Text)
		}
	}
}

func TestDeclaredDefaults(t *testing.T) {
	d, err := ParseDeclared([]byte("version: 1\nserver: {command: [simserve]}\n"), "r.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := d.Workload
	if d.Ready.Path != "/health" || d.Ready.Timeout != 2*time.Hour || w.Backend != "vllm" || w.Prompts.For(4) != 40 || w.Warmups.For(4) != 8 || w.RangeRatio != "" || !w.IgnoreEOS || d.Eval.Count != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestParseDeclaredMistakes(t *testing.T) {
	const head = "version: 1\nserver: {command: [simserve]}\n"
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", "r.yaml: the file is empty"},
		{"other-version", "version: 2\nserver: {command: [simserve]}\n", "r.yaml:1:10: version: 2 is not known, only 1 is"},
		{"no-version", "server: {command: [simserve]}\n", "version is missing"},
		{"no-command", "version: 1\nserver: {env: {A: b}}\n", "r.yaml:2:9: server: command is missing"},
		{"command-line-as-text", "version: 1\nserver: {command: simserve --port 1}\n", "r.yaml:2:19: server.command: want a list"},
		{"empty-command", "version: 1\nserver: {command: []}\n", "must name a program"},
		{"program-with-a-path", "version: 1\nserver: {command: [/bin/sh]}\n", "server.command[0]: want the name of a program in the image's PATH, got \"/bin/sh\""},
		{"shell-variable", "version: 1\nserver:\n  command:\n  - simserve\n  - $MODEL\n", "r.yaml:5:5: server.command[1]: want ${NAME} for a variable and $$ for a dollar sign, got \"$MODEL\""},
		{"default-value", "version: 1\nserver:\n  command:\n  - simserve\n  - ${MODEL:-x}\n", "r.yaml:5:5: "},
		{"null-word", "version: 1\nserver: {command: [simserve, ~]}\n", "want a text, got null"},
		{"own-variable", head + "x: 1\n", `unknown field "x"`},
		{"path-set", "version: 1\nserver: {command: [simserve], env: {PATH: x}}\n", "PATH belongs to the job"},
		{"ready-path", head + "ready: {path: health}\n", "r.yaml:3:15: ready.path: want a path such as /health"},
		{"timeout", head + "ready: {timeout: 10}\n", "ready.timeout: want a duration such as 10m"},
		{"expression", head + "ready: {fatal: [/(/]}\n", "ready.fatal[0]: error parsing regexp"},
		{"everything-is-fatal", head + "ready: {fatal: [/x*/]}\n", "matches every line"},
		{"backend", head + "workload: {backend: vlm}\n", `"vlm" is not supported (did you mean "vllm"?)`},
		{"prompts", head + "workload: {num-prompts: 10 * TP}\n", `workload.num-prompts: want a number or "10 * CONC", got "10 * TP"`},
		{"no-prompts", head + "workload: {num-prompts: 0}\n", "must be greater than 0"},
		{"ratio", head + "workload: {random-range-ratio: 2}\n", "want a decimal number greater than 0 and at most 1"},
		{"shots-without-examples", head + "eval: {shots: 1}\n", "eval.train, which is missing"},
		{"examples-elsewhere", head + "eval: {shots: 1, train: ../x}\n", "want a file of the workspace"},
	} {
		if _, err := ParseDeclared([]byte(c.src), "r.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestUnknownVariableNamesItsLine(t *testing.T) {
	d, err := ParseDeclared([]byte(declaredText), "r.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Argv(map[string]string{"MODEL_": "x", "PORT": "1"})
	if want := `r.yaml:6: unknown variable ${MODEL} (did you mean "MODEL_"?)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = d.Environ(map[string]string{"SIM_LEVEL": "x", "TP": "1"})
	if want := "r.yaml:11: server.env: SIM_LEVEL is given by the point and cannot be set"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]Count{"100": {100, false}, "10 * CONC": {10, true}, "CONC*3": {3, true}, "CONC": {1, true}, "0": {0, false}} {
		d, err := ParseDeclared([]byte("version: 1\nserver: {command: [s]}\nworkload: {warmups: "+text+"}\n"), "r.yaml")
		if err != nil || d.Workload.Warmups != want {
			t.Errorf("%s: got %v, %v, want %v", text, d.Workload.Warmups, err, want)
		}
	}
}

func TestScriptPathOfDeclared(t *testing.T) {
	dir := "benchmarks/single_node/fixed_seq_len/"
	e := Entry{ModelPrefix: "tiny", Precision: "fp8", Runner: "cpu", Framework: "sim"}
	check := func(want string, names ...string) {
		t.Helper()
		fsys := fstest.MapFS{}
		for _, name := range names {
			fsys[dir+name] = &fstest.MapFile{}
		}
		if got, _, err := ScriptPath(fsys, e, "fixed-seq-len", "none"); err != nil || got != dir+want {
			t.Errorf("of %v: got %s, %v, want %s", names, got, err, want)
		}
	}
	check("tiny_fp8_cpu_sim.yaml", "tiny_fp8_cpu_sim.yaml")
	check("tiny_fp8_cpu_sim.yaml", "tiny_fp8_cpu_sim.yaml", "tiny_fp8_cpu.sh")
	check("tiny_fp8_cpu.yaml", "tiny_fp8_cpu.yaml")
	both := fstest.MapFS{dir + "tiny_fp8_cpu_sim.sh": &fstest.MapFile{}, dir + "tiny_fp8_cpu_sim.yaml": &fstest.MapFile{}}
	_, _, err := ScriptPath(both, e, "fixed-seq-len", "none")
	if want := dir + "tiny_fp8_cpu_sim.sh and " + dir + "tiny_fp8_cpu_sim.yaml both exist: "; err == nil || errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("both: got %v, want %s", err, want)
	}
}

func FuzzParseDeclared(f *testing.F) {
	f.Add([]byte(declaredText))
	f.Add([]byte("version: 1\nserver: {command: [s, \"--a\\u0062\", 'it''s', &x --y, *x]}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := ParseDeclared(src, "r.yaml")
		if err != nil {
			return
		}
		for _, w := range d.Command {
			if w.Reason == "" && string(src[w.Start:w.End]) != w.Text {
				t.Fatalf("bytes %q, text %q", src[w.Start:w.End], w.Text)
			}
		}
		_, _ = d.Argv(nil)
	})
}
