package matrix

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

func appendOnly(e recipe.ChangelogEntry) recipe.ChangelogEntry { e.AppendOnly = true; return e }

// planned are the points that a plan measures, and the evals.
func planned(p Plan) (throughput, evals []string) {
	for _, f := range p.Families {
		for _, pt := range f.Selection.Throughput {
			throughput = append(throughput, f.Family.Key+" "+short([]Point{pt})[0])
		}
		evals = append(evals, short(f.Selection.Evals)...)
	}
	return throughput, evals
}

// revise applies pairs of old and new text to a master file.
func revise(t testing.TB, master string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(master, pairs[i]) {
			t.Fatalf("the master does not have %q", pairs[i])
		}
		master = strings.Replace(master, pairs[i], pairs[i+1], 1)
	}
	return master
}

// Changes that only add. The numbers are those of the changelog specification,
// section 13.
func TestAppendOnlyPlans(t *testing.T) {
	const concs = "conc-list: [4, 8]"
	all := bothScenarios + multiNode
	b, m := appendOnly(entryFor("config-b")), appendOnly(entryFor("config-m"))
	for _, c := range []struct {
		name       string
		base, head string
		entries    []recipe.ChangelogEntry
		want       []string
	}{
		{"45-a-concurrency", all, revise(t, all, concs, "conc-list: [4, 8, 12]"), []recipe.ChangelogEntry{b},
			[]string{"config-b 256/64 c12 TP1 EP1"}},
		{"45-a-new-topology", all, revise(t, all, "- { tp: 1, conc-list: [4, 8] }", "- { tp: 1, conc-list: [4, 8] }\n      - { tp: 8, conc-list: [12, 16] }"), []recipe.ChangelogEntry{b},
			[]string{"config-b 256/64 c12 TP8 EP1", "config-b 256/64 c16 TP8 EP1"}},
		{"45-a-list-of-several-nodes", multiNode, revise(t, multiNode, concs, "conc-list: [4, 8, 24, 24]"), []recipe.ChangelogEntry{m},
			[]string{"config-m 256/64 c24 PTP2x1/DTP2x2"}},
		{"48-router-moved-into-rows", revise(t, bothScenarios, "  multinode", "  router: { name: r, version: v1 }\n  multinode"),
			revise(t, bothScenarios, "{ tp: 1, conc-list: [4, 8]", "{ tp: 1, router: { name: r, version: v1 }, conc-list: [4, 8, 16]",
				"{ tp: 1, kv", "{ tp: 1, router: { name: r, version: v1 }, kv"), []recipe.ChangelogEntry{b},
			[]string{"config-b 256/64 c16 TP1 EP1"}},
		{"49-range-becomes-a-list", revise(t, all, concs, "conc-start: 4, conc-end: 8"), revise(t, all, concs, "conc-list: [8, 4, 2]"), []recipe.ChangelogEntry{b},
			[]string{"config-b 256/64 c2 TP1 EP1"}},
		{"one-scenario", all, revise(t, all, "none, "+concs, "none, conc-list: [4, 8, 12]"), []recipe.ChangelogEntry{only(b, Agentic)},
			[]string{"config-b AgentX c12 TP1 EP1"}},
		{"two-entries-in-their-order", all, revise(t, all, concs, "conc-list: [4, 8, 12]", "        "+concs, "        conc-list: [2, 4, 8]"), []recipe.ChangelogEntry{m, b},
			[]string{"config-m 256/64 c2 PTP2x1/DTP2x2", "config-b 256/64 c12 TP1 EP1"}},
		{"a-pattern", all, revise(t, all, concs, "conc-list: [4, 8, 12]"), []recipe.ChangelogEntry{appendOnly(entryFor("config-*"))},
			[]string{"config-b 256/64 c12 TP1 EP1"}},
		{"beside-no-evals", all, revise(t, all, concs, "conc-list: [4, 8, 12]"), []recipe.ChangelogEntry{noEvals(b)},
			[]string{"config-b 256/64 c12 TP1 EP1"}},
		{"defaults-written-out-elsewhere", all, revise(t, all, concs, "conc-list: [4, 8, 12]", "{ num-worker: 1, tp: 2, ep: 1,", "{ tp: 2, pp: 1, num-worker: 1, ep: 1,"), []recipe.ChangelogEntry{b},
			[]string{"config-b 256/64 c12 TP1 EP1"}},
	} {
		base, head := labCatalogue(t, c.base), labCatalogue(t, c.head)
		p, err := BuildPlanWith(head, c.entries, labEvals, PlanOptions{Base: base})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		throughput, evals := planned(p)
		if diff := cmp.Diff(c.want, throughput); diff != "" || len(evals) != 0 {
			t.Errorf("%s: %d evals, points %s", c.name, len(evals), diff)
		}
		checkAgainstPlain(t, c.name, head, c.entries, p)
	}
}

// checkAgainstPlain holds a plan's jobs against those of the same entries without
// append-only: every field but the list of concurrencies is the same, so is the
// fingerprint, and there are no evals.
func checkAgainstPlain(t *testing.T, name string, head *recipe.Catalogue, entries []recipe.ChangelogEntry, p Plan) {
	t.Helper()
	var plain []recipe.ChangelogEntry
	for _, e := range entries {
		e.AppendOnly, e.NoEvals = false, false
		plain = append(plain, e)
	}
	full, err := BuildPlan(head, plain, labEvals)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var known []string
	for _, r := range full.throughput {
		known = append(known, canonical(r, "conc"))
	}
	for _, r := range p.throughput {
		if !slices.Contains(known, canonical(r, "conc")) || len(r.Str("recipe-fingerprint")) != 64 {
			t.Errorf("50, %s: job %v is not one of the plan without append-only", name, r)
		}
	}
	for _, bucket := range evalBuckets {
		if rows := list(p.Row(), bucket); len(rows) != 0 {
			t.Errorf("50, %s: %s holds %v", name, bucket, rows)
		}
	}
}

// Changes that do more than add. Each is told with the config key, what is
// different and what to do.
func TestAppendOnlyRefused(t *testing.T) {
	const concs, more = "conc-list: [4, 8]", "conc-list: [4, 8, 12]"
	two := bothScenarios + renamed(bothScenarios, "config-c")
	fixedAlone := bothScenarios[:strings.Index(bothScenarios, "    agentic")]
	b := appendOnly(entryFor("config-b"))
	const at = "m.yaml:1: config-b: append-only: "
	const other = "m.yaml:18: config-c: append-only: "
	const apart = ", but no entry selects the key: change it in a change of its own; if the base has moved on, merge it first"
	for _, c := range []struct {
		name       string
		base, head string
		entry      recipe.ChangelogEntry
		want       string
	}{
		{"another-key-differs", two, revise(t, two, concs, more, "config-c:\n  image: lab/engine:v1", "config-c:\n  image: lab/engine:v2"), b,
			other + "image differs from the base revision" + apart},
		{"another-key-has-another-search-space", two, revise(t, bothScenarios, concs, more) + revise(t, renamed(bothScenarios, "config-c"), "none, "+concs, "none, "+more), b,
			other + "block 1 of agentic-coding differs from the base revision" + apart},
		{"another-key-has-another-block", two, revise(t, bothScenarios, concs, more) + renamed(bothScenarios, "config-c") + "    - search-space:\n      - { tp: 2, kv-offloading: none, conc-list: [4] }\n", b,
			other + "the number of blocks of agentic-coding (2, 1 at the base) differs from the base revision" + apart},
		{"another-key-is-new", bothScenarios, revise(t, two, concs, more), b,
			other + "the key is new and no entry selects it: add it in a change of its own"},
		{"another-key-is-gone", two, revise(t, bothScenarios, concs, more), b,
			other + "the key of the base revision is gone: remove it in a change of its own; if the base has moved on, merge it first"},
		{"the-key-is-new", renamed(bothScenarios, "config-c"), bothScenarios + renamed(bothScenarios, "config-c"), b,
			at + "the base revision does not have this key, so there is no curve to add to: take append-only out of its entry"},
		{"a-scenario-is-new", fixedAlone, revise(t, bothScenarios, concs, more), b,
			at + "scenario agentic-coding is new: take append-only out of its entry"},
		{"a-scenario-is-gone", bothScenarios, revise(t, fixedAlone, concs, more), b,
			at + "scenario agentic-coding of the base revision is gone: take append-only out of its entry"},
		{"49-another-scenario-differs", bothScenarios, revise(t, bothScenarios, concs, more, "none, "+concs, "none, "+more), only(b, Fixed),
			at + "block 1 of agentic-coding differs from the base revision, but the entry does not select agentic-coding: change it in a change of its own"},
		{"49-the-top-level-differs-beside-another-scenario", bothScenarios, revise(t, bothScenarios, concs, more, "  multinode", "  router: { name: r, version: v1 }\n  multinode"), only(b, Fixed),
			at + "router differs from the base revision and concerns agentic-coding too, which the entry does not select: take append-only out of its entry"},
		{"46-the-image-was-changed", fixedAlone, revise(t, fixedAlone, concs, more, ":v1", ":v2"), b,
			at + "recipe 256/64 TP1 EP1 of the base revision is gone (the nearest differs in image lab/engine:v1 -> lab/engine:v2): take append-only out of the entry, so that all of the curve is measured"},
		{"47-a-concurrency-is-gone", fixedAlone, revise(t, fixedAlone, concs, "conc-list: [8, 12]"), b,
			at + "256/64 TP1 EP1 is not measured at concurrency [4] any more, as the base revision does: keep it, or take append-only out of the entry"},
		{"speculation-is-a-curve-of-its-own", fixedAlone, revise(t, fixedAlone, "- { tp: 1", "- { tp: 2, spec-decoding: mtp, conc-list: [4] }\n      - { tp: 1"), b,
			at + "256/64 TP2 EP1 begins a curve that the base revision does not have (the nearest differs in spec-decoding none -> mtp): take append-only out of the entry"},
		{"nothing-is-added", bothScenarios, bothScenarios, b,
			"append-only: nothing is added to config-b: the base revision measures every point already; add a concurrency or a topology, or take append-only out of the entry"},
		{"the-scenario-selected-is-not-there", fixedAlone, fixedAlone, only(b, Agentic),
			"append-only: the base revision measures nothing of what the entries select of config-b: take append-only out of them"},
	} {
		_, err := BuildPlanWith(labCatalogue(t, c.head), []recipe.ChangelogEntry{c.entry}, labEvals, PlanOptions{Base: labCatalogue(t, c.base)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// The base's rows come of the base's own runners: where the memory of a node
// was described anew, the budget of every recipe is another one.
func TestBaseHasItsOwnRunners(t *testing.T) {
	const master = `config-d:
  image: lab/engine:v1
  model: lab/tiny
  model-prefix: lab
  runner: cluster:cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    agentic-coding:
    - dram-utilization: 0.90
      search-space:
      - { tp: 1, kv-offloading: dram, kv-offload-backend: { name: store }, conc-list: [4, 8] }
`
	load := func(master, mib string) *recipe.Catalogue {
		t.Helper()
		c, err := recipe.Load(fstest.MapFS{
			"m.yaml": {Data: []byte(master)},
			"r.yaml": {Data: []byte("labels: {\"cluster:cpu\": [cpu_0]}\nhardware: {\"cluster:cpu\": {available-cpu-dram-mib: " + mib + ", gpus-per-node: 1}}\n")},
		}, []string{"m.yaml"}, "r.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	entries := []recipe.ChangelogEntry{appendOnly(entryFor("config-d"))}
	more := revise(t, master, "[4, 8]", "[4, 8, 12]", "0.90", "0.9")
	_, err := BuildPlanWith(load(more, "1000000"), entries, labEvals, PlanOptions{Base: load(master, "2000000")})
	const want = "m.yaml:1: config-d: append-only: recipe AgentX TP1 EP1 of the base revision is gone (the nearest differs in total-cpu-dram-gb 1887 -> 943): take append-only out of the entry, so that all of the curve is measured"
	if err == nil || err.Error() != want {
		t.Errorf("50, another node:\n got %v\nwant %s", err, want)
	}
	p, err := BuildPlanWith(load(more, "1000000"), entries, labEvals, PlanOptions{Base: load(master, "1000000")})
	if got, _ := planned(p); err != nil || !slices.Equal(got, []string{"config-d AgentX c12 TP1 EP1"}) {
		t.Errorf("50, the same node: got %v, %v", got, err)
	}
	bad := load(master, "2000000")
	bad.Runners.Hardware = nil
	if _, err = BuildPlanWith(load(more, "1000000"), entries, labEvals, PlanOptions{Base: bad}); err == nil || !strings.HasPrefix(err.Error(), "base revision: m.yaml:13: config-d: kv-offloading needs hardware of runner") {
		t.Errorf("50, a base that cannot be expanded: got %v", err)
	}
}

// A config key may move to another file: it is the key that counts.
func TestAppendOnlyAcrossFiles(t *testing.T) {
	base := labCatalogue(t, bothScenarios)
	head := labCatalogue(t, revise(t, bothScenarios, "[4, 8]", "[4, 8, 12]"))
	for i := range base.Families {
		base.Families[i].File, base.Families[i].ID = "old.yaml", "old.yaml:"+base.Families[i].Key
	}
	p, err := BuildPlanWith(head, []recipe.ChangelogEntry{appendOnly(entryFor("config-b"))}, labEvals, PlanOptions{Base: base})
	if got, _ := planned(p); err != nil || !slices.Equal(got, []string{"config-b 256/64 c12 TP1 EP1"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// What is added is trimmed like any other throughput.
func TestAppendOnlyTrimmed(t *testing.T) {
	base := labCatalogue(t, multiNode)
	head := labCatalogue(t, revise(t, multiNode, "conc-list: [4, 8]", "conc-list: [64, 4, 32, 8]"))
	p, err := BuildPlanWith(head, []recipe.ChangelogEntry{appendOnly(entryFor("config-m"))}, labEvals, PlanOptions{Base: base, Trim: true})
	if got, _ := planned(p); err != nil || !slices.Equal(got, []string{"config-m 256/64 c32 PTP2x1/DTP2x2"}) {
		t.Errorf("got %v, %v", got, err)
	}
}
