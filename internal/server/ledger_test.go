package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
)

// proposal opens a pull request of a candidate, and its first receipts are
// comments of it.
func proposal(t *testing.T, f *forge.Client, l candidate.Ledger) candidate.Candidate {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	main, _, err := f.Ref(ctx, "heads/main")
	must(err)
	c := candidate.Candidate{Family: "configs/toy-master.yaml:toy", Base: main, OldImage: apiImage, NewImage: "lab/engine:v2.0.0-cpu", Parent: "7"}
	c.ID = candidate.ID(c.Family, c.OldImage, c.NewImage)
	head, err := f.Commit(ctx, main, "change", map[string][]byte{"a": []byte("b")})
	must(err)
	must(f.CreateRef(ctx, "heads/"+c.Branch("refit"), head))
	p, err := f.OpenPull(ctx, "title", "body", c.Branch("refit"), "main", true)
	must(err)
	proposed, err := json.Marshal(candidate.Proposed{Branch: c.Branch("refit"), Head: head, Pull: p.Number, URL: p.URL})
	must(err)
	r := candidate.Receipt{Candidate: c.ID, Step: "propose", Subject: c.ID, By: "bot", At: time.Unix(1e9, 0), Evidence: proposed}
	must(l.(*candidate.CommentLedger).AppendAll(ctx, c, []candidate.Receipt{r}))
	return c
}

// With receipts in comments the board, the list of images and a look at one
// candidate say what the pull request says; the store has nothing to say.
func TestPagesShowWhatCommentsSay(t *testing.T) {
	h := startHost(t)
	h.Workspace.Config.Ledger = "comments"
	p := &Parts{Workspace: h.Workspace, Address: h.Address, Store: h.Store, token: h.token, now: time.Now}
	f, err := p.Forge()
	if err != nil {
		t.Fatal(err)
	}
	c := proposal(t, f, ledgerOf(h.Workspace, f, h.Store))
	for path, want := range map[string]string{"/": "/candidates/" + c.ID, "/candidates/" + c.ID: fmt.Sprintf("draft pull request #1 on %s", c.Branch("refit"))} {
		if page, err := fetchPage(t, h.Address.Dashboard+path); err != nil || !strings.Contains(page, want) {
			t.Errorf("%s: %v, want %q in\n%s", path, err, want, page)
		}
	}
	if _, err := fetchPage(t, h.Address.Dashboard+"/candidates/nobody"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a candidate that does not exist: %v, want 404", err)
	}
	list, err := commented(t.Context(), h.Workspace, 10*time.Second)
	if err != nil || len(list) != 1 || list[0].Candidate != c || list[0].Pull != 1 || list[0].State != candidate.Waits {
		t.Errorf("listed %+v, %v; want the candidate, waiting", list, err)
	}
	if kept, err := h.Store.Receipts(t.Context(), c.ID); err != nil || len(kept) != 0 {
		t.Errorf("the store has %d receipts, %v; want that comments are the only truth", len(kept), err)
	}
	if err := supported(h.Workspace); err != nil {
		t.Errorf("ledger: comments: %v", err)
	}
}

// A forge elsewhere counts its requests: a list that is loaded again soon is
// the one of before.
func TestAListFromAForgeElsewhereIsShownAgain(t *testing.T) {
	h := startHost(t)
	p := &Parts{Workspace: h.Workspace, Address: h.Address, Store: h.Store, token: h.token, now: time.Now}
	f, err := p.Forge()
	if err != nil {
		t.Fatal(err)
	}
	w := h.Workspace
	w.Config.Ledger, w.Config.Forge.Kind, w.Config.Forge.URL = "comments", "github", h.Address.Forge
	now := time.Now()
	beside := &Host{Workspace: w, Store: h.Store, token: h.token, Now: func() time.Time { return now }}
	count := func(want int, when string) {
		t.Helper()
		if list, err := beside.candidates(t.Context()); err != nil || len(list) != want {
			t.Errorf("%s: %d candidates, %v; want %d", when, len(list), err, want)
		}
	}
	count(0, "before")
	proposal(t, f, ledgerOf(w, f, h.Store))
	count(0, "soon after")
	now = now.Add(listLife + time.Second)
	count(1, "later")
}
