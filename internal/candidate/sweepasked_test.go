package candidate

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/recipe"
)

// land lands somebody else's changelog entry on main and waits for nothing.
func (w *world) land() {
	w.t.Helper()
	grown, err := recipe.AppendEntry(w.file("main", "perf-changelog.yaml"), recipe.ChangelogEntry{
		ConfigKeys: []string{"toy-fp8-box-loom"}, Description: []string{"Another change"}, PRLink: "https://github.com/toy/recipes/pull/77",
	})
	w.must(err)
	w.commitOn("main", "Another change", map[string][]byte{"perf-changelog.yaml": grown})
}

// sweeps counts the sweeps of pull requests that measured.
func (w *world) sweeps() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.Event == "pull_request" {
			n++
		}
	}
	return n
}

// Main's changelog grows while the sweep runs. Redoing the entry takes the label
// off and pushes, and either cancels a sweep: it waits until that has ended.
func TestASweepUnderWayIsNotDisturbed(t *testing.T) {
	w := newWorld(t)
	running, started := make(chan struct{}), make(chan struct{})
	w.breaks = func(r local.RunRequest) error {
		if r.Event == "pull_request" {
			close(started)
			<-running
		}
		return nil
	}
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 3 {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		if w.ledger.have()["enter"] {
			break
		}
		w.forge.Wait()
	}
	<-started
	before, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	w.land()
	for range 2 {
		p := w.process(gone(3))
		st, err := p.shepherd().Advance(t.Context(), c)
		w.must(err)
		if st.State != Waits || st.Step != "enter" || !strings.HasPrefix(st.Waiting, "sweep run ") {
			t.Errorf("got %s at %s, waiting %q; want the entry to wait for the sweep", st.State, st.Step, st.Waiting)
		}
	}
	after, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if after.HeadSHA != before.HeadSHA || !slices.Equal(after.Labels, before.Labels) {
		t.Errorf("#1 was at %.12s with %v and is at %.12s with %v", before.HeadSHA, before.Labels, after.HeadSHA, after.Labels)
	}
	w.breaks = nil
	close(running)
	w.forge.Wait()
	_, st := w.upgrade(s)
	if st.Outcome != Validated || w.sweeps() != 1 || st.Head == before.HeadSHA {
		t.Errorf("got %s (%s) at %.12s after %d sweeps; want validated by the one sweep, with the entry redone", st.Outcome, st.Reason, st.Head, w.sweeps())
	}
}

// Once the label is on, the sweep is asked for: that the nodes are in use then
// may be its own doing, and ends nothing.
func TestCapacityIsNotAskedAfterTheLabel(t *testing.T) {
	w := newWorld(t)
	hidden := false
	s := w.shepherd("bot-token")
	s.Forge = w.clientAt(w.through(func(rw http.ResponseWriter, r *http.Request) bool {
		if !hidden || r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/run-sweep.yml/runs") {
			return false
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.Write([]byte(`{"total_count":0,"workflow_runs":[]}`)) // a list lags behind
		return true
	}), "bot-token")
	full := false
	s.Capacity = func(context.Context, string) gate.Verdict {
		if full {
			return fail("capacity", "it has no room now")
		}
		return pass("capacity", "idle")
	}
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 3 {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		if w.ledger.have()["enter"] {
			break
		}
		w.forge.Wait()
	}
	hidden, full = true, true
	st, err := s.Advance(t.Context(), c)
	w.must(err)
	if st.State != Waits || st.Waiting != "the sweep run to start; if it does not, refit why 1 says why" {
		t.Errorf("got %s %s (%s), waiting %q; want to wait for the run that the label started", st.State, st.Outcome, st.Reason, st.Waiting)
	}
	hidden = false
	w.forge.Wait()
	if _, st := w.upgrade(s); st.Outcome != Validated || w.sweeps() != 1 {
		t.Errorf("got %s (%s) after %d sweeps, want validated after one", st.Outcome, st.Reason, w.sweeps())
	}
}

// Main's changelog grows between the look at the entry and check-final: that
// is no mistake of the candidate.
func TestMainGrowsBeforeCheckFinal(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	asked := 0
	s.Capacity = func(context.Context, string) gate.Verdict {
		if asked++; asked == 3 { // propose, smoke, and now the label
			w.land()
		}
		return pass("capacity", "idle")
	}
	c, st := w.upgrade(s)
	if st.Outcome != Validated || w.sweeps() != 1 || asked < 4 {
		t.Errorf("got %s (%s) after %d sweeps, capacity asked %d times; want validated after one, asked again", st.Outcome, st.Reason, w.sweeps(), asked)
	}
	if v, err := w.shepherd("bot-token").CheckFinal(t.Context(), c); err != nil || v.Answer != gate.Pass {
		t.Errorf("check-final of what was sealed: %+v, %v", v, err)
	}
}

// A further sweep needs capacity as the first one did; what was measured waits for it.
func TestAFurtherRoundWaitsForCapacity(t *testing.T) {
	w := newWorld(t)
	w.slow = 0.97 // inconclusive
	s := w.shepherd("bot-token")
	full := false
	s.Capacity = func(context.Context, string) gate.Verdict {
		if full {
			return fail("capacity", "it has no room now")
		}
		return pass("capacity", "idle")
	}
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for w.sweeps() == 0 {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
	}
	full = true
	for range 2 {
		st, err := s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
		if st.State != Waits || st.Waiting != "room for the further sweep: it has no room now" || w.sweeps() != 1 || w.ledger.have()["round"] {
			t.Errorf("got %s %s, waiting %q, %d sweeps; want to wait for room", st.State, st.Outcome, st.Waiting, w.sweeps())
		}
	}
	full = false
	if _, st := w.upgrade(s); st.Outcome != Validated || w.sweeps() != 3 {
		t.Errorf("got %s (%s) after %d sweeps, want validated after the sweep and two rounds", st.Outcome, st.Reason, w.sweeps())
	}
}

// newestSweep is the id of the newest run of a pull request's event.
func (w *world) newestSweep() int64 {
	w.t.Helper()
	runs, err := w.client("bot-token").Runs(w.t.Context(), forge.RunFilter{Event: "pull_request"})
	w.must(err)
	return runs[0].ID
}

// without answers with a list of runs from which one and all newer are missing.
func (w *world) without(id int64, rw http.ResponseWriter, r *http.Request) bool {
	said := httptest.NewRecorder()
	w.forge.Handler().ServeHTTP(said, r)
	var body struct {
		Total int              `json:"total_count"`
		Runs  []map[string]any `json:"workflow_runs"`
	}
	w.must(json.Unmarshal(said.Body.Bytes(), &body))
	body.Runs = slices.DeleteFunc(body.Runs, func(run map[string]any) bool { return run["id"].(float64) >= float64(id) })
	rw.Header().Set("Content-Type", "application/json")
	w.must(json.NewEncoder(rw).Encode(body))
	return true
}

// A round whose run does not appear is asked for again after a while, not at
// every look: each time the label comes off it cancels what was started.
func TestARoundIsNotAskedForAtEveryLook(t *testing.T) {
	w := newWorld(t)
	w.slow = 0.97
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for !w.ledger.have()["round"] {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		if !w.ledger.have()["round"] {
			w.forge.Wait()
		}
	}
	w.forge.Wait()
	newest, off := w.newestSweep(), 0
	s.Forge = w.clientAt(w.through(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/labels/") {
			off++
		}
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/run-sweep.yml/runs") && w.without(newest, rw, r)
	}), "bot-token")
	w.ledger.age()
	for range 3 {
		st, err := s.Advance(t.Context(), c)
		w.must(err)
		if st.Waiting != "the further sweep to start" {
			t.Errorf("waiting %q, want the further sweep to start", st.Waiting)
		}
	}
	if off != 1 {
		t.Errorf("the label came off %d times in three looks, want once", off)
	}
}
