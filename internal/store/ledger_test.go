package store

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/candidate"
)

func TestReceipts(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	want := []candidate.Receipt{
		{Candidate: "a-b", Step: "resolve", Subject: "s1", By: "bot", At: day1.Add(5), Evidence: json.RawMessage(`{"n":1}`)},
		{Candidate: "a-b", Step: "resolve", Subject: "s2", By: "bot", At: day1},
	}
	for _, r := range append(want, candidate.Receipt{Candidate: "other", Step: "x", At: day1}) {
		if err := s.Append(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	got := must(s.Receipts(ctx, "a-b"))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
	if got := must(s.Receipts(ctx, "none"))(t); len(got) != 0 {
		t.Errorf("receipts of nobody: %v", got)
	}
	for _, r := range []candidate.Receipt{{Step: "x"}, {Candidate: "x"}, {Candidate: "x", Step: "x", Evidence: json.RawMessage("{")}} {
		if err := s.Append(ctx, r); err == nil {
			t.Errorf("%+v: appended", r)
		}
	}
	for _, statement := range []string{`UPDATE receipts SET subject = 'x'`, `DELETE FROM receipts`} {
		if _, err := s.db.Exec(statement); err == nil || !strings.Contains(err.Error(), "receipts are appended, never") {
			t.Errorf("%s: %v, want a refusal", statement, err)
		}
	}
}

func TestCandidates(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	save := func(id string, state candidate.State, days int) {
		t.Helper()
		c := candidate.Summary{Candidate: candidate.Candidate{ID: id, Family: family}, State: state, Created: day1.AddDate(0, 0, days), Updated: day2}
		if err := s.SaveCandidate(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	save("one", candidate.Waits, 0)
	save("two", candidate.Waits, 1)
	save("one", candidate.Done, 0)
	got := must(s.Candidates(ctx))(t)
	if len(got) != 2 || got[0].ID != "two" || got[1].ID != "one" || got[1].State != candidate.Done || !got[1].Created.Equal(day1) {
		t.Errorf("candidates %+v", got)
	}
}
