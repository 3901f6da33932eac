package candidate

import (
	"slices"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
)

// A run that had nothing to do ends with success on GitHub and leaves no
// artifacts. It is no sweep: not the one that is waited for, and not a failed one.
func TestARunThatDidNothingIsNoSweep(t *testing.T) {
	w := newWorld(t)
	w.green = true
	_, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	idle := 0
	runs, err := w.client("bot-token").Runs(t.Context(), forge.RunFilter{Event: "pull_request"})
	w.must(err)
	for _, r := range runs {
		if left, err := w.client("bot-token").Artifacts(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		} else if len(left) == 0 {
			idle++
			if r.Conclusion != "success" {
				t.Errorf("run %d did nothing and ended as %s: it is not what this test is about", r.ID, r.Conclusion)
			}
		}
	}
	if idle == 0 {
		t.Error("no run of the branch had nothing to do: this test tests nothing")
	}
}

// Nor is it a reason why no sweep started: what kept it idle is.
func TestWhyOfARunThatDidNothing(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	runs := []forge.Run{{ID: 8, Status: "completed", Conclusion: "failure"}, {ID: 9, Status: "queued"}}
	w.green = true
	_, st := w.upgrade(s)
	all, err := s.Forge.Runs(t.Context(), forge.RunFilter{Event: "pull_request"})
	w.must(err)
	busy, err := s.busy(t.Context(), slices.Concat(all, runs))
	w.must(err)
	if len(busy) != 3 || st.Outcome != Validated || len(all) < 2 { // the sweep, and the two that are no success
		t.Errorf("%d of %d runs did something, want the sweep and two others: %+v", len(busy), len(all)+2, busy)
	}
}
