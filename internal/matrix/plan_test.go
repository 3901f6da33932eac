package matrix

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// labFamily has two deployment shapes; entry 2 repeats a point of entry 1.
const labFamily = `lab-a:
  image: lab/engine:v1
  model: lab/tiny
  model-prefix: laba
  runner: cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 256
      osl: 64
      search-space:
      - { tp: 1, conc-start: 1, conc-end: 16 }
      - { tp: 1, conc-list: [16] }
      - { tp: 2, conc-list: [8, 4] }
    - isl: 512
      osl: 64
      search-space:
      - { tp: 1, conc-list: [100, 3] }
`

func labCatalogue(t *testing.T, master string) *recipe.Catalogue {
	t.Helper()
	c, err := recipe.Load(fstest.MapFS{
		"m.yaml": {Data: []byte(master)},
		"r.yaml": {Data: []byte("labels: {cpu: [cpu_0]}\n")},
	}, []string{"m.yaml"}, "r.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var labEvals = EvalRule{Lengths: [][2]int{{256, 64}}, Floor: 4}

// short is a label without its key.
func short(points []Point) []string {
	var out []string
	for _, p := range points {
		l := p.Label()
		out = append(out, l[:strings.LastIndex(l, " ")])
	}
	return out
}

func TestPointsCollapseAndMark(t *testing.T) {
	c := labCatalogue(t, labFamily)
	points, warnings, err := Points(c.Families[0], c.Runners, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"256/64 c1 TP1 EP1", "256/64 c2 TP1 EP1", "256/64 c4 TP1 EP1", "256/64 c8 TP1 EP1", "256/64 c16 TP1 EP1",
		"256/64 c8 TP2 EP1", "256/64 c4 TP2 EP1", "512/64 c100 TP1 EP1", "512/64 c3 TP1 EP1"}
	if diff := cmp.Diff(want, short(points)); diff != "" {
		t.Error(diff)
	}
	if len(warnings) != 1 || warnings[0] != "m.yaml:lab-a: point "+points[4].Label()+" is listed twice" {
		t.Errorf("warnings: got %v", warnings)
	}
	full := Full(points)
	if diff := cmp.Diff([]string{"256/64 c8 TP1 EP1", "256/64 c16 TP1 EP1", "256/64 c8 TP2 EP1"}, short(full.Evals)); diff != "" {
		t.Errorf("marked: %s", diff)
	}
	smoke := Smoke(points)
	if diff := cmp.Diff([]string{"256/64 c1 TP1 EP1", "256/64 c4 TP2 EP1", "512/64 c3 TP1 EP1"}, short(smoke.Throughput)); diff != "" {
		t.Errorf("smoke throughput: %s", diff)
	}
	if diff := cmp.Diff([]string{"256/64 c8 TP1 EP1", "256/64 c8 TP2 EP1"}, short(smoke.Evals)); diff != "" {
		t.Errorf("smoke evals: %s", diff)
	}
	if got, want := points[5].Settings(), (Settings{256, 64, 2, 1, Fixed}); got != want {
		t.Errorf("Settings: got %+v, want %+v", got, want)
	}
}

// The key survives a change of image, the fingerprint does not.
func TestImageChangesFingerprintAlone(t *testing.T) {
	one := labCatalogue(t, labFamily)
	two := labCatalogue(t, strings.Replace(labFamily, "engine:v1", "engine:v2", 1))
	a, _, err := Points(one.Families[0], one.Runners, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Points(two.Families[0], two.Runners, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i].Key != b[i].Key || a[i].Fingerprint == b[i].Fingerprint {
			t.Errorf("%s: key or fingerprint of the new image is wrong", a[i].Label())
		}
	}
}

func TestConcurrencies(t *testing.T) {
	for _, c := range []struct {
		search recipe.Search
		want   []int
	}{
		{recipe.Search{Start: 4, End: 64}, []int{4, 8, 16, 32, 64}},
		{recipe.Search{Start: 4, End: 100}, []int{4, 8, 16, 32, 64, 100}},
		{recipe.Search{Start: 7, End: 7}, []int{7}},
		{recipe.Search{List: []int{9, 1, 9}}, []int{9, 1, 9}},
	} {
		if diff := cmp.Diff(c.want, Concurrencies(c.search)); diff != "" {
			t.Errorf("%+v: %s", c.search, diff)
		}
	}
}

func delta(t *testing.T, change func(*recipe.ChangelogEntry)) []recipe.ChangelogEntry {
	t.Helper()
	name := "buckets-example-delta.yaml"
	src, err := os.ReadFile(filepath.Join(shared(t), "data", "inferencex", "expected", name))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := recipe.ParseChangelog(src, name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&entries[0])
	}
	return entries
}

func TestPlanBuckets(t *testing.T) {
	c := catalogue(t, "inferencex")
	p, err := BuildPlan(c, delta(t, nil), DefaultEvals)
	if err != nil {
		t.Fatal(err)
	}
	p.Base, p.Head = "base", "head"
	same(t, "buckets-example.json", p, expected(t, "buckets-example.json"))
	throughput, evals := 0, 0
	for _, f := range p.Families {
		throughput += len(f.Selection.Throughput)
		evals += len(f.Selection.Evals)
		full := Full(f.Selection.Throughput)
		if diff := cmp.Diff(short(full.Evals), short(f.Selection.Evals)); diff != "" {
			t.Errorf("%s: evals of the plan differ from the marked points: %s", f.Family.Key, diff)
		}
	}
	if len(p.Families) != 7 || throughput != 69 || evals != 15 {
		t.Errorf("plan: got %d families, %d points, %d evals", len(p.Families), throughput, evals)
	}
}

// An entry with all-evals has the evals of the published option of that name,
// and no throughput.
func TestPlanAllEvals(t *testing.T) {
	c := catalogue(t, "inferencex")
	p, err := BuildPlan(c, delta(t, func(e *recipe.ChangelogEntry) { e.AllEvals = true }), DefaultEvals)
	if err != nil {
		t.Fatal(err)
	}
	var want, got Row
	if err := json.Unmarshal([]byte(expected(t, "buckets-example-all-evals.json")), &want); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range evalBuckets {
		w, _ := want.Get(name)
		g, _ := got.Get(name)
		if canonicalOf(w) != canonicalOf(g) {
			t.Errorf("%s: got %v, want %v", name, g, w)
		}
	}
	if n := len(got.Row("single_node").Names()) + len(got.Row("multi_node").Names()); n != 0 {
		t.Errorf("throughput buckets: got %d, want none", n)
	}
}

func canonicalOf(v any) string {
	var r Row
	r.Set("v", v)
	return canonical(r)
}

func TestPlanOfPublishedKeyIsItsFamilyPlan(t *testing.T) {
	c := catalogue(t, "inferencex")
	for _, key := range []string{"dsv4-fp4-b200-vllm", "dsr1-fp4-b200-dynamo-trt", "dsv4-fp4-b200-vllm-agentic-mtp", "dsv4-fp4-mi355x-sglang-disagg-agentic-hicache-mtp"} {
		built, err := BuildPlan(c, []recipe.ChangelogEntry{{ConfigKeys: []string{key}, Description: []string{"d"}, PRLink: "XXX"}}, DefaultEvals)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := PlanFamily(family(t, c, key), c.Runners, DefaultEvals, Full)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(built.Families, alone.Families); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

func TestPlanOrderAndCoverage(t *testing.T) {
	c := labCatalogue(t, labFamily+"\n"+strings.Replace(labFamily, "lab-a", "lab-b", 1))
	entry := func(keys ...string) recipe.ChangelogEntry {
		return recipe.ChangelogEntry{ConfigKeys: keys, Description: []string{"d"}, PRLink: "XXX"}
	}
	wide := entry("lab-b")
	wide.AllEvals = true
	p, err := BuildPlan(c, []recipe.ChangelogEntry{entry("lab-*", "lab-a"), entry("lab-a"), wide}, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Families) != 2 || p.Families[0].Family.Key != "lab-b" {
		t.Fatalf("families: got %d, first %s", len(p.Families), p.Families[0].Family.Key)
	}
	for i, want := range []int{7, 3} { // lab-b: every point of 256/64, lab-a: the marked ones
		s := p.Families[i].Selection
		if len(s.Throughput) != 9 || len(s.Evals) != want {
			t.Errorf("%s: got %d points and %d evals, want 9 and %d", p.Families[i].Family.Key, len(s.Throughput), len(s.Evals), want)
		}
	}
	for _, bad := range []struct {
		e    recipe.ChangelogEntry
		want string
	}{
		{entry("lab-c"), `changelog: no family "lab-c" in the catalogue (did you mean "lab-a"?)`},
		{entry("x*"), `changelog: no config key matches "x*"`},
		{recipe.ChangelogEntry{ConfigKeys: []string{"lab-a"}, AppendOnly: true}, "changelog entry for lab-a: append-only adds to what a base revision measures, and no base revision is given"},
	} {
		if _, err := BuildPlan(c, []recipe.ChangelogEntry{bad.e}, labEvals); err == nil || err.Error() != bad.want {
			t.Errorf("BuildPlan(%v): got %v, want %s", bad.e.ConfigKeys, err, bad.want)
		}
	}
}

// A plan put together from selections has one job per point and per eval.
func TestSmokePlanJobs(t *testing.T) {
	c := labCatalogue(t, labFamily)
	p, err := PlanFamily(c.Families[0], c.Runners, labEvals, Smoke)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got Row
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	throughput, _ := got.Row("single_node").Get("256_64")
	evals, _ := got.Get("evals")
	if len(throughput.([]any)) != 2 || len(evals.([]any)) != 2 {
		t.Fatalf("jobs: got %s", text)
	}
	e := evals.([]any)[0].(Row)
	if !e.Bool("run-eval") || !e.Bool("eval-only") || e.Has("recipe-fingerprint") || e.Int("conc") != 8 {
		t.Errorf("eval job: got %v", e)
	}
	if key, err := Key(e); err != nil || key != p.Families[0].Selection.Evals[0].Key {
		t.Errorf("key of the eval job: got %s, %v", key, err)
	}
}

func TestWildcard(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true}, {"a*a", "a", false},
		{"a*b*c", "axbyc", true}, {"a*b*c", "axc", false}, {"*", "", true}, {"a?", "ab", false}, {"a.*", "ab", false}, {"**b", "ab", true},
	} {
		if got := wildcard(c.pattern, c.s); got != c.want {
			t.Errorf("wildcard(%q, %q): got %v", c.pattern, c.s, got)
		}
	}
}

func TestParseEvalRule(t *testing.T) {
	ev, err := ParseEvalRule([]string{"8192/1024", "256/64"}, 16)
	if diff := cmp.Diff(EvalRule{Lengths: [][2]int{{8192, 1024}, {256, 64}}, Floor: 16}, ev); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []string{"", "8192", "8k/1k", "0/1", "1/2/3"} {
		if _, err := ParseEvalRule([]string{bad}, 1); err == nil {
			t.Errorf("ParseEvalRule(%q): got no error", bad)
		}
	}
}
