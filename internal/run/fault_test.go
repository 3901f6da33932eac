package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/result"
)

// profiles are engines of the simulator, each with one fault.
var profiles = map[string]string{
	"good":  ``,
	"mute":  `, "faults": {"never-ready": true}`,
	"frail": `, "faults": {"die-after-requests": 6}`,
	"slow":  `, "faults": {"slow-decode": 3}`,
}

// simulated adds an image of the simulator. SIM_PROFILE chooses its fault.
func (l *lab) simulated() {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	source, err := os.ReadFile("../sim/testdata/engine/server_args.py")
	if err != nil {
		l.t.Fatal(err)
	}
	options, err := json.Marshal(engine.Model{Complete: true, Options: []engine.Option{
		{Names: []string{"--model-path"}, Dest: "model_path", Required: true}, {Names: []string{"--host"}, Dest: "host", Default: `"127.0.0.1"`},
		{Names: []string{"--port"}, Dest: "port", Type: "int", Default: "30000"}}})
	if err != nil {
		l.t.Fatal(err)
	}
	launcher := `#!/bin/sh
prefix=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec '` + self + `' sim --profile "$prefix/share/${SIM_PROFILE:-good}.json" --source "$prefix/lib" --options "$prefix/share/options.json" -- "$@"
`
	files := []image.File{
		{Path: "usr/local/bin/simserve", Mode: 0o755, Data: []byte(launcher)},
		{Path: "usr/local/lib/server_args.py", Mode: 0o644, Data: source},
		{Path: "usr/local/share/options.json", Mode: 0o644, Data: options},
	}
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		files = append(files, image.File{Path: "usr/local/share/" + name + ".json", Mode: 0o644,
			Data: []byte(`{"version": "1.0.0", "time": {"step-base": "1ms", "max-batch": 8}, "answers": {"accuracy": 1}` + profiles[name] + `}`)})
	}
	ref, err := image.Parse("lab/sim:v1.0.0-cpu")
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := image.Build(l.images.Layout, image.Spec{Ref: ref, Layers: []image.Layer{{Files: files}}}); err != nil {
		l.t.Fatal(err)
	}
}

const simRecipe = `version: 1
server:
  command: [simserve, --model-path, "${MODEL}", --port, "${PORT}"]
  env: {SIM_PROFILE: %s}
ready: {timeout: %s}
`

const scriptDir = "benchmarks/single_node/fixed_seq_len/"

// simTree has one family for each fault, measured at concurrency 1.
func simTree(scripts map[string]string) map[string]string {
	files := tree()
	delete(files, scriptDir+"tiny_fp8_cpu_sim.sh")
	entry := strings.NewReplacer("lab/engine:", "lab/sim:", "conc-end: 2", "conc-end: 1").Replace(files["configs/lab-master.yaml"])
	files["configs/lab-master.yaml"] = ""
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		files["configs/lab-master.yaml"] += strings.ReplaceAll(entry, "tiny", strings.TrimSuffix(strings.TrimSuffix(name, ".sh"), ".yaml")) + "\n"
		files[scriptDir+strings.Replace(name, ".", "_fp8_cpu_sim.", 1)] = scripts[name]
	}
	return files
}

// run measures every family without evals and returns the rows by model.
func (l *lab) measured(files map[string]string) (map[string]result.Row, string, error) {
	l.t.Helper()
	head := l.commit("start", files)
	var log strings.Builder
	failed := l.ci("e2e-tests", dispatch("test-config --config-keys *-fp8-cpu-sim --no-evals", head), &log).Run(context.Background())
	got, err := result.ReadRun(l.artifacts())
	if err != nil {
		l.t.Fatalf("%v\n%v\n%s", failed, err, log.String())
	}
	rows := map[string]result.Row{}
	for _, r := range got.Rows {
		rows[strings.TrimPrefix(r.Plan.Str("model"), "lab/")] = r
	}
	return rows, log.String(), failed
}

func TestFaultsOfAnEngine(t *testing.T) {
	l := newLab(t)
	l.simulated()
	scripts := map[string]string{}
	for name := range profiles {
		limit := "1m"
		if name == "mute" {
			limit = "300ms"
		}
		scripts[name+".yaml"] = fmt.Sprintf(simRecipe, name, limit)
	}
	rows, log, err := l.measured(simTree(scripts))
	for name, want := range map[string]string{"good": result.Passed, "slow": result.Passed, "mute": result.Failed, "frail": result.Failed} {
		if r, ok := rows[name]; !ok || r.Result != want {
			t.Errorf("%s: got %q, want %s", name, r.Result, want)
		}
	}
	for _, want := range []string{
		`mute-fp8-cpu-sim c1: recipe ended with exit code 1: engine not ready after 300ms, its log names no error and ends with "server_args=`,
		"frail-fp8-cpu-sim c1: engine died during the load: ERROR:    engine worker died after 6 requests",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err != nil && (strings.Contains(err.Error(), "good-fp8") || strings.Contains(err.Error(), "slow-fp8")) {
		t.Errorf("a sound engine failed: %v", err)
	}
	if t.Failed() {
		t.Log(log)
	}
}

// A bash recipe that neither names the engine's process to the client nor
// looks at its exit code hides nothing.
func TestEngineDeathInACarelessScript(t *testing.T) {
	script := `source "$(dirname "$0")/../../benchmark_lib.sh"
export SIM_PROFILE=frail
simserve --model-path "$MODEL" --port "$PORT" > "$PWD/server.log" 2>&1 &
SERVER_PID=$!
wait_for_server_ready --port "$PORT" --server-log "$PWD/server.log" --server-pid "$SERVER_PID"
run_benchmark_serving --model "$MODEL" --port "$PORT" --input-len "$ISL" --output-len "$OSL" \
    --num-prompts "$((CONC * 10))" --max-concurrency "$CONC" --result-filename "$RESULT_FILENAME" --result-dir "$PWD/"
echo done
`
	l := newLab(t)
	l.simulated()
	rows, log, err := l.measured(simTree(map[string]string{"careless.sh": script, "good.yaml": fmt.Sprintf(simRecipe, "good", "1m")}))
	if want := "careless-fp8-cpu-sim c1: engine died during the load: ERROR:    engine worker died after 6 requests"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s\n%s", err, want, log)
	}
	if rows["careless"].Result != result.Failed || rows["good"].Result != result.Passed {
		t.Errorf("got %q and %q, want failed and passed", rows["careless"].Result, rows["good"].Result)
	}
}

// Somebody else answers on the engine's port, healthy as can be.
func TestPortInUse(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	port := other.Listener.Addr().(*net.TCPAddr).Port
	script := `source "$(dirname "$0")/../../benchmark_lib.sh"
PORT=%d
%s > "$PWD/server.log" 2>&1 &
wait_for_server_ready --port "$PORT" --server-log "$PWD/server.log" --server-pid "$!"
run_benchmark_serving --model "$MODEL" --port "$PORT" --input-len "$ISL" --output-len "$OSL" \
    --num-prompts 10 --max-concurrency "$CONC" --result-filename "$RESULT_FILENAME" --result-dir "$PWD/" || exit 1
`
	l := newLab(t)
	l.simulated()
	rows, log, err := l.measured(simTree(map[string]string{
		"late.sh": fmt.Sprintf(script, port, "sleep 1000"), // has not come to its port yet
		"sim.sh":  fmt.Sprintf(script, port, `simserve --model-path "$MODEL" --port "$PORT"`),
	}))
	if want := fmt.Sprintf("late-fp8-cpu-sim c1: recipe ended with exit code 1: port %d is in use: process %d answers there", port, os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s\n%s", err, want, log)
	}
	// The engine itself may be the first to say so.
	if err == nil || !strings.Contains(err.Error(), "sim-fp8-cpu-sim c1: recipe ended with exit code 1: ") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v", err)
	}
	for name, r := range rows {
		if r.Result != result.Failed {
			t.Errorf("%s: %s", name, r.Result)
		}
	}
}

// A limit on the size of files stands in for a full disk, for one of two jobs:
// so small that the job cannot describe itself, and so that its result does
// not fit.
func TestFullDiskOfOneJob(t *testing.T) {
	for _, blocks := range []int{1, 6} {
		t.Run(fmt.Sprintf("%d-blocks", blocks), func(t *testing.T) {
			l := newLab(t)
			l.simulated()
			head := l.commit("start", simTree(map[string]string{"full.yaml": fmt.Sprintf(simRecipe, "good", "1m"), "good.yaml": fmt.Sprintf(simRecipe, "good", "1m")}))
			var log strings.Builder
			c := l.ci("e2e-tests", dispatch("test-config --config-keys *-fp8-cpu-sim --no-evals", head), &log)
			wrapper := filepath.Join(l.dir, "refit")
			script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $2\" = 'job run' ] && grep -q lab/full \"$3\" && ulimit -f %d\nexec '%s' \"$@\"\n", blocks, c.Refit)
			if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			c.Refit = wrapper
			failed := c.Run(context.Background())
			if failed == nil || strings.Contains(failed.Error(), "\n") || !strings.HasPrefix(failed.Error(), "ci e2e-tests: full-fp8-cpu-sim c1: ") || !strings.HasSuffix(failed.Error(), "file too large") {
				t.Errorf("got %v\n%s", failed, log.String())
			}
			got := l.artifacts()
			run, err := result.ReadRun(got)
			if err != nil || len(run.Rows) != 2 {
				t.Fatalf("rows %+v, %v", run.Rows, err)
			}
			for _, r := range run.Rows {
				if want := map[string]string{"lab/full": result.Failed, "lab/good": result.Passed}[r.Plan.Str("model")]; r.Result != want {
					t.Errorf("%s: got %s, want %s", r.Plan.Str("model"), r.Result, want)
				}
			}
			checkNames(t, got, "bmk_", 1)
		})
	}
}

// One point through both kinds of recipes leaves the same rows and files.
func TestDeclaredMeasuresAsBashDoes(t *testing.T) {
	l := newLab(t)
	measure := func(files map[string]string) (result.Run, map[string]map[string][]byte) {
		t.Helper()
		head := l.commit("start", files)
		var log strings.Builder
		if err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim", head), &log).Run(context.Background()); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		got := l.artifacts()
		run, err := result.ReadRun(got)
		if err != nil {
			t.Fatal(err)
		}
		return run, got
	}
	bash, bashFiles := measure(tree())
	if err := os.RemoveAll(filepath.Join(l.dir, "out")); err != nil {
		t.Fatal(err)
	}
	l.git("rm", "-q", scriptDir+"tiny_fp8_cpu_sim.sh")
	files := tree()
	delete(files, scriptDir+"tiny_fp8_cpu_sim.sh")
	files[scriptDir+"tiny_fp8_cpu_sim.yaml"] = "version: 1\nserver: {command: [testengine, --port, \"${PORT}\", --model-path, \"${MODEL}\"]}\n"
	declared, declaredFiles := measure(files)
	if got, want := shape(declaredFiles), shape(bashFiles); !reflect.DeepEqual(got, want) {
		t.Errorf("artifacts:\n%q\nwant:\n%q", got, want)
	}
	if len(declared.Rows) != 2 || len(declared.Evals) != 1 || len(bash.Rows) != 2 || len(bash.Evals) != 1 {
		t.Fatalf("got %d rows and %d evals, want 2 and 1, of both", len(declared.Rows), len(declared.Evals))
	}
	for i, d := range declared.Rows {
		b := bash.Rows[i]
		if !d.Plan.Equal(b.Plan) || d.Key != b.Key || d.Fingerprint != b.Fingerprint || d.Digest != b.Digest || d.Result != b.Result || d.Requests != b.Requests ||
			d.Label != b.Label || d.Scenario != b.Scenario || *d.RequestErrors != *b.RequestErrors || d.Provenance.Client != b.Provenance.Client {
			t.Errorf("row %d:\n%+v\nwant:\n%+v", i, d, b)
		}
		speeds(t, d.Metrics)
		speeds(t, b.Metrics)
		if got, want := withoutSpeeds(slices.Collect(maps.Keys(d.Metrics))), withoutSpeeds(slices.Collect(maps.Keys(b.Metrics))); !slices.Equal(got, want) {
			t.Errorf("row %d: metrics %q, want %q", i, got, want)
		}
		if got, want := withoutSpeeds(keys(t, d.Agg)), withoutSpeeds(keys(t, b.Agg)); !slices.Equal(got, want) {
			t.Errorf("row %d: aggregate %q, want %q", i, got, want)
		}
	}
	d, b := declared.Evals[0], bash.Evals[0]
	if !d.Plan.Equal(b.Plan) || d.Suite != b.Suite || *d.Score != *b.Score || d.Samples != b.Samples || !reflect.DeepEqual(d.Answers, b.Answers) || !slices.Equal(keys(t, d.Agg), keys(t, b.Agg)) {
		t.Errorf("eval:\n%+v\nwant:\n%+v", d, b)
	}
}

// speeds checks that every TPOT above zero has its speed, and no other. The
// engine of these tests answers at once: where a client is late it reads all
// tokens of an answer together, and their TPOT is zero.
func speeds(t *testing.T, metrics map[string]float64) {
	t.Helper()
	for name, v := range metrics {
		if !strings.Contains(name, "tpot") {
			continue
		}
		if _, ok := metrics[strings.ReplaceAll(name, "tpot", "intvty")]; ok != (v > 0) {
			t.Errorf("%s is %v, and has a speed: %v", name, v, ok)
		}
	}
}

// withoutSpeeds leaves out the names that a measurement may or may not have.
func withoutSpeeds(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.Contains(n, "intvty") })
	slices.Sort(names)
	return names
}

// shape lists artifacts and files; dates in names do not count.
func shape(got map[string]map[string][]byte) []string {
	var names []string
	for artifact, files := range got {
		for name := range files {
			if strings.HasPrefix(name, "results_") || strings.HasPrefix(name, "samples_") {
				name, _, _ = strings.Cut(name, "_20")
			}
			names = append(names, artifact+"/"+name)
		}
	}
	slices.Sort(names)
	return names
}

func keys(t *testing.T, object []byte) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(m))
}

// What a declarative recipe cannot do is said before anything is started.
func TestDeclaredIsCheckedFirst(t *testing.T) {
	check := func(name, text, want string) {
		t.Helper()
		l := newLab(t)
		files := tree()
		if name != "both" {
			delete(files, scriptDir+"tiny_fp8_cpu_sim.sh")
		}
		files[scriptDir+"tiny_fp8_cpu_sim.yaml"] = text
		head := l.commit("start", files)
		var log strings.Builder
		err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim", head), &log).Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		if len(l.artifacts()) != 0 {
			t.Errorf("%s: a refused run left artifacts", name)
		}
	}
	const head = "version: 1\nserver:\n  command:\n  - testengine\n"
	check("variable", head+"  - ${HOME}\n", scriptDir+"tiny_fp8_cpu_sim.yaml:5: unknown variable ${HOME}")
	check("variable-of-the-point", head+"  env: {PORT: '1'}\n", "PORT is given by the point")
	check("field", head+"serve: x\n", `unknown field "serve"`)
	check("both", head, "tiny_fp8_cpu_sim.sh and "+scriptDir+"tiny_fp8_cpu_sim.yaml both exist")
}

func TestProgramComesFromTheImage(t *testing.T) {
	l := newLab(t)
	files := tree()
	delete(files, scriptDir+"tiny_fp8_cpu_sim.sh")
	files[scriptDir+"tiny_fp8_cpu_sim.yaml"] = "version: 1\nserver: {command: [sh, -c, 'exit 0']}\n"
	head := l.commit("start", files)
	var log strings.Builder
	err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke", head), &log).Run(context.Background())
	if want := "image lab/engine:v1.0.0-cpu has no program sh in its PATH"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDeclaredRecipesOwnFatalLine(t *testing.T) {
	l := newLab(t)
	files := tree()
	delete(files, scriptDir+"tiny_fp8_cpu_sim.sh")
	files[scriptDir+"tiny_fp8_cpu_sim.yaml"] = `version: 1
server: {command: [testengine, --port, "1", --say, "WARNING: weights of shard 3 are zero"]}
ready: {fatal: ['/shard \d+ are zero$/']}
`
	head := l.commit("start", files)
	var log strings.Builder
	err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", head), &log).Run(context.Background())
	if want := "engine cannot become ready: WARNING: weights of shard 3 are zero"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
