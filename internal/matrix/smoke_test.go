package matrix

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// brief is a row in a few words: size, concurrencies, and what evals do.
func brief(rows []Row) []string {
	out := []string{}
	for _, r := range rows {
		size := fmt.Sprintf("tp%d", r.Int("tp"))
		if r.multinode() {
			size = fmt.Sprintf("p%dd%d", r.Row("prefill").Int("num-worker"), r.Row("decode").Int("num-worker"))
		}
		s := fmt.Sprintf("%s %v", size, r.concs())
		for _, f := range []string{"run-eval", "eval-conc", "eval-all-concs", "eval-only"} {
			if v, ok := r.Get(f); ok {
				s += fmt.Sprintf(" %s:%v", f, v)
			}
		}
		out = append(out, s)
	}
	return out
}

func multiSearch(workers int, concs ...int) recipe.Search {
	pool := func(n int) *recipe.Worker {
		return &recipe.Worker{Workers: n, TP: 2, PP: 1, DCP: 1, PCP: 1, EP: 1, Written: []string{"num-worker", "tp", "ep", "dp-attn"}}
	}
	return recipe.Search{Prefill: pool(1), Decode: pool(workers), SpecDecoding: "none", Offload: "none", List: concs}
}

// multiCatalogue holds one multi-node family: 8k1k in three entries, two of
// them of one deployment, and trace replays of two deployments.
func multiCatalogue() *recipe.Catalogue {
	e := recipe.Entry{Image: "lab/engine:v1", Model: "lab/tiny", ModelPrefix: "lab", Runner: "cluster:cpu", Precision: "fp8", Framework: "sim", Multinode: true}
	e.Fixed = []recipe.FixedBlock{{ISL: 8192, OSL: 1024, Search: []recipe.Search{multiSearch(1, 2, 8), multiSearch(1, 64, 32), multiSearch(2, 4)}}}
	e.Agentic = []recipe.AgenticBlock{{Search: []recipe.Search{multiSearch(1, 8, 16, 24), multiSearch(2, 3)}}}
	return &recipe.Catalogue{Families: []recipe.Family{{ID: "m.yaml:lab-m", File: "m.yaml", Key: "lab-m", Line: 1, Entry: e}}}
}

// First every deployment at its lowest concurrency without an eval, then the
// evals that the policy chooses, one to a deployment.
func TestSmokeRows(t *testing.T) {
	for name, c := range map[string]struct {
		cat  *recipe.Catalogue
		want []string
	}{
		"multi-node": {multiCatalogue(), []string{
			"p1d1 [2] run-eval:false", "p1d2 [4] run-eval:false", "p1d1 [8] run-eval:false", "p1d2 [3] run-eval:false",
			"p1d1 [64] run-eval:true eval-conc:64 eval-all-concs:false eval-only:true",
			"p1d1 [24] run-eval:true eval-conc:24 eval-only:true",
		}},
		"single-node-median-remains": {labCatalogue(t, labFamily), []string{
			"tp1 [1] run-eval:false", "tp2 [4] run-eval:false", "tp1 [3] run-eval:false",
			"tp1 [8] run-eval:true eval-only:true", "tp2 [8] run-eval:true eval-only:true",
		}},
	} {
		rule := DefaultEvals
		if name != "multi-node" {
			rule = labEvals
		}
		rows, _, err := FullSweep(c.cat, rule, Sweep{Mode: SmokeTest})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, brief(rows)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Of the published catalogue a smoke run measures each deployment once and
// evaluates no more than the policy does.
func TestSmokeOfThePublishedCatalogue(t *testing.T) {
	c := catalogue(t, "inferencex")
	rows, _, err := FullSweep(c, DefaultEvals, Sweep{Mode: SmokeTest})
	if err != nil {
		t.Fatal(err)
	}
	throughput, evals := 0, 0
	seen := map[string]bool{}
	for _, r := range rows {
		id := topology(r)
		if r.Bool("eval-only") {
			id += " eval"
			evals++
		} else {
			throughput++
		}
		if seen[id] || len(r.concs()) != 1 {
			t.Errorf("%s: more than one row or concurrency", id)
		}
		seen[id] = true
	}
	all := map[string]bool{}
	for _, r := range sweepOf(t, c, Sweep{Mode: NoEvals}) {
		all[topology(r)] = true
	}
	if throughput != len(all) || evals == 0 || evals > 645 {
		t.Errorf("got %d throughput rows and %d evals, want %d and some of the 645 marked", throughput, evals, len(all))
	}
}

// After marking: one row for every deployment, at its lowest concurrency, and
// an eval if any of its rows had one.
func TestLowerRows(t *testing.T) {
	c := multiCatalogue()
	for _, o := range []struct {
		mode Mode
		want []string
	}{
		{MarkEvals, []string{"p1d1 [2] run-eval:true eval-conc:2", "p1d2 [4] run-eval:false", "p1d1 [8] run-eval:false", "p1d2 [3] run-eval:false"}},
		{NoEvals, []string{"p1d1 [2] run-eval:false", "p1d2 [4] run-eval:false", "p1d1 [8]", "p1d2 [3]"}},
		{EvalsOnly, []string{"p1d1 [32] run-eval:true eval-conc:32 eval-only:true", "p1d1 [24] run-eval:true eval-conc:24 eval-only:true"}},
		{AllEvals, []string{
			"p1d1 [2] run-eval:true eval-all-concs:true eval-only:true", "p1d2 [4] run-eval:true eval-all-concs:true eval-only:true",
			"p1d1 [8] run-eval:true eval-conc:8 eval-only:true", "p1d2 [3] run-eval:true eval-conc:3 eval-only:true"}},
	} {
		rows, _, err := FullSweep(c, DefaultEvals, Sweep{Mode: o.mode, Lower: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o.want, brief(rows)); diff != "" {
			t.Errorf("%s: %s", o.mode, diff)
		}
	}
	rows, _, err := FullSweep(labCatalogue(t, labFamily), labEvals, Sweep{Mode: MarkEvals, Lower: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tp1 [1] run-eval:true", "tp2 [4] run-eval:true", "tp1 [3] run-eval:false"}, brief(rows)); diff != "" {
		t.Errorf("single-node: %s", diff)
	}
	if got := brief(Lower([]Row{{}})); len(got) != 1 { // nothing to compare it by
		t.Errorf("a row without concurrencies: got %v", got)
	}
}

// Of rows with the same lowest concurrency the first remains, in its place.
func TestLowerKeepsTheFirstOfEqualRows(t *testing.T) {
	a := rowOf(t, `{"tp":1,"conc":4,"exp-name":"a","run-eval":false}`)
	b := rowOf(t, `{"tp":2,"conc":1,"exp-name":"b"}`)
	c := rowOf(t, `{"tp":1,"conc":4,"exp-name":"c","run-eval":true}`)
	got := textsOf(t, Lower([]Row{a, b, c}))
	want := []string{`{"tp":1,"conc":4,"exp-name":"a","run-eval":true}`, `{"tp":2,"conc":1,"exp-name":"b"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a.Bool("run-eval") {
		t.Error("the rows that were given have changed")
	}
}
