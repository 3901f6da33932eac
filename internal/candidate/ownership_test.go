package candidate

import (
	"net/http"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
)

// mergeByHand merges a pull request as a maintainer does in the browser.
func (w *world) mergeByHand(number string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut, w.url+"/api/v3/repos/toy/recipes/pulls/"+number+"/merge", strings.NewReader("{}"))
	w.must(err)
	req.Header.Set("Authorization", "Bearer maintainer-token")
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	w.must(err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		w.t.Fatalf("merge of #%s: %s", number, answer.Status)
	}
}

// What a person did to the pull request is left as it is: the next session
// writes to no pull request, no branch and no run.
func TestWhatAPersonDecidedIsLeftIntact(t *testing.T) {
	ctx, closed := t.Context(), "closed"
	for name, c := range map[string]struct {
		act  func(w *world, person *forge.Client, p forge.Pull)
		want string // of a handoff's reason, or of the error
	}{
		"handoff-label": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.CreateLabel(ctx, "handoff", "0e8a16", ""))
			w.must(person.AddLabel(ctx, p.Number, "handoff"))
		}, "handoff: a maintainer has taken over (label handoff)"},
		"merged": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.MarkReady(ctx, p))
			w.mergeByHand("1")
		}, "handoff: #1 is merged"},
		"closed": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.EditPull(ctx, p.Number, forge.PullEdit{State: &closed}))
		}, "handoff: #1 was closed by somebody else"},
		"moved-head": {func(w *world, _ *forge.Client, p forge.Pull) { w.push(p.HeadRef, "NOTES.md") },
			"handoff: the branch moved from "},
		"two-pull-requests": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.CreateRef(ctx, "heads/next", p.BaseSHA))
			_, err := person.OpenPull(ctx, "Another", "", p.HeadRef, "next", true)
			w.must(err)
		}, "ambiguous: 2 pull requests of refit/auto-"},
	} {
		w, cand := left(t)
		bot := w.client("bot-token")
		before, err := bot.Pull(ctx, 1)
		w.must(err)
		c.act(w, w.client("maintainer-token"), before)
		before, err = bot.Pull(ctx, 1)
		w.must(err)
		p := w.process(gone(5))
		st, err := p.shepherd().Advance(ctx, cand)
		got := string(st.Outcome) + ": " + st.Reason
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		after, err := bot.Pull(ctx, 1)
		w.must(err)
		if after.State != before.State || after.Draft != before.Draft || after.HeadSHA != before.HeadSHA || len(after.Labels) != len(before.Labels) {
			t.Errorf("%s: #1 was %+v and is %+v", name, before, after)
		}
		for _, write := range p.writes {
			for _, theirs := range []string{"/pulls", "/issues", "/refs/heads", "/actions", "graphql"} {
				if strings.Contains(write, theirs) {
					t.Errorf("%s: it wrote: %s", name, write)
				}
			}
		}
	}
}

// The end that a record announces counts when the owner wrote it, and only then.
func TestCommentsOfOthersNeverCount(t *testing.T) {
	w, c := left(t)
	there, err := w.client("bot-token").Pull(t.Context(), 1)
	w.must(err)
	w.stopped(w.shepherd("bot-token"), c, Failed, "rewritten")
	comments, err := w.client("bot-token").Comments(t.Context(), 1)
	w.must(err)
	var announced string
	for _, cm := range comments {
		if strings.HasPrefix(cm.Body, "<!-- refit-cleanup:") {
			announced = cm.Body
		}
	}
	if announced == "" {
		t.Fatal("no record of a pending cleanup")
	}
	for token, want := range map[string]Outcome{"maintainer-token": Validated, "bot-token": Failed} {
		w, c := left(t)
		here, err := w.client(token).Pull(t.Context(), 1)
		w.must(err)
		_, err = w.client(token).AddComment(t.Context(), 1, strings.ReplaceAll(announced, there.HeadSHA, here.HeadSHA))
		w.must(err)
		_, st := w.succeed(c)
		if st.Outcome != want {
			t.Errorf("announced by %s: got %s (%s), want %s", token, st.Outcome, st.Reason, want)
		}
	}
}
