package candidate

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/local"
)

// An end waits for the candidate's runs: until they are terminal nothing after
// that is done, and whoever works on it is not let go.
func TestAnEndWaitsForItsRuns(t *testing.T) {
	w := newWorld(t)
	let := make(chan struct{})
	w.breaks = func(local.RunRequest) error { <-let; return nil }
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 2 { // the second finds the run that the first dispatched
		st, err := s.Advance(t.Context(), c)
		w.must(err)
		if st.State != Waits {
			t.Errorf("got %s, want to wait for the smoke run", st.State)
		}
	}
	st, err := s.Stop(t.Context(), c, Failed, "rewritten")
	w.must(err)
	p, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if st.State != Waits || !strings.HasPrefix(st.Waiting, "run ") || !strings.Contains(st.Waiting, " to end") || p.State != "open" {
		t.Errorf("stopped: got %s, waiting for %q, #1 %s; want to wait for the run, open", st.State, st.Waiting, p.State)
	}
	if left := w.held(c); !strings.Contains(left, "(failed) is announced and not finished") {
		t.Errorf("check-stop: got %q", left)
	}
	close(let)
	w.forge.Wait()
	st, err = s.Advance(t.Context(), c)
	w.must(err)
	p, err = s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if st.Outcome != Failed || p.State != "closed" || w.held(c) != "" {
		t.Errorf("after the run: got %s, #1 %s; want failed, closed", st.Outcome, p.State)
	}
}

// Whether a branch is kept is policy: that of the base, whatever this machine's
// own file says.
func TestThePolicyOfTheBaseKeepsTheBranch(t *testing.T) {
	for _, c := range []struct {
		line    string
		outcome Outcome
		kept    bool
	}{
		{"outcomes: {failed: kept}", Failed, true},
		{"outcomes: {incompatible: deleted}", Incompatible, false},
	} {
		w := newWorld(t)
		old := string(w.file("main", "refit.yaml"))
		file := strings.Replace(old, "policy:\n", "policy:\n  "+c.line+"\n", 1)
		if file == old {
			t.Fatal("refit.yaml has no policy")
		}
		w.commitOn("main", "Policy", map[string][]byte{"refit.yaml": []byte(file)})
		s := w.shepherd("bot-token")
		cand, err := s.Select(t.Context(), family, "")
		w.must(err)
		_, err = s.Advance(t.Context(), cand)
		w.must(err)
		w.forge.Wait()
		w.stopped(s, cand, c.outcome, "rewritten")
		for what, ref := range map[string]string{"branch": "heads/" + cand.Branch("refit"), "claim": ClaimRef("refit", family)} {
			if _, there, err := s.Forge.Ref(t.Context(), ref); err != nil || there != c.kept {
				t.Errorf("%s: %s: there %v, error %v; want %v", c.line, what, there, err, c.kept)
			}
		}
		if left := w.held(cand); left != "" {
			t.Errorf("%s: check-stop: got %q, want nothing left", c.line, left)
		}
	}
}

// Taking the label off is an event, and may start a run that skips: the receipt
// waits for its end, like the end did for the runs before it.
func TestTheReceiptWaitsForWhatTheEndStarted(t *testing.T) {
	w, c := left(t)
	let := make(chan struct{})
	w.breaks = func(r local.RunRequest) error {
		if strings.HasSuffix(r.Title, "somebody-else") { // it keeps the forge busy
			<-let
		}
		return nil
	}
	s := w.shepherd("bot-token")
	p, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if len(p.Labels) != 1 {
		t.Fatalf("labels %v: no label would come off", p.Labels)
	}
	_, err = w.client("maintainer-token").Dispatch(t.Context(), "e2e-tests.yml", "main", map[string]string{"test-name": "somebody-else"})
	w.must(err)
	st, err := s.Stop(t.Context(), c, Failed, "rewritten")
	w.must(err)
	if st.State != Waits || st.Step != "receipt" || !strings.HasSuffix(st.Waiting, " to end (queued)") || w.ledger.have()["outcome"] {
		t.Errorf("stopped: %s at %s, waiting for %q, receipts %s; want the receipt to wait for a queued run", st.State, st.Step, st.Waiting, w.ledger.steps())
	}
	close(let)
	w.forge.Wait()
	st, err = s.Advance(t.Context(), c)
	w.must(err)
	if left := w.held(c); st.Outcome != Failed || left != "" {
		t.Errorf("after the run: got %s, check-stop %q; want failed, and nothing left", st.Outcome, left)
	}
}
