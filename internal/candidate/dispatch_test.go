package candidate

import (
	"net/http"
	"strings"
	"testing"
)

// unlisted is a session whose forge lists no dispatched runs.
func (w *world) unlisted(answerID bool, dispatched *int) *Shepherd {
	s := w.shepherd("bot-token")
	s.Forge = w.clientAt(w.through(func(rw http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/e2e-tests.yml/runs"):
			rw.Header().Set("Content-Type", "application/json")
			rw.Write([]byte(`{"total_count":0,"workflow_runs":[]}`))
			return true
		case strings.HasSuffix(r.URL.Path, "/dispatches"):
			*dispatched++
			if !answerID {
				rw.WriteHeader(http.StatusNoContent)
			}
			return !answerID
		}
		return false
	}), "bot-token")
	return s
}

// The id that the forge gives for a dispatch finds the run, whatever the lists
// and the titles say.
func TestASmokeRunIsFoundByItsID(t *testing.T) {
	w := newWorld(t)
	dispatched := 0
	s := w.unlisted(true, &dispatched)
	_, st := w.upgrade(s)
	if st.Outcome != Validated || dispatched != 1 {
		t.Errorf("got %s (%s) after %d dispatches, want validated after one", st.Outcome, st.Reason, dispatched)
	}
}

// A run that never appears is asked for again, and not without end.
func TestASmokeRunIsNotAskedForWithoutEnd(t *testing.T) {
	w := newWorld(t)
	dispatched := 0
	s := w.unlisted(false, &dispatched)
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	var st Status
	for range 3 * mostAsks {
		st, err = s.Advance(t.Context(), c)
		w.must(err)
		if again, err := s.Advance(t.Context(), c); err != nil || st.State == Waits && again.State != Waits {
			t.Fatalf("looked at again at once: %+v, %v; want to wait", again, err)
		}
		if st.State == Done {
			break
		}
		w.ledger.age()
	}
	if want := `no run with the title "e2e Test - ` + c.TestName("refit") + `" appeared: e2e-tests.yml has to set it`; st.Outcome != Uncertain || !strings.Contains(st.Reason, want) || dispatched != mostAsks+1 {
		t.Errorf("got %s (%s) after %d dispatches, want uncertain after %d: %s", st.Outcome, st.Reason, dispatched, mostAsks+1, want)
	}
}
