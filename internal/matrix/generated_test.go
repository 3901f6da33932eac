package matrix

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// What a plan's JSON form measures are the plan's own points.
func TestParsePlan(t *testing.T) {
	cat := labCatalogue(t, labFamily)
	plan, err := BuildPlan(cat, []recipe.ChangelogEntry{{ConfigKeys: []string{"lab-a"}, Description: []string{"x"}, PRLink: "XXX"}}, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	plan.Base, plan.Head = strings.Repeat("a", 40), strings.Repeat("b", 40)
	src, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParsePlan(src)
	if err != nil {
		t.Fatal(err)
	}
	if got.Base != plan.Base || got.Head != plan.Head || len(got.Keys) != 1 || got.Keys[0] != "lab-a" {
		t.Errorf("got base %.12s, head %.12s, keys %v", got.Base, got.Head, got.Keys)
	}
	want := plan.Families[0].Selection
	if len(got.Throughput) != len(want.Throughput) || len(got.Evals) != len(want.Evals) || len(want.Evals) == 0 {
		t.Fatalf("got %d points and %d evals, want %d and %d", len(got.Throughput), len(got.Evals), len(want.Throughput), len(want.Evals))
	}
	known := map[string]Point{}
	for _, p := range want.Throughput {
		known[p.Key] = p
	}
	for _, p := range got.Throughput {
		w, ok := known[p.Key]
		if !ok || p.Fingerprint != w.Fingerprint || !p.Row.Equal(w.Row) {
			t.Errorf("point %s: got fingerprint %.12s and row\n%v, want %.12s and\n%v", p.Label(), p.Fingerprint, p.Row, w.Fingerprint, w.Row)
		}
	}
	for _, p := range got.Evals {
		if _, ok := known[p.Key]; !ok {
			t.Errorf("eval %s: its key is that of no point", p.Label())
		}
	}
}

// Settings make the key: nobody can say that a row is another one.
func TestParsePlanReadsSettings(t *testing.T) {
	cat := labCatalogue(t, labFamily)
	plan, err := BuildPlan(cat, []recipe.ChangelogEntry{{ConfigKeys: []string{"lab-a"}, Description: []string{"x"}, PRLink: "XXX"}}, labEvals)
	if err != nil {
		t.Fatal(err)
	}
	plan.Head = strings.Repeat("b", 40)
	src, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := ParsePlan([]byte(strings.Replace(string(src), `"tp":2`, `"tp":4`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := ParsePlan(src)
	if err != nil {
		t.Fatal(err)
	}
	differ := 0
	for i := range whole.Throughput {
		if whole.Throughput[i].Key != changed.Throughput[i].Key {
			differ++
			if whole.Throughput[i].Fingerprint != changed.Throughput[i].Fingerprint {
				t.Error("the fingerprint was not copied: this test tests nothing")
			}
		}
	}
	if differ != 1 {
		t.Errorf("%d keys differ, want that of the changed row", differ)
	}
}

func TestParsePlanRefuses(t *testing.T) {
	const head = `"changelog_metadata":{"base_ref":"a","head_ref":"b","entries":[{"config-keys":["k"]}]}`
	for name, c := range map[string]struct{ text, want string }{
		"no-json":        {`nothing`, "plan: row: not valid JSON"},
		"a-list":         {`[]`, "not a JSON object"},
		"unknown-part":   {`{"more":1,` + head + `}`, `unknown part "more"`},
		"repeated-part":  {`{"single_node":{},"single_node":{},` + head + `}`, "is repeated"},
		"no-head":        {`{"single_node":{}}`, "head_ref is missing"},
		"no-keys":        {`{"changelog_metadata":{"head_ref":"b","entries":[{}]}}`, "entry 1: config-keys are missing"},
		"no-object":      {`{"single_node":[],` + head + `}`, "plan: single_node is no object"},
		"no-list":        {`{"single_node":{"1k1k":{}},` + head + `}`, "1k1k is no list"},
		"no-row":         {`{"single_node":{"1k1k":[1]},` + head + `}`, "1k1k: row 1 is no object"},
		"no-concurrency": {`{"single_node":{"1k1k":[{"model":"m","runner":"r"}]},` + head + `}`, "row 1: it has no concurrency"},
		"no-model":       {`{"evals":[{"runner":"r","conc":4}],` + head + `}`, "evals: row 1: key of a row: it names no model"},
	} {
		if _, err := ParsePlan([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
