package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/engine"
)

var update = flag.Bool("update", false, "rewrite the golden pages in testdata")

func testPolicy() Policy {
	return Policy{Prefix: "refit", Title: "[refit] ", Bilingual: true, RunURL: func(run int64, attempt int) string {
		return fmt.Sprintf("https://forge.example/o/r/actions/runs/%d/attempts/%d", run, attempt)
	}}
}

// Each archive holds the records that go in (*.json) and the pages that must
// come out.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	in, want := map[string][]byte{}, map[string]string{}
	kept := &txtar.Archive{Comment: a.Comment}
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".json") {
			in[f.Name] = f.Data
			kept.Files = append(kept.Files, f)
		} else {
			want[f.Name] = string(f.Data)
		}
	}
	got := pagesOf(t, in)
	if *update {
		kept.Files = append(kept.Files, got...)
		if err := os.WriteFile(file, txtar.Format(kept), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, f := range got {
		if diff := cmp.Diff(want[f.Name], string(f.Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
		delete(want, f.Name)
	}
	for name := range want {
		t.Errorf("%s is in the archive but was not rendered", name)
	}
}

func pagesOf(t *testing.T, in map[string][]byte) []txtar.File {
	t.Helper()
	p := testPolicy()
	base, err := ParseBaseline(in["baseline.json"])
	if err != nil {
		t.Fatal(err)
	}
	attempt, err := ParseAttempt(in["attempt.json"])
	if err != nil {
		t.Fatal(err)
	}
	var verdicts *compare.Result
	if data := in["verdicts.json"]; data != nil {
		verdicts = &compare.Result{}
		mustJSON(t, data, verdicts)
	}
	var extra []string
	if data := in["source.json"]; data != nil {
		var c engine.Comparison
		mustJSON(t, data, &c)
		extra = append(extra, SourceComparison(c))
	}
	var out []txtar.File
	add := func(name, page string) {
		out = append(out, txtar.File{Name: name, Data: []byte(page + "\n")})
	}
	add("body.md", p.Body(base, extra...))
	add("baseline.md", p.BaselineComment(base))
	add("attempt.md", p.AttemptComment(attempt, base, verdicts, extra...))
	var term bytes.Buffer
	Terminal(&term, attempt, base, verdicts, false)
	add("terminal.txt", strings.TrimSuffix(term.String(), "\n"))
	if pages(attempt.Points, attempt.Evals) > 1 {
		records, err := p.AttemptRecords("42", "9d94bebbcc742ac8-af00168b432f68fb", attempt, base, verdicts, extra...)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			add(fmt.Sprintf("comment-%d.txt", i+1), r.Body)
		}
	}
	return out
}

func mustJSON(t *testing.T, data []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatal(err)
	}
}
