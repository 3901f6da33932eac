package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

const recipeScript = `source "$(dirname "$0")/../../benchmark_lib.sh"
check_env_vars MODEL TP CONC ISL OSL MAX_MODEL_LEN RANDOM_RANGE_RATIO RESULT_FILENAME
testengine --port "$PORT" --model-path "$MODEL" > "$PWD/server.log" 2>&1 &
SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$PWD/server.log" --server-pid "$SERVER_PID"
run_benchmark_serving --model "$MODEL" --port "$PORT" --backend vllm --input-len "$ISL" --output-len "$OSL" \
    --random-range-ratio "$RANDOM_RANGE_RATIO" --num-prompts "$((CONC * 10))" --max-concurrency "$CONC" \
    --result-filename "$RESULT_FILENAME" --result-dir "$PWD/" --server-pid "$SERVER_PID" || exit 1
if [ "${RUN_EVAL:-false}" = "true" ]; then
    run_eval --framework lm-eval --port "$PORT" || exit 1
    append_lm_eval_summary
fi
stop_gpu_monitor
`

const libraryScript = `check_env_vars() { for n in "$@"; do [ -n "${!n:-}" ] || { echo "missing $n" >&2; exit 1; }; done; }
run_benchmark_serving() { echo "the library's own client ran" >&2; return 1; }
`

const questions = `{"question": "What is 2 + 3?", "answer": "#### 5"}
{"question": "What is 4 + 4?", "answer": "#### 8"}
{"question": "What is 6 + 7?", "answer": "#### 13"}
{"question": "What is 9 + 1?", "answer": "#### 10"}
`

const entryText = `- config-keys:
    - %s
  description:
    - "%s"
  pr-link: https://github.com/lab/recipes/pull/1
`

// lab is a small recipe repository with one engine image.
type lab struct {
	t      *testing.T
	repo   workspace.Repo
	dir    string
	images image.Library
	cache  image.Cache
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := labAt(t.TempDir())
	l.t = t
	ref, err := image.Parse("lab/engine:v1.0.0-cpu")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launcher := fmt.Sprintf("#!/bin/sh\nexec '%s' engine \"$@\"\n", self)
	if _, err := image.Build(l.images.Layout, image.Spec{Ref: ref, Layers: []image.Layer{{Files: []image.File{
		{Path: "usr/local/bin/testengine", Mode: 0o755, Data: []byte(launcher)}}}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(l.repo.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.git("init", "-q", "-b", "main")
	return l
}

// labAt is the lab in a folder.
func labAt(dir string) *lab {
	return &lab{dir: dir, repo: workspace.Repo{Dir: filepath.Join(dir, "repo")},
		images: image.Library{Layout: filepath.Join(dir, "images")}, cache: image.Cache{Dir: filepath.Join(dir, "cache")}}
}

func (l *lab) git(args ...string) string {
	l.t.Helper()
	out, err := l.repo.Git(context.Background(), append([]string{"-c", "user.name=bot", "-c", "user.email=bot@example.com"}, args...)...)
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// tree are the files of the first commit.
func tree() map[string]string {
	return map[string]string{
		"refit.yaml": "evals: {lengths: [8/4], floor: 1, task: arith, data: {path: data/arith.jsonl}}\njobs: {env: [RUN_TEST_SECRET_TOKEN]}\n",
		"configs/lab-master.yaml": `tiny-fp8-cpu-sim:
  image: lab/engine:v1.0.0-cpu
  model: lab/tiny
  model-prefix: tiny
  runner: cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8
      osl: 4
      search-space:
      - { tp: 1, conc-start: 1, conc-end: 2 }
`,
		"configs/runners.yaml":                                     "labels:\n  cpu:\n  - cpu-lab_00\n",
		"perf-changelog.yaml":                                      fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "Start"),
		"benchmarks/benchmark_lib.sh":                              libraryScript,
		"benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.sh": recipeScript,
		"data/arith.jsonl":                                         questions,
	}
}

// commit writes files over the last commit and returns the new one.
func (l *lab) commit(message string, files map[string]string) string {
	l.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(l.repo.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			l.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
	l.git("add", "-A")
	l.git("commit", "-q", "-m", message)
	return l.git("rev-parse", "HEAD")
}

// ci is a run of a workflow for an event.
func (l *lab) ci(name string, event any, log *strings.Builder) CI {
	l.t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		l.t.Fatal(err)
	}
	c, err := l.workflow(name, payload, log)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// workflow is a run with its jobs' folders in the lab's own.
func (l *lab) workflow(name string, event []byte, log io.Writer) (CI, error) {
	self, err := os.Executable()
	if err != nil {
		return CI{}, err
	}
	return CI{Name: name, Event: event, Repo: l.repo, Config: workspace.DefaultConfig(), Images: l.images, Cache: l.cache,
		Out: filepath.Join(l.dir, "out"), Refit: self, RunID: 7, Attempt: 1, Log: log, Work: l.work()}, os.MkdirAll(l.work(), 0o755)
}

func (l *lab) work() string { return filepath.Join(l.dir, "work") }

// artifacts reads what a run left: artifact -> file -> content.
func (l *lab) artifacts() map[string]map[string][]byte {
	l.t.Helper()
	all := map[string]map[string][]byte{}
	dirs, err := os.ReadDir(filepath.Join(l.dir, "out"))
	if err != nil {
		return all
	}
	for _, d := range dirs {
		all[d.Name()] = map[string][]byte{}
		files, err := os.ReadDir(filepath.Join(l.dir, "out", d.Name()))
		if err != nil {
			l.t.Fatal(err)
		}
		for _, f := range files {
			src, err := os.ReadFile(filepath.Join(l.dir, "out", d.Name(), f.Name()))
			if err != nil {
				l.t.Fatal(err)
			}
			all[d.Name()][f.Name()] = src
		}
	}
	return all
}

type object = map[string]any

func dispatch(command, ref string) object {
	return object{"inputs": object{"generate-cli-command": command, "test-name": "refit-p1-a", "ref": ref}, "ref": "refs/heads/main",
		"repository": object{"default_branch": "main"}}
}
