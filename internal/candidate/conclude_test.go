package candidate

import (
	"errors"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/local"
)

func TestFinishIsTheLastStepOnly(t *testing.T) {
	w, c := left(t)
	p := w.process(gone(5))
	_, err := p.shepherd().Finish(t.Context(), c)
	var refused *Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "is not at finish: there is no receipt of ") || !strings.Contains(err.Error(), "sweep, certify; refit candidate advance "+c.ID) {
		t.Errorf("before the sweep is read: got %v, want it refused with what is missing", err)
	}
	if len(p.writes) != 0 {
		t.Errorf("what was refused wrote %v", p.writes)
	}
	_, st, _ := w.process(gone(6)).upgrade()
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	w.ledger.lose("finish")
	for range 2 { // it may be repeated
		st, err := w.process(gone(7)).shepherd().Finish(t.Context(), c)
		w.must(err)
		if st.Outcome != Validated || st.State != Done {
			t.Errorf("at finish: got %s, %s (%s); want validated", st.State, st.Outcome, st.Reason)
		}
	}
	w.oneOfEverything(c)
}

func TestFinishOfNothingWritten(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Finish(t.Context(), c)
	var refused *Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "nothing is written of it yet") {
		t.Errorf("got %v, want it refused", err)
	}
}

func TestFinishWaitsForARun(t *testing.T) {
	w := newWorld(t)
	let := make(chan struct{})
	w.breaks = func(local.RunRequest) error { <-let; return nil }
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Advance(t.Context(), c)
	w.must(err)
	st, err := s.Finish(t.Context(), c)
	w.must(err)
	if st.State != Waits || !strings.HasPrefix(st.Waiting, "run ") || st.Step != "smoke" {
		t.Errorf("got %s at %s, waiting for %q; want to wait for the smoke run", st.State, st.Step, st.Waiting)
	}
	close(let)
	w.forge.Wait()
}

func TestFinishGoesOnWithAnAnnouncedEnd(t *testing.T) {
	w, c := cleanupPending(t)
	st, err := w.process(gone(5)).shepherd().Finish(t.Context(), c)
	w.must(err)
	if st.Outcome != Failed || st.State != Done || w.claimed() {
		t.Errorf("got %s, %s, claim there %v; want failed, its family free", st.State, st.Outcome, w.claimed())
	}
}
