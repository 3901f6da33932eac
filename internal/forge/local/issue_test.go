package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge"
)

// Issues and pull requests share their numbers, and an issue is found by who
// opened it.
func TestIssues(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"README.md": "changed\n"})
	first := w.newPull(t, "topic")
	made, err := w.bot.OpenIssue(ctx, "The wave stopped", "Why it did.")
	must(t, err)
	want := forge.Issue{
		Number: 2, Title: "The wave stopped", Body: "Why it did.", State: "open", Author: "bot",
		URL: w.http.URL + "/owner/recipes/issues/2", Created: w.Now(),
	}
	if diff := cmp.Diff(want, made); diff != "" || first.Number != 1 {
		t.Errorf("after #%d opened (-want +got):\n%s", first.Number, diff)
	}
	w.newBranch(t, "next", map[string]string{"README.md": "changed again\n"})
	if p := w.newPull(t, "next"); p.Number != 3 {
		t.Errorf("the pull request after it: got #%d, want #3", p.Number)
	}
	_, err = w.reader.OpenIssue(ctx, "A reader's", "")
	must(t, err)
	for author, want := range map[string]string{"bot": "[2]", "reader": "[4]", "maintainer": "[]"} {
		found, err := w.bot.OpenIssues(ctx, author)
		must(t, err)
		numbers := []string{}
		for _, i := range found {
			numbers = append(numbers, i.URL[strings.LastIndexByte(i.URL, '/')+1:])
		}
		if got := "[" + strings.Join(numbers, " ") + "]"; got != want {
			t.Errorf("open issues of %s: got %s, want %s", author, got, want)
		}
	}
	if _, err := w.bot.OpenIssue(ctx, " ", "x"); err == nil || !strings.Contains(err.Error(), "title missing_field") {
		t.Errorf("an issue without a title: got %v", err)
	}
	if _, err := w.anon.OpenIssue(ctx, "x", "x"); err == nil {
		t.Error("an issue by nobody was opened")
	}
}
