package candidate

import (
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
