package candidate

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
)

// A run of the exact title counts when the owner dispatched it, and only then.
func TestARunOfTheSameTitleByAnotherLoginDoesNotCount(t *testing.T) {
	w, c := left(t)
	theirs, err := w.client("maintainer-token").Dispatch(t.Context(), "e2e-tests.yml", c.Branch("refit"), map[string]string{"test-name": c.TestName("refit")})
	w.must(err)
	almost, err := w.client("bot-token").Dispatch(t.Context(), "e2e-tests.yml", c.Branch("refit"), map[string]string{"test-name": c.TestName("refit") + "0"})
	w.must(err)
	w.forge.Wait()
	x, err := w.shepherd("bot-token").open(t.Context(), c)
	w.must(err)
	p, err := x.ownPull(t.Context())
	w.must(err)
	v, err := x.view(t.Context(), p.HeadSHA)
	w.must(err)
	smokes, err := x.targeted(t.Context(), v)
	w.must(err)
	owned, err := x.ownedRuns(t.Context())
	w.must(err)
	for what, runs := range map[string][]forge.Run{"targeted": smokes, "owned": owned} {
		dispatched := 0
		for _, r := range runs {
			if r.ID == theirs || r.ID == almost {
				t.Errorf("%s: run %d of %s, titled %q, is among them", what, r.ID, r.Actor, r.Title)
			}
			if r.Event == "workflow_dispatch" {
				dispatched++
			}
		}
		if dispatched != 1 {
			t.Errorf("%s: %d dispatched runs, want the owner's own", what, dispatched)
		}
	}
}

// A pull request whose head is in another repository is not the candidate's.
func TestAHeadFromAnotherRepositoryIsNotOurs(t *testing.T) {
	w, c := left(t)
	server := httptest.NewServer(elsewhereHeads(w.forge.Handler()))
	t.Cleanup(server.Close)
	p := w.process(gone(5))
	s := p.shepherd()
	s.Forge = w.clientAt(server.URL, "bot-token")
	before := len(w.ledger.receipts)
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), "ambiguous: 0 pull requests of refit/auto-") {
		t.Errorf("advance: got %v, want no pull request of ours", err)
	}
	all, err := s.Recover(t.Context())
	w.must(err)
	if len(all) != 1 || all[0].Action != RecoveryLeft || !strings.Contains(all[0].Reason, "ambiguous: 0 pull requests") {
		t.Errorf("recover: got %v, want it left", all)
	}
	if len(w.ledger.receipts) != before {
		t.Errorf("receipts grew from %d to %d", before, len(w.ledger.receipts))
	}
	at, err := w.client("bot-token").Pull(t.Context(), 1)
	w.must(err)
	if at.State != "open" {
		t.Errorf("#1 is %s, want open", at.State)
	}
}

// elsewhereHeads lets every listed pull request come from a fork.
func elsewhereHeads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/pulls") {
			next.ServeHTTP(w, r)
			return
		}
		said := httptest.NewRecorder()
		next.ServeHTTP(said, r)
		var pulls []map[string]any
		if err := json.Unmarshal(said.Body.Bytes(), &pulls); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, p := range pulls {
			p["head"].(map[string]any)["repo"].(map[string]any)["full_name"] = "stranger/recipes"
		}
		var body bytes.Buffer
		if err := json.NewEncoder(&body).Encode(pulls); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", said.Header().Get("Content-Type"))
		w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
		w.WriteHeader(said.Code)
		w.Write(body.Bytes())
	})
}
