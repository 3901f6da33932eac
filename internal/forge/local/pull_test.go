package local

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/refit-bench/refit/internal/forge"
)

func TestPullLife(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	head := w.newBranch(t, "refit/auto-1", map[string]string{"README.md": "changed\n", "added": "x\n"})
	p := w.newPull(t, "refit/auto-1")
	want := forge.Pull{
		Number: 1, NodeID: p.NodeID, Title: "Upgrade refit/auto-1", Body: "body", State: "open", HeadRef: "refit/auto-1", HeadSHA: head,
		HeadRepo: "owner/recipes", BaseRef: "main", BaseSHA: w.main, Author: "bot", URL: w.http.URL + "/owner/recipes/pull/1",
		Draft: true, Created: w.Now(),
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
	if _, err := w.bot.OpenPull(ctx, "again", "", "refit/auto-1", "main", true); err == nil || !strings.Contains(err.Error(), "A pull request already exists") {
		t.Errorf("second open: got %v", err)
	}
	files, err := w.bot.ChangedFiles(ctx, 1)
	if slices.Sort(files); err != nil || !slices.Equal(files, []string{"README.md", "added"}) {
		t.Errorf("files: got %v %v", files, err)
	}
	must(t, w.bot.MarkReady(ctx, p))
	must(t, w.bot.MarkReady(ctx, p))
	if p, _ = w.bot.Pull(ctx, 1); p.Draft {
		t.Error("ready: still a draft")
	}
	must(t, w.bot.MarkDraft(ctx, p))
	title, closed := "New title", "closed"
	must(t, w.bot.EditPull(ctx, 1, forge.PullEdit{Title: &title, State: &closed}))
	pulls, err := w.bot.PullsByHead(ctx, "refit/auto-1")
	must(t, err)
	if len(pulls) != 1 || pulls[0].State != "closed" || pulls[0].Title != title || pulls[0].Body != "body" || !pulls[0].Draft {
		t.Errorf("closed: got %+v", pulls)
	}
	for kind, want := range map[string]int{"pull.open": 1, "pull.ready": 1, "pull.draft": 1, "pull.edit": 1} {
		if got := w.count(t, kind); got != want {
			t.Errorf("%s: got %d writes, want %d", kind, got, want)
		}
	}
}

func TestOpenPullRefusals(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	must(t, w.bot.CreateRef(ctx, "heads/same", w.main))
	check := func(title, head, base, want string) {
		t.Helper()
		if _, err := w.bot.OpenPull(ctx, title, "", head, base, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open %q from %s to %s: got %v, want %q", title, head, base, err, want)
		}
	}
	check("t", "same", "main", "No commits between main and same")
	check("t", "absent", "main", "PullRequest.head invalid")
	check("t", "same", "absent", "PullRequest.base invalid")
	check("", "same", "main", "PullRequest.title missing_field")
	check(strings.Repeat("é", 257), "same", "main", "maximum is 256 characters")
}

func TestDeletedHeadCloses(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"a": "1"})
	w.newPull(t, "topic")
	must(t, w.bot.DeleteRef(ctx, "heads/topic"))
	p, err := w.bot.Pull(ctx, 1)
	if err != nil || p.State != "closed" || p.Merged {
		t.Errorf("got %+v %v, want closed, not merged", p, err)
	}
}

func TestCommentsOverPages(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"a": "1"})
	w.newPull(t, "topic")
	for i := range 205 {
		if _, err := w.bot.AddComment(ctx, 1, fmt.Sprintf("comment %d 镜像", i)); err != nil {
			t.Fatal(err)
		}
	}
	before := w.bot.Calls()
	all, err := w.bot.Comments(ctx, 1)
	must(t, err)
	if len(all) != 205 || all[0].Body != "comment 0 镜像" || all[204].Body != "comment 204 镜像" {
		t.Fatalf("comments: got %d, want 205 in order", len(all))
	}
	if n := w.bot.Calls() - before; n != 3 {
		t.Errorf("calls for 205 comments: got %d, want 3", n)
	}
	if login, _, err := w.bot.Editor(ctx, all[7]); login != "" || err != nil {
		t.Errorf("editor before: got %q %v", login, err)
	}
	must(t, w.client(t, "maintainer-token").EditComment(ctx, all[7].ID, "other"))
	login, at, err := w.bot.Editor(ctx, all[7])
	if login != "maintainer" || !at.Equal(w.Now()) || err != nil {
		t.Errorf("editor after: got %q %v %v", login, at, err)
	}
	if err := w.reader.EditComment(ctx, all[7].ID, "mine"); err == nil {
		t.Error("a reader edited somebody else's comment")
	}
	if _, err := w.bot.AddComment(ctx, 1, strings.Repeat("x", 65537)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("long comment: got %v", err)
	}
}

func TestMerge(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	head := w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1)})
	p := w.newPull(t, "topic")
	must(t, w.bot.MarkReady(ctx, p))
	w.put(t, "PUT", "/pulls/1/merge", `{"merge_method":"squash"}`, 200)
	w.Wait()
	got, err := w.bot.Pull(ctx, 1)
	if err != nil || !got.Merged || got.State != "closed" {
		t.Errorf("merged: got %+v %v", got, err)
	}
	main, _, _ := w.bot.Ref(ctx, "heads/main")
	if parents := git(t, w.Git.Dir, "rev-list", "--parents", "-1", main); parents != main+" "+w.main {
		t.Errorf("squash: got %q", parents)
	}
	runs := w.runs()
	if len(runs) != 1 || runs[0].Event != "push" || runs[0].HeadSHA != main || runs[0].Title != "Upgrade topic (#1)" {
		t.Errorf("runs: got %+v, want one push of %s", runs, main)
	}
	open := "open"
	if err := w.bot.EditPull(ctx, 1, forge.PullEdit{State: &open}); err == nil {
		t.Error("a merged pull request was opened again")
	}
	_ = head
}

func TestConflictStartsNothing(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1)})
	w.newPull(t, "topic")
	must(t, w.bot.MoveRef(ctx, "heads/main", w.main, w.commitOn(t, w.main, "other", map[string]string{"perf-changelog.yaml": entry(2)})))
	must(t, w.bot.AddLabel(ctx, 1, "full-sweep-fail-fast"))
	w.Wait()
	if runs := w.runs(); len(runs) != 1 || runs[0].Event != "push" {
		t.Errorf("runs: got %+v, want only the push", runs)
	}
	p, _ := w.bot.Pull(ctx, 1)
	must(t, w.bot.MarkReady(ctx, p))
	w.put(t, "PUT", "/pulls/1/merge", `{}`, 405)
}
