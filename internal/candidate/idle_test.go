package candidate

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
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

// Where the only run of a head with the sweep label on did nothing, a candidate
// would wait without end: the wait names that run and what to do, why says the
// same, and doing it helps.
func TestAnIdleRunOfTheHeadIsNamed(t *testing.T) {
	w := newWorld(t)
	w.breaks = func(r local.RunRequest) error {
		if r.Event == "pull_request" {
			return local.ErrSkipped
		}
		return nil
	}
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	var st Status
	for range 8 {
		st, err = s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
	}
	why, err := s.Why(t.Context(), 1)
	w.must(err)
	if len(why.Reasons) != 1 || why.Reasons[0].Name != "idle" {
		t.Fatalf("why: got %q, want the idle run alone", why.Reasons)
	}
	want := "the sweep run to start; " + why.Reasons[0].What + ": " + why.Reasons[0].Do
	if st.State != Waits || !strings.HasPrefix(st.Waiting, want) || !strings.Contains(st.Waiting, "`refit why 1`") {
		t.Errorf("waiting: got %q, want %q", st.Waiting, want)
	}
	if !strings.Contains(why.Reasons[0].What, "of this head ended with skipped and measured nothing") || !strings.Contains(why.Reasons[0].Do, again) {
		t.Errorf("why: got %q", why.Reasons[0])
	}
	w.breaks = nil
	bot := w.client("bot-token")
	w.must(bot.RemoveLabel(t.Context(), 1, "full-sweep-fail-fast"))
	w.must(bot.AddLabel(t.Context(), 1, "full-sweep-fail-fast"))
	w.forge.Wait()
	if _, st := w.upgrade(s); st.Outcome != Validated {
		t.Errorf("afterwards: got %s (%s), want validated", st.Outcome, st.Reason)
	}
}
