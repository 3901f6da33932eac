package candidate

import "testing"

// What an upgrade may ask of a forge, whose rate limit many tools share: a
// whole one of five points, git-data calls included, and one more look at it.
const (
	mostCalls = 120
	idleCalls = 6
)

// counted is a whole upgrade of five points, validated, and one more look at
// it; each in calls of the forge.
func counted(t testing.TB) (upgrade, idle int64) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, st := w.upgrade(s)
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	upgrade = s.Forge.Calls()
	if _, err := s.Advance(w.t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return upgrade, s.Forge.Calls() - upgrade
}

func TestForgeCallsAreFew(t *testing.T) {
	upgrade, idle := counted(t)
	if upgrade > mostCalls {
		t.Errorf("an upgrade of five points made %d calls, at most %d are allowed", upgrade, mostCalls)
	}
	if idle > idleCalls {
		t.Errorf("a look at what is done made %d calls, at most %d are allowed", idle, idleCalls)
	}
}

// BenchmarkForgeCalls prints how many calls of a forge an upgrade takes.
func BenchmarkForgeCalls(b *testing.B) {
	var upgrade, idle int64
	for b.Loop() {
		upgrade, idle = counted(b)
	}
	b.ReportMetric(float64(upgrade), "calls/upgrade")
	b.ReportMetric(float64(idle), "calls/idle")
}
