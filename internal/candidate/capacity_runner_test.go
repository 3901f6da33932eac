package candidate

import (
	"context"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/recipe"
)

// A runner label has room when one of its clusters has.
func TestCapacityOfARunnerLabel(t *testing.T) {
	runners := recipe.Runners{Labels: map[string][]string{"box": {"box_00", "shelf_1"}, "crate": {"crate_0"}, "cluster:far": {"far_0"}}}
	c := nodes(map[string]int64{"box": 8, "shelf": 7, "crate": 8})
	for label, want := range map[string]gate.Verdict{
		"box":         {Gate: "capacity", Answer: gate.Pass, Reason: "shelf may take one more sweep"},
		"crate":       {Gate: "capacity", Answer: gate.Fail, Reason: "crate: it has no room now"},
		"cluster:far": {Gate: "capacity", Answer: gate.Fail, Reason: "far: the answer has no such cluster"},
		"nosuch":      {Gate: "capacity", Answer: gate.Fail, Reason: "runner label nosuch names no cluster"},
	} {
		if got := c.Runner(runners, label); got != want {
			t.Errorf("%s: got %v, want %v", label, got, want)
		}
	}
	for _, label := range []string{"box", "nosuch"} {
		if got := AlwaysRoom("queued").Runner(runners, label); got.Answer != gate.Pass || got.Reason != "queued" {
			t.Errorf("where nobody is asked, %s: got %v", label, got)
		}
	}
	if got := (Capacity{}).Runner(runners, "box"); got.Answer != gate.Fail {
		t.Errorf("without an answer: got %v", got)
	}
}

// A record speaks of its own cluster alone: one that is too old, or that makes
// no sense, leaves the others eligible.
func TestSinfoRecordsOfSeveralClusters(t *testing.T) {
	made := statusMade.Format("2006-01-02T15:04:05Z")
	c := SinfoCapacities(map[string][]byte{
		"roomy": []byte(made + "\nn1|idle\nn2|allocated\n"),
		"full":  []byte(made + "\nn1|allocated\n"),
		"old":   []byte("2026-09-19T11:00:00Z\nn1|idle\n"),
		"odd":   []byte("n1|idle\n"),
	}, statusMade)
	for id, want := range map[string]string{
		"roomy": "eligible", "full": "it has no room now", "old": "the answer is more than 120 s old: ask again",
		"odd": "sinfo record: line 1: want the time of the record", "other": "the answer has no such cluster",
	} {
		got := c.Check([]string{id})[0]
		if !strings.HasPrefix(got.Reason, want) || (got.Answer == gate.Pass) != (id == "roomy") {
			t.Errorf("%s: got %v, want %s", id, got, want)
		}
	}
}

// Capacity is asked before anything is prepared: a full cluster ends the
// candidate before its sources are compared. A rehearsal prepares all the same.
func TestCapacityIsAskedBeforeEdits(t *testing.T) {
	w := newWorld(t)
	p := w.process(gone(1))
	s := p.shepherd()
	var told []string
	s.Tell = func(e Event) { told = append(told, e.Step+" "+e.Mark) }
	busy := fail("capacity", "box: it has no room now")
	asked := 0
	s.Capacity = func(_ context.Context, label string) gate.Verdict {
		if asked++; label != "box" {
			t.Errorf("asked for %s, want the family's runner label", label)
		}
		return busy
	}
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	st, err := s.Advance(t.Context(), c)
	w.must(err)
	if st.Outcome != CapacityDeferred || st.Reason != busy.Reason || asked != 1 || len(p.writes) != 0 || strings.Contains(strings.Join(told, "\n"), "inspect") {
		t.Errorf("got %s (%s), asked %d times, wrote %v, told %q; want capacity-deferred before inspect", st.Outcome, st.Reason, asked, p.writes, told)
	}
	st, err = s.Rehearse(t.Context(), c)
	w.must(err)
	if st.State != Ready || asked != 1 {
		t.Errorf("rehearsal: %s (%s), asked %d times", st.State, st.Reason, asked)
	}
}
