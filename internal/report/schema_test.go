package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// readers are the strict readers that the schemas must agree with.
var readers = map[string]func([]byte) error{
	"outcome":  func(data []byte) error { _, err := ParseReceipt(data); return err },
	"baseline": func(data []byte) error { _, err := ParseBaseline(data); return err },
	"report":   func(data []byte) error { _, err := ParseAttempt(data); return err },
	"cleanup":  func(data []byte) error { _, err := ParseCleanup(data); return err },
}

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	src, err := Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("mem:///"+name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bySchema is what the schema says of a record.
func bySchema(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestEveryGoldenRecordFitsItsSchema(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{"baseline.json": compiled(t, "baseline"), "attempt.json": compiled(t, "report")}
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	checked := map[string]int{}
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			s, ok := schemas[f.Name]
			if !ok {
				continue
			}
			checked[f.Name]++
			if err := bySchema(t, s, f.Data); err != nil {
				t.Errorf("%s %s: %v", file, f.Name, err)
			}
		}
	}
	if checked["baseline.json"] == 0 || checked["attempt.json"] == 0 {
		t.Errorf("checked %v, want some of both", checked)
	}
}

// everyKeySet are records in which every key is set.
func everyKeySet(t *testing.T) map[string][]byte {
	t.Helper()
	head := strings.Repeat("c", 40)
	a := goodAttempt()
	a.Finding = &Prose{EN: "It starts.", ZH: "可以启动。"}
	a.Evidence = &Evidence{Jobs: []Job{{"c4", "cpu_00"}}, RequestsDone: ptr(40), RequestsFailed: ptr(0), Arguments: []Argument{{"a", "1", "2", "rule"}},
		FirstError: "none", Benign: []string{"a warning"}, Power: "100 W"}
	a.Points[0].Dataset = ptr("arith")
	a.Points[0].Provenance = Provenance{ptr(int64(7)), ptr(head), ptr(1)}
	a.Points[0].Values.TotalTPSGPU, a.Points[0].Values.RequestErrors = ptr(20.0), ptr(0)
	a.Evals[0].Provenance = Provenance{ptr(int64(7)), ptr(head), ptr(1)}
	b := goodBaseline()
	b.Points, b.Evals = a.Points, a.Evals
	r := Receipt{Candidate: "9d94bebbcc742ac8-af00168b432f68fb", Family: "configs/a-master.yaml:fam", Outcome: "failed", Phase: "baseline",
		PullRequest: 3, RunIDs: []int64{7, 9}, Reason: "baseline-other", Head: head, MeasuredAt: head, Digest: "sha256:" + strings.Repeat("a", 64),
		Marks: []string{"inconclusive"}, Finished: time.Unix(1e9, 0).UTC()}
	k := Cleanup{Candidate: r.Candidate, Family: r.Family, Outcome: "failed", Phase: "targeted", PullRequest: 3, Head: head, Branch: "kept",
		Why: Status(FailedOutcome), Started: time.Unix(1e9, 0).UTC()}
	out := map[string][]byte{}
	for name, v := range map[string]any{"outcome": r, "baseline": b, "report": a, "cleanup": k} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = data
	}
	return out
}

// A spoiled record is a sample with one thing changed somewhere inside.
type spoiled struct {
	what string
	data []byte
}

// spoil makes every variant of a record: one key left out, one key more, and
// one value of another JSON type, at every place.
func spoil(t *testing.T, data []byte) []spoiled {
	t.Helper()
	var out []spoiled
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	keep := func(what string) {
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, spoiled{what, text})
	}
	var walk func(at string, v any, set func(any))
	walk = func(at string, v any, set func(any)) {
		for _, other := range []any{nil, true, 1.5, "text", []any{}, map[string]any{}} {
			if fmt.Sprintf("%T", other) != fmt.Sprintf("%T", v) {
				set(other)
				keep(fmt.Sprintf("%s is %v", at, other))
			}
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				was := v[key]
				delete(v, key)
				keep(at + " without " + key)
				v[key] = was
				walk(at+"."+key, was, func(x any) { v[key] = x })
			}
			v["extra"] = 1
			keep(at + " with a key more")
			delete(v, "extra")
		case []any:
			for i := range v {
				was := v[i]
				walk(fmt.Sprintf("%s[%d]", at, i), was, func(x any) { v[i] = x })
			}
		}
	}
	walk("record", root, func(x any) { root = x })
	return out
}

// together are the places where the reader asks more than a form can say: what
// a record says about itself as a whole.
var together = []string{"run-id is <nil>", "run-attempt is <nil>"}

func TestSchemasRefuseWhatTheStrictReadersRefuse(t *testing.T) {
	for name, sample := range everyKeySet(t) {
		s, read := compiled(t, name), readers[name]
		if err := read(sample); err != nil {
			t.Fatalf("%s: the sample itself: %v", name, err)
		}
		if err := bySchema(t, s, sample); err != nil {
			t.Errorf("%s: the sample itself by schema: %v", name, err)
		}
		refused := map[bool]int{}
		for _, x := range spoil(t, sample) {
			if slices.ContainsFunc(together, func(end string) bool { return strings.HasSuffix(x.what, "record."+end) }) {
				continue
			}
			strict, form := read(x.data), bySchema(t, s, x.data)
			refused[strict != nil]++
			if (strict == nil) != (form == nil) {
				t.Errorf("%s: %s: the reader says %v, the schema %v", name, x.what, strict, form)
			}
		}
		if refused[true] < 50 || refused[false] == 0 {
			t.Errorf("%s: %d variants refused, %d taken; want many and some", name, refused[true], refused[false])
		}
	}
}

func TestSchemasAreCompleteInThemselves(t *testing.T) {
	for _, name := range SchemaNames() {
		src, err := Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Dialect string         `json:"$schema"`
			Title   string         `json:"title"`
			Defs    map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(src, &schema); err != nil {
			t.Fatal(err)
		}
		if schema.Dialect != "https://json-schema.org/draft/2020-12/schema" || schema.Title != name || len(schema.Defs) == 0 {
			t.Errorf("%s: dialect %q, title %q, %d parts", name, schema.Dialect, schema.Title, len(schema.Defs))
		}
		for part, v := range schema.Defs {
			if v == nil {
				t.Errorf("%s: refers to the part %s, which does not exist", name, part)
			}
		}
	}
	if _, err := Schema("parts"); err == nil || err.Error() != `no schema "parts": there are outcome, baseline, report, cleanup` {
		t.Errorf("another name: got %v", err)
	}
}
