package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// shared reads a file of the project's shared data, or skips the test.
func shared(t *testing.T, name string, v any) {
	t.Helper()
	dir := os.Getenv("REFIT_SHARED")
	if dir == "" {
		dir = "../../../shared"
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skip("shared data not present: ", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// archived reads a page of one of our archives.
func archived(t *testing.T, archive, page string) string {
	t.Helper()
	a, err := txtar.ParseFile("testdata/" + archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == page {
			return string(f.Data)
		}
	}
	t.Fatalf("%s has no %s", archive, page)
	return ""
}

// tables are the cells of the Markdown tables of a page, without rulers.
func tables(page string) [][][]string {
	var out [][][]string
	in := false
	ruler := regexp.MustCompile(`^\|(?: *:?-{3,}:? *\|)+ *$`)
	for _, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "|") {
			in = false
			continue
		}
		if ruler.MatchString(line) {
			continue
		}
		if !in {
			out, in = append(out, nil), true
		}
		var row []string
		for _, c := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") { // published cells hold no bar
			row = append(row, strings.TrimSpace(c))
		}
		out[len(out)-1] = append(out[len(out)-1], row)
	}
	return out
}

// notesOf are the notes of a page without their heads.
func notesOf(page string) []string {
	var out []string
	for _, line := range strings.Split(page, "\n") {
		if rest, ok := strings.CutPrefix(line, "**Note:** "); ok {
			out = append(out, strings.TrimSuffix(rest, "  "))
		}
	}
	return out
}

// The pages of our archive show exactly the cells that were published.
func TestSeedCellsAsPublished(t *testing.T) {
	var want struct {
		Expect struct {
			Meta          string     `json:"meta"`
			Baseline      [][]string `json:"baseline-table"`
			BaselineEvals [][]string `json:"baseline-evals"`
			Smoke         [][]string `json:"smoke-table"`
			Notes         []string   `json:"smoke-notes"`
			SmokeEvals    [][]string `json:"smoke-evals"`
		}
	}
	shared(t, "data/reports/dsr1-fp8-mi325x-sglang.json", &want)
	e := want.Expect
	body, attempt := archived(t, "seed.txtar", "body.md"), archived(t, "seed.txtar", "attempt.md")
	if diff := cmp.Diff([][][]string{e.Baseline, e.BaselineEvals}, tables(body)); diff != "" {
		t.Errorf("baseline tables (-want +got):\n%s", diff)
	}
	smokeEvals := append([][]string{{"Eval", "Score ↑", "Samples"}}, e.SmokeEvals...)
	if diff := cmp.Diff([][][]string{e.Smoke, smokeEvals}, tables(attempt)); diff != "" {
		t.Errorf("smoke tables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(e.Notes, notesOf(attempt)); diff != "" {
		t.Errorf("smoke notes (-want +got):\n%s", diff)
	}
	for name, page := range map[string]string{"body": body, "attempt": attempt} {
		if !strings.Contains(page, e.Meta) {
			t.Errorf("%s does not say %q", name, e.Meta)
		}
	}
}

func TestAgenticCellsAsPublished(t *testing.T) {
	var want struct {
		Expect struct {
			Header []string   `json:"header"`
			Rows   [][]string `json:"rows"`
			Meta   string     `json:"meta"`
			Notes  []string   `json:"notes"`
		}
	}
	shared(t, "data/reports/agentic-failed-final.json", &want)
	e, page := want.Expect, archived(t, "agentic-failed-final.txtar", "attempt.md")
	if diff := cmp.Diff([][][]string{append([][]string{e.Header}, e.Rows...)}, tables(page)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if got := notesOf(page); len(got) != 2 || got[0] != e.Notes[0] || got[1] != "AgentX c4 TP8 EP8 984193: failed." {
		t.Errorf("notes: got %q, want %q and the failed point", got, e.Notes)
	}
	if !strings.Contains(page, " · "+e.Meta+"  \n") {
		t.Errorf("meta line does not end with %q", e.Meta)
	}
}
