package candidate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/workspace"
)

// through is a way to the forge on which a handler may answer in its place.
func (w *world) through(answered func(http.ResponseWriter, *http.Request) bool) string {
	w.t.Helper()
	behind := w.forge.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !answered(rw, r) {
			behind.ServeHTTP(rw, r)
		}
	}))
	w.t.Cleanup(server.Close)
	return server.URL
}

// announced is a candidate whose end waits for its smoke run; let ends the run.
func announced(t *testing.T) (w *world, c Candidate, let func()) {
	w = newWorld(t)
	running, started := make(chan struct{}), make(chan struct{})
	w.breaks = func(local.RunRequest) error { close(started); <-running; return nil }
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Advance(t.Context(), c)
	w.must(err)
	<-started
	st, err := s.Stop(t.Context(), c, Failed, "rewritten")
	w.must(err)
	if st.State != Waits || !strings.HasSuffix(st.Waiting, " to end (in_progress)") {
		t.Fatalf("stopped: %s, waiting %q; want to wait for the smoke run", st.State, st.Waiting)
	}
	return w, c, func() { close(running); w.forge.Wait() }
}

// What a person takes over after the end was announced is left as it is: the
// branch with the pushed commit above all.
func TestAnEndLeavesWhatAPersonTookOver(t *testing.T) {
	ctx := t.Context()
	for name, x := range map[string]struct {
		act  func(w *world, person *forge.Client, p forge.Pull)
		want string
	}{
		"handoff-label": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.AddLabel(ctx, p.Number, "handoff"))
		}, "a maintainer has taken over after the end was announced (label handoff)"},
		"pushed": {func(w *world, _ *forge.Client, p forge.Pull) { w.push(p.HeadRef, "NOTES.md") },
			"after its end was announced, and not by us"},
		"merged": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.MarkReady(ctx, p))
			w.mergeByHand("1")
		}, "#1 was merged after its end was announced"},
	} {
		w, c, let := announced(t)
		bot := w.client("bot-token")
		p, err := bot.Pull(ctx, 1)
		w.must(err)
		x.act(w, w.client("maintainer-token"), p)
		before, err := bot.Pull(ctx, 1)
		w.must(err)
		let()
		next := w.process(gone(2))
		for range 2 {
			st, err := next.shepherd().Advance(ctx, c)
			w.must(err)
			if st.Outcome != Handoff || !strings.Contains(st.Reason, x.want) {
				t.Errorf("%s: got %s (%s), want a handoff: %s", name, st.Outcome, st.Reason, x.want)
			}
		}
		after, err := bot.Pull(ctx, 1)
		w.must(err)
		if after.State != before.State || after.Draft != before.Draft || !slices.Equal(after.Labels, before.Labels) {
			t.Errorf("%s: #1 was %+v and is %+v", name, before, after)
		}
		head, there, err := bot.Ref(ctx, "heads/"+c.Branch("refit"))
		w.must(err)
		if !there || head != before.HeadSHA {
			t.Errorf("%s: the branch is at %.12s (there %v), want %.12s", name, head, there, before.HeadSHA)
		}
		if w.ledger.have()["outcome"] {
			t.Errorf("%s: there is a receipt of an end that did not happen", name)
		}
	}
}

// A forge does not follow the branch of a closed pull request: it is looked at
// itself before it is deleted.
func TestAnEndLooksAtTheBranchBeforeItGoes(t *testing.T) {
	w, c := left(t)
	var foreign string
	closed := false
	url := w.through(func(_ http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/pulls/1"):
			closed = true
		case closed && foreign == "":
			foreign = w.push(c.Branch("refit"), "NOTES.md")
		}
		return false
	})
	s := w.shepherd("bot-token")
	s.Forge = w.clientAt(url, "bot-token")
	st := w.stopped(s, c, Failed, "rewritten")
	head, _, err := w.client("bot-token").Ref(t.Context(), "heads/"+c.Branch("refit"))
	w.must(err)
	if foreign == "" || st.Outcome != Handoff || head != foreign {
		t.Errorf("pushed %.12s: got %s (%s), branch at %.12s; want a handoff and the branch as it was pushed", foreign, st.Outcome, st.Reason, head)
	}
}

// The draft of a process that died while it proposed is cleared, but not when a
// person has pushed to it or taken it over.
func TestADeadProposalThatAPersonTookIsNotCleared(t *testing.T) {
	_, writes := stories[0].undisturbed(t)
	at := slices.Index(writes, "POST /pulls") + 1
	for name, act := range map[string]func(w *world, c Candidate){
		"pushed": func(w *world, c Candidate) { w.push(c.Branch("refit"), "NOTES.md") },
		"label":  func(w *world, _ Candidate) { w.must(w.client("maintainer-token").AddLabel(t.Context(), 1, "handoff")) },
	} {
		w := newWorld(t)
		first := w.process(gone(1))
		first.at, first.how = at, killedAfter
		first.upgrade()
		s := w.process(workspace.Process()).shepherd()
		s.Capacity = func(context.Context, string) gate.Verdict { return fail("capacity", "all nodes are busy") }
		c, err := s.Select(t.Context(), family, "")
		w.must(err)
		act(w, c)
		before, _, err := s.Forge.Ref(t.Context(), "heads/"+c.Branch("refit"))
		w.must(err)
		st, err := s.Advance(t.Context(), c)
		w.must(err)
		after, there, err := s.Forge.Ref(t.Context(), "heads/"+c.Branch("refit"))
		w.must(err)
		p, err := s.Forge.Pull(t.Context(), 1)
		w.must(err)
		if st.Outcome != Handoff || !there || after != before || p.State != "open" {
			t.Errorf("%s: got %s (%s), branch there %v, #1 %s; want a handoff with branch and draft as they were", name, st.Outcome, st.Reason, there, p.State)
		}
	}
}

// What a maintainer amends keeps our mark in its message. It is his all the same.
func TestAnAmendedHeadIsSomebodyElses(t *testing.T) {
	w, c := left(t)
	bot, branch := w.client("bot-token"), c.Branch("refit")
	head, _, err := bot.Ref(t.Context(), "heads/"+branch)
	w.must(err)
	message, err := bot.Message(t.Context(), head)
	w.must(err)
	parents, err := bot.Parents(t.Context(), head)
	w.must(err)
	amended, err := w.client("maintainer-token").Commit(t.Context(), parents[0], message, map[string][]byte{"NOTES.md": []byte("mine\n")})
	w.must(err)
	_, err = w.bare.Git(t.Context(), "update-ref", "refs/heads/"+branch, amended, head)
	w.must(err)
	w.must(w.forge.Push(t.Context(), branch))
	p := w.process(gone(2))
	st, err := p.shepherd().Advance(t.Context(), c)
	w.must(err)
	at, _, err := bot.Ref(t.Context(), "heads/"+branch)
	w.must(err)
	if st.Outcome != Handoff || !strings.Contains(st.Reason, "and not by us") || at != amended {
		t.Errorf("got %s (%s), branch at %.12s; want a handoff and the branch at %.12s", st.Outcome, st.Reason, at, amended)
	}
}

// A forge shows the head of a pull request with a delay: an older one of ours
// is nobody's push.
func TestAStaleHeadIsWaitedOut(t *testing.T) {
	w, c := left(t)
	s := w.shepherd("bot-token")
	for !w.ledger.have()["enter"] {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
	}
	bot := w.client("bot-token")
	p, err := bot.Pull(t.Context(), 1)
	w.must(err)
	parents, err := bot.Parents(t.Context(), p.HeadSHA)
	w.must(err)
	stale := w.through(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/pulls") {
			return false
		}
		said := httptest.NewRecorder()
		w.forge.Handler().ServeHTTP(said, r)
		rw.Header().Set("Content-Type", "application/json")
		rw.Write([]byte(strings.ReplaceAll(said.Body.String(), p.HeadSHA, parents[0])))
		return true
	})
	s.Forge = w.clientAt(stale, "bot-token")
	st, err := s.Advance(t.Context(), c)
	w.must(err)
	if st.State != Waits || st.Waiting != "the forge to show the head that was pushed last" {
		t.Errorf("got %s %s (%s), waiting %q; want to wait for the forge", st.State, st.Outcome, st.Reason, st.Waiting)
	}
	if _, st := w.upgrade(w.shepherd("bot-token")); st.Outcome != Validated {
		t.Errorf("afterwards: %s (%s), want validated", st.Outcome, st.Reason)
	}
}
