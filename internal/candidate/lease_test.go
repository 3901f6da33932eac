package candidate

import (
	"net/http"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/workspace"
)

// hold puts a lease of some holder on a candidate.
func (w *world) hold(c Candidate, holder workspace.Holder) string {
	w.t.Helper()
	bot := w.client("bot-token")
	commit, err := bot.Commit(w.t.Context(), c.Base, holder.String(), nil)
	w.must(err)
	w.must(bot.CreateRef(w.t.Context(), c.LeaseRef("refit"), commit))
	return commit
}

func elsewhere() workspace.Holder {
	h := workspace.Process()
	h.Machine = "0123456789ab"
	return h
}

func TestLease(t *testing.T) {
	for _, c := range []struct {
		name   string
		holder workspace.Holder
		waits  string // "" is taken over
	}{
		{"dead", gone(7), ""},
		{"alive", workspace.Process(), "which is moving this candidate"},
		{"another-machine", elsewhere(), "refit candidate takeover "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.process(gone(1)).shepherd()
			cand, err := s.Select(t.Context(), family, "")
			w.must(err)
			lease := w.hold(cand, c.holder)
			st, err := s.Advance(t.Context(), cand)
			w.must(err)
			at, there, err := s.Forge.Ref(t.Context(), cand.LeaseRef("refit"))
			w.must(err)
			if c.waits == "" {
				if st.Step != "smoke" || there {
					t.Errorf("got step %s, waiting %q, lease there %v; want it taken over and dropped at smoke", st.Step, st.Waiting, there)
				}
				w.tookByCompareAndSwap()
				return
			}
			if st.State != Waits || !strings.Contains(st.Waiting, c.waits) || at != lease {
				t.Errorf("got %s, waiting %q, lease %.12s; want to wait for %q, lease %.12s untouched", st.State, st.Waiting, at, c.waits, lease)
			}
			if len(w.ledger.receipts)+len(w.ledger.candidates) != 0 {
				t.Errorf("who waits for the lease wrote to the ledger: %s", w.ledger.steps())
			}
		})
	}
}

// tookByCompareAndSwap looks into the forge's log: the dead holder's lease was
// moved, not deleted and made anew.
func (w *world) tookByCompareAndSwap() {
	w.t.Helper()
	events, err := w.forge.Events(w.t.Context())
	w.must(err)
	var kinds []string
	for _, e := range events {
		if strings.HasPrefix(e.Kind, "ref.") && (strings.Contains(e.Subject, "lease") || e.Subject == "/git/refs") {
			kinds = append(kinds, e.Kind)
		}
	}
	if len(kinds) < 2 || kinds[0] != "ref.create" || kinds[1] != "ref.update" {
		w.t.Errorf("events on the lease: %v, want ref.create (the dead) and then ref.update", kinds)
	}
}

func TestOfTwoWhoFindADeadHolderOneWins(t *testing.T) {
	w := newWorld(t)
	p := w.process(gone(1))
	s := p.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	dead := w.hold(c, gone(7))
	other := w.client("bot-token")
	theirs, err := other.Commit(t.Context(), dead, workspace.Process().String(), nil)
	w.must(err)
	choose := p.faults.Choose
	p.faults.Choose = func(n int, r *http.Request) local.Fault {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "lease") { // they were faster
			w.must(other.MoveRef(r.Context(), c.LeaseRef("refit"), dead, theirs))
		}
		return choose(n, r)
	}
	st, err := s.Advance(t.Context(), c)
	w.must(err)
	at, _, err := other.Ref(t.Context(), c.LeaseRef("refit"))
	w.must(err)
	if st.State != Waits || at != theirs {
		t.Errorf("got %s (%s), lease at %.12s, want to wait and theirs at %.12s", st.State, st.Waiting, at, theirs)
	}
}

func TestIdleAdvanceOnlyLooks(t *testing.T) {
	w := newWorld(t)
	hold := make(chan struct{})
	w.breaks = func(local.RunRequest) error { <-hold; return nil }
	p := w.process(gone(1))
	s := p.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 2 { // dispatches, then waits for the run
		_, err = s.Advance(t.Context(), c)
		w.must(err)
	}
	before := p.written()
	st, err := s.Advance(t.Context(), c)
	w.must(err)
	if st.State != Waits || p.written()-before > 1 || len(p.writes) > before && p.writes[before] != "summary" {
		t.Errorf("%s, waiting for %s: wrote %v; want nothing but its line in the list", st.State, st.Waiting, p.writes[before:])
	}
	close(hold)
	w.forge.Wait()
}

func TestDryRunOfAClaimedCandidateWritesNothing(t *testing.T) {
	w := newWorld(t)
	first := w.process(gone(1))
	s := first.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Advance(t.Context(), c)
	w.must(err)
	second := w.process(workspace.Process())
	if _, err := second.shepherd().Rehearse(t.Context(), c); err != nil || len(second.writes) != 0 {
		t.Errorf("dry run: error %v, writes %v, want none", err, second.writes)
	}
}
