package run

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

const reproduced = `one-fp8-box-loom:
  image: lab/loom:v1
  model: "lab/one $(touch caught) 'x'"
  model-prefix: one
  runner: box
  precision: fp8
  framework: loom
  multinode: false
  router: { name: road, version: "1.0" }
  scenarios:
    fixed-seq-len:
    - isl: 16
      osl: 8
      search-space:
      - { tp: 2, conc-list: [1, 4] }
      - { tp: 4, conc-list: [4] }
`

func reproducedPoints(t *testing.T) (recipe.Family, []matrix.Point) {
	t.Helper()
	families, err := recipe.ParseMaster([]byte(reproduced), "configs/x-master.yaml")
	if err != nil {
		t.Fatal(err)
	}
	points, _, err := matrix.Points(families[0], recipe.Runners{}, matrix.DefaultEvals)
	if err != nil {
		t.Fatal(err)
	}
	return families[0], points
}

// The recipe's line, pasted into bash, starts the recipe in the workspace's
// folder with the whole contract, whatever the values hold.
func TestRecipeLineIsPasted(t *testing.T) {
	f, points := reproducedPoints(t)
	root := filepath.Join(t.TempDir(), "a folder's name")
	script := "benchmarks/single_node/fixed_seq_len/one_fp8_box_loom.sh"
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(script)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, script), []byte("env -0\npwd\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Reproduce(os.DirFS(root), root, f, points[1], points, "/weights/one two")
	if r.Problem != "" || r.Script != script || r.Beside != 1 {
		t.Fatalf("got %+v", r)
	}
	cmd := exec.Command("bash", "-c", r.Recipe)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.Recipe, err, out)
	}
	got := map[string]string{}
	parts := strings.Split(string(out), "\x00")
	for _, kv := range parts {
		name, value, _ := strings.Cut(kv, "=")
		got[name] = value
	}
	if dir := strings.TrimSpace(parts[len(parts)-1]); dir != root {
		t.Errorf("started in %q, want %q", dir, root)
	}
	for name, want := range map[string]string{
		"MODEL": f.Entry.Model, "IMAGE": "lab/loom:v1", "TP": "2", "CONC": "4", "ISL": "16", "OSL": "8", "MAX_MODEL_LEN": "280",
		"MODEL_PATH": "/weights/one two", "PORT": "8888", "RUN_EVAL": "false", "ROUTER_METADATA": `{"name":"road","version":"1.0"}`,
		"RECIPE_FINGERPRINT": points[1].Fingerprint, "RESULT_DIR": filepath.Join(root, "results"),
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	job := Job{Row: points[1].Row, Throughput: true, Checkout: root}
	for name := range contract(job, 1) {
		if _, ok := got[name]; !ok && !strings.HasPrefix(name, "PYTHON") {
			t.Errorf("the line lacks %s of the contract", name)
		}
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "caught")); err == nil {
		t.Error("a value was run as a command")
	}
}

// The other line hands an event to refit that asks for the family at the
// point's concurrency.
func TestMeasureLineAsksForThePoint(t *testing.T) {
	line, err := measureLine("one-fp8-box-loom", 4)
	if err != nil {
		t.Fatal(err)
	}
	left, right, ok := strings.Cut(line, " | ")
	if !ok || right != "refit ci e2e-tests --event /dev/stdin --out out" {
		t.Fatalf("got %q", line)
	}
	out, err := exec.Command("bash", "-c", left).Output()
	if err != nil {
		t.Fatal(err)
	}
	e, err := parseEvent(out)
	if err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	cmd, err := parseCommand(e.Inputs["generate-cli-command"])
	if err != nil {
		t.Fatal(err)
	}
	f, points := reproducedPoints(t)
	found, err := cmd.families(&recipe.Catalogue{Families: []recipe.Family{f}})
	if err != nil || len(found) != 1 || found[0].ID != f.ID {
		t.Fatalf("families: got %v, %v", found, err)
	}
	if got := cmd.choose(points).Throughput; len(got) != 2 || got[0].Conc() != 4 || got[1].Conc() != 4 {
		t.Errorf("selected %v, want both points of concurrency 4", got)
	}
	if _, err := measureLine("one two", 4); err == nil {
		t.Error("a key of two words was put into a command that is split at blanks")
	}
}

func TestReproduceSaysWhyThereIsNoLine(t *testing.T) {
	f, points := reproducedPoints(t)
	r := Reproduce(fstest.MapFS{}, "/ws", f, points[0], points, "")
	if r.Script != "" || r.Measure != "" || r.Recipe != "" || r.Problem != "none of the recipe scripts exists" || len(r.Tried) != 4 {
		t.Errorf("no script: got %+v", r)
	}
	yaml := "benchmarks/single_node/fixed_seq_len/one_fp8_box_loom.yaml"
	r = Reproduce(fstest.MapFS{yaml: {Data: []byte("x")}}, "/ws", f, points[0], points, "")
	if r.Script != yaml || r.Measure == "" || r.Recipe != "" {
		t.Errorf("a declarative recipe runs under refit alone: got %+v", r)
	}
	f.Entry.Multinode = true
	r = Reproduce(fstest.MapFS{}, "/ws", f, points[0], points, "")
	if !strings.Contains(r.Problem, "launcher") || r.Measure != "" {
		t.Errorf("multi-node: got %+v", r)
	}
	if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"tried":[]`) {
		t.Errorf("got %s, %v", text, err)
	}
	var b strings.Builder
	r.Text(&b)
	if want := "script       none: a multi-node point is started by its cluster's launcher, not by a script of one node\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
