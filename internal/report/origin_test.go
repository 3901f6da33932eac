package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/result"
)

// twice is a run of two attempts: the second measured one of two points again.
func twice() result.Run {
	at := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	prov := func(attempt, minute int) result.Provenance {
		return result.Provenance{RunID: 7, Attempt: attempt, Head: strings.Repeat("c", 40), Started: at.Add(time.Duration(minute) * time.Minute)}
	}
	key := func(c string) string { return strings.Repeat(c, 64) }
	return result.Run{
		Rows: []result.Row{
			{Key: key("a"), Label: "256/64 c1 TP1 EP1 aaaaaa", Conc: 1, Provenance: prov(1, 5)},
			{Key: key("b"), Label: "256/64 c2 TP1 EP1 bbbbbb", Conc: 2, Provenance: prov(2, 20)},
		},
		Evals: []result.EvalRow{{Key: key("a"), Label: "256/64 c1 TP1 EP1 aaaaaa", Conc: 1, Suite: "s", Metric: "m", Provenance: prov(1, 6)}},
	}
}

func TestOriginsOfAttempts(t *testing.T) {
	got := OriginsOf(twice())
	if len(got) != 2 {
		t.Fatalf("got %+v, want one for each attempt", got)
	}
	a, b := got[0], got[1]
	if a.RunAttempt != 1 || a.RunID != 7 || len(a.Points) != 1 || len(a.Evals) != 1 || a.Evals[0] != strings.Repeat("a", 64)+" s m" || a.Started.Minute() != 5 {
		t.Errorf("first attempt: got %+v, want point and eval a since minute 5", a)
	}
	if b.RunAttempt != 2 || len(b.Points) != 1 || b.Points[0] != strings.Repeat("b", 64) || b.Evals == nil || b.Started.Minute() != 20 {
		t.Errorf("second attempt: got %+v, want point b since minute 20", b)
	}
	one := twice()
	one.Rows[1].Provenance.Attempt = 1
	if got := OriginsOf(one); got != nil {
		t.Errorf("one attempt: got %+v, want none: the run says it", got)
	}
}

func TestReceiptOfSeveralAttempts(t *testing.T) {
	r := Receipt{Candidate: "9d94bebbcc742ac8-af00168b432f68fb", Family: "configs/a-master.yaml:fam", Outcome: "validated", Phase: "final-sweep",
		PullRequest: 3, RunIDs: []int64{5, 7}, Head: strings.Repeat("c", 40), Origins: OriginsOf(twice()), Finished: time.Unix(1e9, 0).UTC()}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseReceipt(data)
	if err != nil || len(back.Origins) != 2 {
		t.Fatalf("read back: %+v, %v", back.Origins, err)
	}
	p := Policy{Bilingual: true}
	page := p.ReceiptComment(r)
	for _, want := range []string{"**Measured in** attempt 1: 1 point, 1 eval · attempt 2: 1 point, 0 evals", "**测量于** 第 1 次：1 个点，1 项评测 · 第 2 次：1 个点，0 项评测"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, c := range []struct {
		name, wrong string
		spoil       func(*Receipt)
	}{
		{"foreign-run", "run 7 is not among the run-ids", func(r *Receipt) { r.RunIDs = []int64{5} }},
		{"two-origins", "has two origins", func(r *Receipt) { r.Origins[1].Points = r.Origins[0].Points }},
		{"no-key", "is not 64 hex digits", func(r *Receipt) { r.Origins[0].Points = []string{"x"} }},
		{"no-attempt", "attempt 0 is not positive", func(r *Receipt) { r.Origins[0].RunAttempt = 0 }},
		{"no-head", "head is not 40 hex digits", func(r *Receipt) { r.Origins[0].Head = "main" }},
	} {
		r := r
		r.Origins = OriginsOf(twice())
		c.spoil(&r)
		wantErr(t, c.name, r.Validate(), c.wrong)
	}
}

func TestReportNamesTheAttemptOfEachPoint(t *testing.T) {
	a := goodAttempt()
	a.RunAttempt = ptr(2)
	older, newer := goodPoint(1), goodPoint(2)
	older.Provenance = Provenance{a.RunID, &a.Head, ptr(1)}
	newer.Provenance = Provenance{a.RunID, &a.Head, ptr(2)}
	a.Points, a.BenchmarksExpected, a.BenchmarksPassed = []Point{older, newer}, 2, 2
	a.Evals[0].Provenance = Provenance{a.RunID, &a.Head, ptr(1)}
	if err := a.Validate(testPolicy()); err != nil {
		t.Fatal(err)
	}
	page := testPolicy().AttemptComment(a, goodBaseline(), nil)
	if !strings.Contains(page, "c1: measured in attempt 1.") || strings.Contains(page, "attempt 2.") {
		t.Errorf("the page does not name the older point alone:\n%s", page)
	}
	if n := strings.Count(page, "measured in attempt 1."); n != 2 {
		t.Errorf("%d notes, want one for the point and one for the eval:\n%s", n, page)
	}
	var text bytes.Buffer
	Terminal(&text, a, goodBaseline(), nil, false)
	if !strings.Contains(text.String(), "measured in attempt 1") {
		t.Errorf("the terminal's page says nothing:\n%s", &text)
	}
}
