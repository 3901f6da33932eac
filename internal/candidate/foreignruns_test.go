package candidate

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
)

// outcomeOf is the receipt that stands on the pull request.
func (w *world) outcomeOf(pull int) (rec report.Receipt) {
	w.t.Helper()
	comments, err := w.client("bot-token").Comments(w.t.Context(), pull)
	w.must(err)
	for _, c := range comments {
		if r, ok, err := report.ParseRecord("refit", c.Body); err == nil && ok && r.Kind == "outcome" {
			w.must(decode(r.JSON, &rec))
			return rec
		}
	}
	w.t.Fatal("no receipt")
	return rec
}

// A run that somebody else dispatched under the candidate's title is not its
// own: it is no evidence, it is not cancelled, and no receipt names it.
func TestARunThatSomebodyElseDispatchedIsNotOurs(t *testing.T) {
	w, c := left(t)
	head, _, err := w.client("bot-token").Ref(t.Context(), "heads/"+c.Branch("refit"))
	w.must(err)
	theirs, err := w.client("maintainer-token").Dispatch(t.Context(), "e2e-tests.yml", c.Branch("refit"), map[string]string{
		"generate-cli-command": "test-config --config-keys toy-fp8-box-loom --smoke", "test-name": c.TestName("refit"), "ref": head,
	})
	w.must(err)
	w.forge.Wait()
	w.ledger.lose("smoke", "dispatch")
	s := w.shepherd("bot-token")
	_, err = s.Advance(t.Context(), c)
	w.must(err)
	work, err := s.open(t.Context(), c)
	w.must(err)
	m, err := evidence[Measured](work, "smoke")
	if err != nil || m.RunID == theirs {
		t.Errorf("smoke receipt of run %d (%v): want the candidate's own run, not %d", m.RunID, err, theirs)
	}
	w.forge.Wait()
	w.stopped(s, c, Failed, "rewritten")
	if rec := w.outcomeOf(1); len(rec.RunIDs) == 0 || slices.Contains(rec.RunIDs, theirs) {
		t.Errorf("receipt names the runs %v, want the candidate's and not %d", rec.RunIDs, theirs)
	}
}

// What other workflows make of the pull request is not waited for, not
// cancelled, and in no receipt.
func TestAnEndLeavesOtherWorkflowsAlone(t *testing.T) {
	w, c := left(t)
	lint, touched := int64(4711), 0
	s := w.shepherd("bot-token")
	s.Forge = w.clientAt(w.through(func(rw http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/actions/runs"):
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(rw, `{"total_count":1,"workflow_runs":[{"id":%d,"name":"lint","event":"pull_request","status":"in_progress",
				"head_branch":%q,"head_repository":{"full_name":"toy/recipes"}}]}`, lint, c.Branch("refit"))
			return true
		case strings.Contains(r.URL.Path, fmt.Sprint("/runs/", lint)):
			touched++
		}
		return false
	}), "bot-token")
	w.stopped(s, c, Failed, "rewritten")
	if rec := w.outcomeOf(1); touched != 0 || len(rec.RunIDs) == 0 || slices.Contains(rec.RunIDs, lint) {
		t.Errorf("the lint run was touched %d times, the receipt names %v; want nothing of it", touched, rec.RunIDs)
	}
}

// A fork may have a branch of the same name. Its runs are anybody's.
func TestTheRunOfAForkIsNoSweep(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	forked := false
	s.Forge = w.clientAt(w.through(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/run-sweep.yml/runs") || w.sweeps() > 0 {
			return false
		}
		head, there, err := w.client("bot-token").Ref(t.Context(), "heads/"+c.Branch("refit"))
		if err != nil || !there {
			return false
		}
		forked = true
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"total_count":1,"workflow_runs":[{"id":66,"run_attempt":1,"event":"pull_request","status":"completed","conclusion":"failure",
			"head_branch":%q,"head_sha":%q,"head_repository":{"full_name":"somebody/recipes"}}]}`, c.Branch("refit"), head)
		return true
	}), "bot-token")
	_, st := w.upgrade(s)
	if !forked || st.Outcome != Validated || w.sweeps() != 1 {
		t.Errorf("got %s (%s) after %d sweeps, the fork's run was shown: %v; want validated by the own sweep", st.Outcome, st.Reason, w.sweeps(), forked)
	}
}

// GitHub answers with the spelling that a repository was made with.
func TestTheRepositorysCaseMeansNothing(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	client, err := forge.New(w.url, "bot-token", "Toy/Recipes")
	w.must(err)
	s.Forge, s.Config.Forge.Login = client, "Bot"
	if _, st := w.upgrade(s); st.Outcome != Validated {
		t.Errorf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
}
