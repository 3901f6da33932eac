package matrix

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// Edge cases that the recipes specification lists in section 11, by number.

func TestEdge1RangeWithEqualBoundsIsOnePoint(t *testing.T) {
	c := labCatalogue(t, strings.Replace(labFamily, "conc-start: 1, conc-end: 16", "conc-start: 7, conc-end: 7", 1))
	if diff := cmp.Diff([]string{"tp1 [7] run-eval:false", "tp1 [16] run-eval:false"}, brief(sweepOf(t, c, Sweep{Filter: Filter{Lengths: []string{"256_64"}}, Mode: NoEvals}))[:2]); diff != "" {
		t.Error(diff)
	}
}

func TestEdge3LimitOfZeroOrLessLeavesNothing(t *testing.T) {
	for _, limit := range []int{0, -1} {
		rows, _, err := FullSweep(multiCatalogue(), DefaultEvals, Sweep{Filter: Filter{MaxConc: n(limit)}, Mode: MarkEvals})
		if err != nil || len(rows) != 0 {
			t.Errorf("max-conc %d: got %v, %v; want no row and no error", limit, brief(rows), err)
		}
	}
}

func TestEdge4NothingLeftIsAnEmptyArray(t *testing.T) {
	rows := sweepOf(t, labCatalogue(t, labFamily), Sweep{Filter: Filter{MaxTP: n(0)}, Mode: MarkEvals})
	if text, err := WriteRows(rows); err != nil || string(text) != "[]\n" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestEdge5FamilyWithoutMatchingRunnerIsSkipped(t *testing.T) {
	c := labCatalogue(t, labFamily+"\n"+strings.NewReplacer("lab-a", "lab-b", "runner: cpu", "runner: nowhere").Replace(labFamily))
	rows, warnings, err := FullSweep(c, labEvals, Sweep{Filter: Filter{Node: "cpu_0"}, Mode: NoEvals})
	if err != nil || len(rows) != 10 || rows[0].Str("runner") != "cpu_0" {
		t.Fatalf("got %d rows, %v", len(rows), err)
	}
	if want := `no runner of 1 family has "cpu_0" in its name: lab-b`; warnings[len(warnings)-1] != want {
		t.Errorf("got %q, want %s", warnings, want)
	}
}

func TestEdge6FormOfConcurrency(t *testing.T) {
	rows := append(sweepOf(t, multiCatalogue(), Sweep{Mode: MarkEvals}), sweepOf(t, labCatalogue(t, bothScenarios), Sweep{Mode: MarkEvals})...)
	for _, r := range rows {
		v, _ := r.Get("conc")
		if _, many := v.([]any); many != r.multinode() {
			t.Errorf("%s: conc is %T, multi-node %v", r.Str("exp-name"), v, r.multinode())
		}
	}
}

func TestEdge7BudgetIgnoresDecodeAndIsNoLimitWithoutOffloading(t *testing.T) {
	runners := recipe.Runners{Hardware: map[string]recipe.Hardware{"cluster:cpu": {MemoryMiB: 1 << 20, GPUsPerNode: 8}}}
	e, b := recipe.Entry{Runner: "cluster:cpu", Multinode: true}, recipe.AgenticBlock{DRAMUtilization: "0.5"}
	s := multiSearch(1, 4)
	s.Offload = "dram"
	want, err := dramBudget(e, b, s, runners)
	if err != nil {
		t.Fatal(err)
	}
	s.Decode.TP, s.Decode.Workers = 6, 9
	if got, err := dramBudget(e, b, s, runners); err != nil || got != want {
		t.Errorf("another decode: got %d, %v; want %d", got, err, want)
	}
	e.Multinode = false
	wide := recipe.Search{TP: 16, PP: 1, PCP: 1, Offload: "none"}
	if got, err := dramBudget(e, b, wide, runners); err != nil || got != 0 {
		t.Errorf("tp 16 on a node of 8 without offloading: got %d, %v", got, err)
	}
}

func TestEdge8BudgetKnowsPPAndPCPButNotDCP(t *testing.T) {
	runners := recipe.Runners{Hardware: map[string]recipe.Hardware{"cluster:cpu": {MemoryMiB: 1 << 20, GPUsPerNode: 8}}}
	e, b := recipe.Entry{Runner: "cluster:cpu"}, recipe.AgenticBlock{DRAMUtilization: "0.5"}
	for name, c := range map[string]struct {
		s    recipe.Search
		want int
	}{
		"plain": {recipe.Search{TP: 2, PP: 1, DCP: 1, PCP: 1}, 137},
		"dcp":   {recipe.Search{TP: 2, PP: 1, DCP: 2, PCP: 1}, 137},
		"pp":    {recipe.Search{TP: 2, PP: 2, DCP: 1, PCP: 1}, 274},
		"pcp":   {recipe.Search{TP: 2, PP: 1, DCP: 1, PCP: 4}, 549},
	} {
		c.s.Offload = "dram"
		if got, err := dramBudget(e, b, c.s, runners); err != nil || got != c.want {
			t.Errorf("%s: got %d, %v; want %d", name, got, err, c.want)
		}
	}
}

func TestEdge14WorkerCountsMakeEvalTargets(t *testing.T) {
	c := multiCatalogue()
	two := multiSearch(1, 32)
	two.Prefill.Workers = 2
	c.Families[0].Entry.Fixed[0].Search = []recipe.Search{multiSearch(1, 32), two, multiSearch(2, 32)}
	c.Families[0].Entry.Agentic = nil
	if rows := sweepOf(t, c, Sweep{Mode: EvalsOnly}); len(rows) != 3 {
		t.Errorf("1P1D, 2P1D and 1P2D: got %v", brief(rows))
	}
}

func TestEdge15AllEvalsOfAMarkedRow(t *testing.T) {
	c := multiCatalogue()
	c.Families[0].Entry.Agentic = nil
	marked := sweepOf(t, c, Sweep{Mode: MarkEvals})
	if diff := cmp.Diff([]string{"p1d1 [2 8] run-eval:false", "p1d1 [64 32] run-eval:true eval-conc:64", "p1d2 [4] run-eval:false"}, brief(marked)); diff != "" {
		t.Fatal(diff)
	}
	want := []string{"p1d1 [2 8 32 64] run-eval:true eval-all-concs:true eval-only:true", "p1d2 [4] run-eval:true eval-all-concs:true eval-only:true"}
	if diff := cmp.Diff(want, brief(sweepOf(t, c, Sweep{Mode: AllEvals}))); diff != "" {
		t.Error(diff)
	}
}

func TestEdge16OverlappingPatternsResolveOnce(t *testing.T) {
	c := labCatalogue(t, labFamily+"\n"+strings.Replace(labFamily, "lab-a", "lab-b", 1))
	for _, o := range []struct{ keys, want []string }{
		{[]string{"lab-*", "lab-a", "*"}, []string{"lab-a", "lab-b"}},
		{[]string{"lab-b", "lab-?", "lab-b"}, []string{"lab-b", "lab-a"}},
	} {
		families, err := Select(c, o.keys)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range families {
			got = append(got, f.Key)
		}
		if diff := cmp.Diff(o.want, got); diff != "" {
			t.Errorf("%v: %s", o.keys, diff)
		}
	}
}

// A priority label of this form is a label like any other.
func TestEdge21PriorityLabelHasNoEffect(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(shared(t), "data", "inferencex", "configs", "ci-priority.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	scores, err := recipe.ParsePriorities(src, "ci-priority.yaml")
	if err != nil {
		t.Fatal(err)
	}
	policy := Priorities{scores}
	var plan Row
	if err := json.Unmarshal([]byte(`{"single_node":{"1k1k":[{"runner":"cpu","framework":"sim"}]}}`), &plan); err != nil {
		t.Fatal(err)
	}
	without, err := policy.Annotate(plan, Job{Event: "push"})
	if err != nil {
		t.Fatal(err)
	}
	with, err := policy.Annotate(plan, Job{Event: "push", Labels: []string{"ci-priority:high"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(textsOf(t, []Row{without.(Row)}), textsOf(t, []Row{with.(Row)})); diff != "" {
		t.Error(diff)
	}
}
