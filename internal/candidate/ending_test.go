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
