package matrix

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

func n(v int) *int { return &v }

// The counts that the published generator gave for each option: rows by node
// kind and scenario, points, and rows with an eval.
func TestFullSweepOptions(t *testing.T) {
	c := catalogue(t, "inferencex")
	for _, o := range []struct {
		name string
		s    Sweep
		want [7]int // rows, s-f, s-a, m-f, m-a, points, evals
	}{
		{"none", Sweep{}, [7]int{1820, 690, 482, 384, 264, 2078, 519}},
		{"evals-only", Sweep{Mode: EvalsOnly}, [7]int{645, 202, 33, 317, 93, 875, 645}},
		{"all-evals", Sweep{Mode: AllEvals}, [7]int{1663, 690, 482, 375, 116, 2076, 1663}},
		{"seq-lens 1k1k", Sweep{Filter: Filter{Lengths: []string{"1k1k"}}}, [7]int{747, 0, 482, 1, 264, 747, 0}},
		{"model-prefix dsr1", Sweep{Prefixes: []string{"dsr1"}}, [7]int{408, 194, 0, 214, 0, 570, 233}},
		{"runner-type b200", Sweep{RunnerTypes: []string{"b200"}}, [7]int{120, 120, 0, 0, 0, 120, 38}},
		{"max-conc 1", Sweep{Filter: Filter{MaxConc: n(1)}}, [7]int{603, 156, 44, 384, 19, 603, 0}},
		{"max-conc 10", Sweep{Filter: Filter{MaxConc: n(10)}}, [7]int{1055, 393, 182, 384, 96, 1121, 0}},
		{"min-conc 64", Sweep{Filter: Filter{MinConc: n(64)}}, [7]int{641, 239, 53, 281, 68, 726, 422}},
		{"min-conc 8 max-conc 32", Sweep{Filter: Filter{MinConc: n(8), MaxConc: n(32)}}, [7]int{990, 307, 235, 351, 97, 1054, 444}},
		{"min-conc 0", Sweep{Filter: Filter{MinConc: n(0)}}, [7]int{746, 0, 482, 0, 264, 746, 0}},
		{"max-conc 0", Sweep{Filter: Filter{MaxConc: n(0)}}, [7]int{}},
		{"max-tp 4", Sweep{Filter: Filter{MaxTP: n(4)}}, [7]int{1416, 286, 482, 384, 264, 1674, 404}},
		{"step-size 4", Sweep{Filter: Filter{Step: 4}}, [7]int{1588, 458, 482, 384, 264, 1846, 494}},
		{"runner-node-filter amds_00", Sweep{Filter: Filter{Node: "amds_00"}}, [7]int{418, 257, 147, 2, 12, 427, 78}},
	} {
		if o.s.Mode == "" {
			o.s.Mode = MarkEvals
		}
		rows, _, err := FullSweep(c, DefaultEvals, o.s)
		if err != nil {
			t.Errorf("%s: %v", o.name, err)
			continue
		}
		if got := counted(rows); got != o.want {
			t.Errorf("%s: got %v, want %v", o.name, got, o.want)
		}
	}
}

func counted(rows []Row) (c [7]int) {
	for _, r := range rows {
		kind := 1
		if r.agentic() {
			kind++
		}
		if r.multinode() {
			kind += 2
		}
		c[0]++
		c[kind]++
		c[5] += len(r.concs())
		if r.Bool("run-eval") {
			c[6]++
		}
	}
	return c
}

func TestTestConfigOptions(t *testing.T) {
	c := catalogue(t, "inferencex")
	for _, o := range []struct {
		name         string
		keys         []string
		x            Filter
		rows, marked int
	}{
		{"node", []string{"dsr1-fp8-mi325x-sglang"}, Filter{Node: "amds_0"}, 45, 18},
		{"label and nodes", []string{"dsr1-fp8-mi325x-sglang"}, Filter{Node: "mi325x"}, 50, 20},
		{"conc 64", []string{"dsv4-fp4-b200-vllm"}, Filter{Concs: []int{64}}, 2, 2},
		{"conc 6 90", []string{"dsr1-fp4-b200-dynamo-trt"}, Filter{Concs: []int{6, 90}}, 3, 1},
		{"conc that nobody has", []string{"dsv4-fp4-b200-vllm"}, Filter{Concs: []int{7}}, 0, 0},
	} {
		rows, _, err := TestConfig(c, DefaultEvals, Test{Filter: o.x, Mode: MarkEvals, Keys: o.keys})
		if err != nil {
			t.Errorf("%s: %v", o.name, err)
			continue
		}
		if got := counted(rows); got[0] != o.rows || got[6] != o.marked {
			t.Errorf("%s: %d rows, %d marked, want %d, %d", o.name, got[0], got[6], o.rows, o.marked)
		}
	}
	all, _, err := TestConfig(c, DefaultEvals, Test{Mode: MarkEvals, Keys: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := WriteRows(all)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(shared(t), "data", "inferencex", "expected", "full-sweep.json"))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(want) {
		t.Error("test-config of every key is not the full sweep, byte for byte")
	}
}

// The worked examples of the specification: rows, points, and rows marked in
// the three modes, one key per run.
func TestWorkedExamples(t *testing.T) {
	c := catalogue(t, "inferencex")
	for key, want := range map[string][5]int{
		"dsr1-fp8-mi325x-sglang": {5, 5, 2, 2, 5}, "dsr1-fp8-mi325x-sglang-mtp": {5, 5, 2, 2, 5}, "dsr1-fp4-b200-sglang": {9, 9, 3, 3, 9},
		"dsv4-fp4-b200-vllm": {14, 14, 4, 4, 14}, "qwen3.5-fp4-b200-trt-mtp": {8, 8, 3, 3, 8}, "dsr1-fp4-b200-dynamo-trt": {13, 21, 11, 11, 13},
		"dsr1-fp4-mi355x-sglang-disagg": {6, 21, 4, 4, 5}, "dsr1-fp4-mi355x-sglang-disagg-mtp": {6, 19, 4, 4, 5}, "dsr1-fp8-b300-dynamo-trt": {13, 13, 12, 12, 13},
		"glm5.1-fp8-b200-tilert": {2, 2, 0, 0, 1}, "dsv4-fp4-b200-vllm-agentic-mtp": {10, 10, 0, 1, 10}, "minimaxm3-fp4-b300-vllm-agentic-mtp": {8, 8, 0, 1, 8},
		"qwen3.5-fp8-b300-sglang-agentic-power-ab": {4, 4, 0, 1, 4}, "dsv4-fp4-mi355x-sglang-disagg-agentic-hicache-mtp": {12, 12, 0, 2, 2},
		"kimik3-fp4-h200-vllm-agentic": {35, 35, 0, 2, 3}, "qwen3.5-fp4-gb300-dynamo-sglang-agentic-agg": {7, 7, 0, 6, 7},
		"kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-tp8pp2": {5, 5, 0, 5, 5}, "dsv4-fp4-gb200-llmd-vllm": {3, 5, 2, 2, 3},
	} {
		var got [5]int
		for i, mode := range []Mode{MarkEvals, EvalsOnly, AllEvals} {
			rows, _, err := TestConfig(c, DefaultEvals, Test{Mode: mode, Keys: []string{key}})
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			k := counted(rows)
			if i == 0 {
				got[0], got[1] = k[0], k[5]
			}
			got[2+i] = k[6]
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
}

// A changelog's delta in buckets: plain, trimmed, with every eval, and scored.
func TestBucketsAsPublished(t *testing.T) {
	c := catalogue(t, "inferencex")
	src, err := os.ReadFile(filepath.Join(shared(t), "data", "inferencex", "expected", "buckets-example-delta.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := recipe.ParseChangelog(src, "delta.yaml")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := os.ReadFile(filepath.Join(shared(t), "data", "inferencex", "configs", "ci-priority.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	priorities, err := recipe.ParsePriorities(policy, "ci-priority.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]PlanOptions{
		"buckets-example.json": {}, "buckets-example-trim.json": {Trim: true}, "buckets-example-all-evals.json": {AllEvals: true},
	} {
		plan, err := BuildPlanWith(c, entries, DefaultEvals, o)
		if err != nil {
			t.Fatal(err)
		}
		plan.Base, plan.Head = "base", "head"
		same(t, name, plan, expected(t, name))
		if !o.Trim {
			continue
		}
		scored, err := Priorities{priorities}.Annotate(plan.Row(), Job{Event: "push", Namespace: "123:1"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "buckets-example-trim-priority.json", scored, expected(t, "buckets-example-trim-priority.json"))
		measured := 0
		for _, f := range plan.Families {
			measured += len(f.Selection.Throughput)
		}
		if got := counted(plan.throughput); measured != got[5] {
			t.Errorf("a trimmed plan measures %d points, its jobs name %d", measured, got[5])
		}
	}
}

const cheapPlan = `{"single_node":{"8k1k":[{"conc":2,"run-eval":false,"tp":1},{"conc":2,"run-eval":false,"tp":1}],
	"1k1k":[{"conc":1,"run-eval":true},{"conc":2,"run-eval":false,"tp":8}],"agentic":[{"conc":1}]},"multi_node":{}}`

func TestCanary(t *testing.T) {
	var plan Row
	if err := json.Unmarshal([]byte(cheapPlan), &plan); err != nil {
		t.Fatal(err)
	}
	canary, rest, found := Canary(plan)
	if !found || canary.Int("tp") != 8 { // 1k1k goes first on ties
		t.Fatalf("got %v, %v", canary, found)
	}
	text, err := rest.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"single_node":{"8k1k":[{"conc":2,"run-eval":false,"tp":1},{"conc":2,"run-eval":false,"tp":1}],"1k1k":[{"conc":1,"run-eval":true}],"agentic":[{"conc":1}]},"multi_node":{}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	canary, rest, found = Canary(rest)
	if text, _ := rest.MarshalJSON(); !found || canary.Int("tp") != 1 || strings.Count(string(text), `"tp":1`) != 1 {
		t.Errorf("of equal jobs one is taken: %s", text)
	}
	var none Row
	if _, rest, found := Canary(none); found || !rest.Equal(none) {
		t.Error("a plan without single-node jobs has a canary")
	}
}

func TestSweepRefuses(t *testing.T) {
	c := labCatalogue(t, labFamily)
	for want, s := range map[string]Sweep{
		"step size 1: must be greater than 1":   {Filter: Filter{Step: 1}},
		"min conc 5 is greater than max conc 4": {Filter: Filter{MinConc: n(5), MaxConc: n(4)}},
		`no runner type "gpu"; known are cpu`:   {RunnerTypes: []string{"gpu"}},
	} {
		if _, _, err := FullSweep(c, labEvals, s); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, _, err := FullSweep(c, labEvals, Sweep{Filter: Filter{Step: 1}}); !errors.Is(err, ErrOption) {
		t.Errorf("got %v, want a usage error", err)
	}
	for pattern, want := range map[string]string{
		"nosuch*": `no config key matches "nosuch*"; available are lab-a`,
		"lab-b":   `no family "lab-b" in the catalogue (did you mean "lab-a"?)`,
	} {
		if _, err := Select(c, []string{pattern}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", pattern, err, want)
		}
	}
}

func TestShellPattern(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"a*", []string{"a", "ab", "a.b/c"}, []string{"ba", "A"}},
		{"a?c", []string{"abc", "a.c"}, []string{"ac", "abbc"}},
		{"*[0-9]x", []string{"5x", "a5x"}, []string{"ax"}},
		{"*[!0-9]x", []string{"ax", "5ax"}, []string{"5x"}},
		{"a[*", []string{"a[", "a[b"}, []string{"a"}},
		{"*.5?", []string{"q3.5x"}, []string{"q3x5x"}},
		{"é*", []string{"é", "éa"}, []string{"e"}},
		{"*[]]", []string{"a]"}, []string{"a"}},
	} {
		re, err := shellPattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, s := range c.yes {
			if !re.MatchString(s) {
				t.Errorf("%s does not match %s", c.pattern, s)
			}
		}
		for _, s := range c.no {
			if re.MatchString(s) {
				t.Errorf("%s matches %s", c.pattern, s)
			}
		}
	}
}
