package matrix

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// bothScenarios is a family with fixed lengths and a trace replay, on one node.
const bothScenarios = `config-b:
  image: lab/engine:v1
  model: lab/tiny
  model-prefix: lab
  runner: cluster:cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 256
      osl: 64
      search-space:
      - { tp: 1, conc-list: [4, 8] }
    agentic-coding:
    - search-space:
      - { tp: 1, kv-offloading: none, conc-list: [4, 8] }
`

// renamed is a family under another key.
func renamed(master, key string) string {
	_, rest, _ := strings.Cut(master, ":")
	return key + ":" + rest
}

func entryFor(keys ...string) recipe.ChangelogEntry {
	return recipe.ChangelogEntry{ConfigKeys: keys, Description: []string{"d"}, PRLink: "XXX"}
}

// only is an entry for some scenarios.
func only(e recipe.ChangelogEntry, scenarios ...string) recipe.ChangelogEntry {
	e.ScenarioType = scenarios
	return e
}

func allEvals(e recipe.ChangelogEntry) recipe.ChangelogEntry  { e.AllEvals = true; return e }
func evalsOnly(e recipe.ChangelogEntry) recipe.ChangelogEntry { e.EvalsOnly = true; return e }
func noEvals(e recipe.ChangelogEntry) recipe.ChangelogEntry   { e.NoEvals = true; return e }

// told is a call on one line.
func told(calls []call) []string {
	var out []string
	for _, c := range calls {
		var keys []string
		for _, f := range c.families {
			keys = append(keys, f.Key)
		}
		out = append(out, fmt.Sprintf("%s %s %s", c.mode, strings.Join(keys, ","), strings.Join(c.scenarios, ",")))
	}
	return out
}

// The runs of the generator that a changelog asks for. The numbers are those
// of the changelog specification, section 13.
func TestGeneratorCalls(t *testing.T) {
	cat := labCatalogue(t, bothScenarios+renamed(bothScenarios, "config-a")+renamed(labFamily, "other-fixed"))
	a := entryFor("config-a")
	const both = " fixed-seq-len,agentic-coding"
	for _, c := range []struct {
		name    string
		entries []recipe.ChangelogEntry
		options PlanOptions
		want    []string
	}{
		{"33-pattern-in-catalogue-order-and-each-key-once", []recipe.ChangelogEntry{entryFor("config-*", "config-a")}, PlanOptions{},
			[]string{"no-evals config-b,config-a" + both, "evals-only config-b,config-a" + both}},
		{"35-plain", []recipe.ChangelogEntry{a}, PlanOptions{},
			[]string{"no-evals config-a" + both, "evals-only config-a" + both}},
		{"36-entry-all-evals", []recipe.ChangelogEntry{allEvals(a)}, PlanOptions{},
			[]string{"all-evals config-a" + both}},
		{"37-option-all-evals", []recipe.ChangelogEntry{a}, PlanOptions{AllEvals: true},
			[]string{"no-evals config-a" + both, "all-evals config-a" + both}},
		{"38-option-evals-only", []recipe.ChangelogEntry{a}, PlanOptions{EvalsOnly: true},
			[]string{"evals-only config-a" + both}},
		{"38-both-options", []recipe.ChangelogEntry{a}, PlanOptions{EvalsOnly: true, AllEvals: true},
			[]string{"all-evals config-a" + both}},
		{"39-option-all-evals-entry-evals-only", []recipe.ChangelogEntry{evalsOnly(a)}, PlanOptions{AllEvals: true},
			[]string{"all-evals config-a" + both}},
		{"40-all-evals-after-a-plain-entry", []recipe.ChangelogEntry{a, allEvals(a)}, PlanOptions{},
			[]string{"all-evals config-a" + both, "no-evals config-a" + both}},
		{"41-disjoint-scenarios", []recipe.ChangelogEntry{only(a, Fixed), only(a, Agentic)}, PlanOptions{},
			[]string{"no-evals config-a fixed-seq-len", "evals-only config-a fixed-seq-len", "no-evals config-a agentic-coding", "evals-only config-a agentic-coding"}},
		{"42-all-evals-of-one-scenario", []recipe.ChangelogEntry{allEvals(only(a, Agentic)), a}, PlanOptions{},
			[]string{"all-evals config-a agentic-coding", "no-evals config-a" + both, "evals-only config-a fixed-seq-len"}},
		{"overlap-adds-nothing", []recipe.ChangelogEntry{a, a, only(a, Fixed)}, PlanOptions{},
			[]string{"no-evals config-a" + both, "evals-only config-a" + both}},
		{"groups-of-equal-scenarios", []recipe.ChangelogEntry{only(a, Agentic), entryFor("config-*")}, PlanOptions{},
			[]string{"no-evals config-a agentic-coding", "evals-only config-a agentic-coding",
				"no-evals config-b" + both, "no-evals config-a fixed-seq-len", "evals-only config-b" + both, "evals-only config-a fixed-seq-len"}},
		{"no-evals", []recipe.ChangelogEntry{noEvals(a)}, PlanOptions{},
			[]string{"no-evals config-a" + both}},
		{"no-evals-leaves-evals-to-a-later-entry", []recipe.ChangelogEntry{noEvals(a), a}, PlanOptions{},
			[]string{"no-evals config-a" + both, "evals-only config-a" + both}},
		{"50-append-only", []recipe.ChangelogEntry{appendOnly(a)}, PlanOptions{Base: cat},
			[]string{"no-evals config-a" + both}},
	} {
		calls, err := generatorCalls(cat, c.entries, c.options)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, told(calls)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A question mark is literal, and whatever names nothing is an error.
func TestConfigKeysThatNameNothing(t *testing.T) {
	cat := labCatalogue(t, renamed(labFamily, "config-a1"))
	for _, c := range []struct{ key, want string }{
		{"b*", `changelog: no config key matches "b*"`},
		{"*2", `changelog: no config key matches "*2"`},
		{"config-a?", `changelog: no family "config-a?" in the catalogue (did you mean "config-a1"?)`},
		{"config-a2", `changelog: no family "config-a2" in the catalogue (did you mean "config-a1"?)`},
	} {
		if _, err := generatorCalls(cat, []recipe.ChangelogEntry{entryFor("config-a1", c.key)}, PlanOptions{}); err == nil || err.Error() != c.want {
			t.Errorf("34, config key %q:\n got %v\nwant %s", c.key, err, c.want)
		}
	}
}

// Options and entries that exclude each other.
func TestPlanOptionsRefused(t *testing.T) {
	cat := labCatalogue(t, bothScenarios)
	b := entryFor("config-b")
	const mixed = "changelog entry for config-b: is not append-only, but others of the same change are: put it into a change of its own"
	const extended = "changelog entry for config-b: append-only adds throughput alone: it excludes all-evals and evals-only as an option or a label"
	const bare = "changelog entry for config-b: no-evals excludes all-evals and evals-only as an option or a label"
	for _, c := range []struct {
		name    string
		entries []recipe.ChangelogEntry
		options PlanOptions
		want    string
	}{
		{"a-plain-entry-after", []recipe.ChangelogEntry{appendOnly(entryFor("config-b")), b}, PlanOptions{Base: cat}, mixed},
		{"a-plain-entry-before", []recipe.ChangelogEntry{b, appendOnly(entryFor("config-b"))}, PlanOptions{Base: cat}, mixed},
		{"append-only-with-all-evals", []recipe.ChangelogEntry{appendOnly(b)}, PlanOptions{Base: cat, AllEvals: true}, extended},
		{"append-only-with-evals-only", []recipe.ChangelogEntry{appendOnly(b)}, PlanOptions{Base: cat, EvalsOnly: true}, extended},
		{"append-only-without-base", []recipe.ChangelogEntry{appendOnly(b)}, PlanOptions{},
			"changelog entry for config-b: append-only adds to what a base revision measures, and no base revision is given"},
		{"no-evals-with-all-evals", []recipe.ChangelogEntry{noEvals(b)}, PlanOptions{AllEvals: true}, bare},
		{"no-evals-with-evals-only", []recipe.ChangelogEntry{noEvals(b)}, PlanOptions{EvalsOnly: true}, bare},
	} {
		if _, err := BuildPlanWith(cat, c.entries, labEvals, c.options); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// multiNode is a family of two pools; both scenarios.
const multiNode = `config-m:
  image: lab/engine:v1
  model: lab/tiny
  model-prefix: lab
  runner: cluster:cpu
  precision: fp8
  framework: sim
  multinode: true
  disagg: true
  kv-p2p-transfer: pipe
  scenarios:
    fixed-seq-len:
    - isl: 256
      osl: 64
      search-space:
      - prefill: { num-worker: 1, tp: 2, ep: 1, dp-attn: false }
        decode: { num-worker: 2, tp: 2, ep: 1, dp-attn: false }
        conc-list: [4, 8]
    agentic-coding:
    - search-space:
      - prefill: { num-worker: 1, tp: 2, ep: 1, dp-attn: false }
        decode: { num-worker: 2, tp: 2, ep: 1, dp-attn: false }
        conc-list: [4, 8]
`

func TestEvalRowsLandInTheirBuckets(t *testing.T) {
	cat := labCatalogue(t, bothScenarios+multiNode)
	p, err := BuildPlan(cat, []recipe.ChangelogEntry{entryFor("config-*")}, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	plan := p.Row()
	for name, kind := range map[string][2]bool{ // multi-node, agentic
		"evals": {false, false}, "agentic_evals": {false, true}, "multinode_evals": {true, false}, "multinode_agentic_evals": {true, true},
	} {
		rows := list(plan, name)
		if len(rows) == 0 {
			t.Errorf("43, %s: no row", name)
		}
		for _, v := range rows {
			if r := v.(Row); r.multinode() != kind[0] || r.agentic() != kind[1] || !r.Bool("eval-only") || r.Has("recipe-fingerprint") {
				t.Errorf("43, %s: got %v", name, r)
			}
		}
	}
}

// A limit of an entry drops evals of smaller prefill workers; single nodes and
// entries of other owners are not concerned.
func TestEvalMinPrefillEP(t *testing.T) {
	wide := strings.Replace(multiNode, "    agentic", `      - prefill: { num-worker: 1, tp: 4, ep: 4, dp-attn: false }
        decode: { num-worker: 2, tp: 2, ep: 1, dp-attn: false }
        conc-list: [16]
    agentic`, 1)
	cat := labCatalogue(t, bothScenarios+wide)
	limited := entryFor("config-*")
	limited.EvalMinPrefillEP = 4
	for _, c := range []struct {
		name    string
		entries []recipe.ChangelogEntry
		want    [4]int // evals in the order of the buckets
	}{
		{"without", []recipe.ChangelogEntry{entryFor("config-*")}, [4]int{1, 1, 2, 1}},
		{"of-the-owner", []recipe.ChangelogEntry{limited, entryFor("config-m")}, [4]int{1, 1, 1, 0}},
		{"of-a-later-entry", []recipe.ChangelogEntry{entryFor("config-m"), limited}, [4]int{1, 1, 2, 1}},
	} {
		p, err := BuildPlan(cat, c.entries, labEvals)
		if err != nil {
			t.Fatal(err)
		}
		var got [4]int
		for i, name := range evalBuckets {
			got[i] = len(list(p.Row(), name))
		}
		if got != c.want {
			t.Errorf("%s: got %v evals in %v, want %v", c.name, got, evalBuckets, c.want)
		}
	}
}

// rowOf reads a row.
func rowOf(t testing.TB, text string) Row {
	t.Helper()
	var r Row
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The lowest of what is alike stays, first or not; a nested field tells recipes apart.
func TestTrimComparesNestedFields(t *testing.T) {
	const row = `{"model":"m","conc":%d,"exp-name":"c%d","kv-offload-backend":{"version":"1","name":%q}}`
	rows := []Row{
		rowOf(t, fmt.Sprintf(row, 8, 8, "one")),
		rowOf(t, `{"model":"m","exp-name":"c2","conc":2,"kv-offload-backend":{"name":"one","version":"1"}}`),
		rowOf(t, fmt.Sprintf(row, 4, 4, "other")),
	}
	var concs []int
	for _, r := range Trim(rows) {
		concs = append(concs, r.Int("conc"))
	}
	if diff := cmp.Diff([]int{2, 4}, concs); diff != "" {
		t.Errorf("44: %s", diff)
	}
}

// An entry without evals says so in the plan; one that has them says nothing.
func TestNoEvalsInThePlan(t *testing.T) {
	cat := labCatalogue(t, bothScenarios)
	p, err := BuildPlan(cat, []recipe.ChangelogEntry{noEvals(entryFor("config-b"))}, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	plan := p.Row()
	if n := len(p.Families[0].Selection.Throughput); n != 4 || len(p.Families[0].Selection.Evals) != 0 {
		t.Errorf("got %d points and %d evals, want 4 and none", n, len(p.Families[0].Selection.Evals))
	}
	for _, name := range evalBuckets {
		if rows := list(plan, name); len(rows) != 0 {
			t.Errorf("%s: got %v", name, rows)
		}
	}
	entries := func(p Plan) string {
		text, err := p.Row().Row("changelog_metadata").MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const want = `{"base_ref":"","head_ref":"","entries":[{"config-keys":["config-b"],"description":["d"],"pr-link":"XXX","evals-only":false,"all-evals":false,"append-only":false,"no-evals":true}]}`
	if got := entries(p); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if p, err = BuildPlan(cat, []recipe.ChangelogEntry{entryFor("config-b")}, labEvals); err != nil || strings.Contains(entries(p), "no-evals") {
		t.Errorf("without: got %s, %v", entries(p), err)
	}
}
