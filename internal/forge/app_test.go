package forge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// GraphQL leaves "[bot]" out of an app's login; what is compared with the
// author of a comment must be spelled like it.
func TestTheEditorIsSpelledAsTheAuthor(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for editor, want := range map[string]string{
		`{"__typename":"Bot","login":"helper"}`:      "helper[bot]",
		`{"__typename":"Bot","login":"helper[bot]"}`: "helper[bot]",
		`{"__typename":"User","login":"helper"}`:     "helper",
		`null`:                                       "ghost",
	} {
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"data":{"node":{"lastEditedAt":"2026-02-03T04:05:06Z","editor":%s}}}`, editor)
		})
		if got, when, err := c.Editor(t.Context(), Comment{ID: 1, NodeID: "IC_1"}); got != want || !when.Equal(at) || err != nil {
			t.Errorf("%s: got %q at %s, %v; want %q", editor, got, when, err, want)
		}
	}
}

func TestRepositoryIs(t *testing.T) {
	r := Repository{"Owner", "recipes"}
	for name, want := range map[string]bool{"Owner/recipes": true, "owner/Recipes": true, "owner/recipe": false, "": false} {
		if r.Is(name) != want {
			t.Errorf("%s is %q: got %v, want %v", r, name, !want, want)
		}
	}
}

// GitHub filters runs by the name of a branch, and forks may have the same.
func TestRunsOfABranchAreThoseOfTheRepository(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"total_count":4,"workflow_runs":[
			{"id":1,"head_branch":"topic","head_repository":{"full_name":"Owner/Recipes"}},
			{"id":2,"head_branch":"topic","head_repository":{"full_name":"somebody/recipes"}},
			{"id":3,"head_branch":"topic","head_repository":null},
			{"id":4,"head_branch":"topic"}]}`)
	})
	ids := func(f RunFilter) string {
		runs, err := c.Runs(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, r := range runs {
			all = append(all, fmt.Sprint(r.ID, " ", r.HeadRepo))
		}
		return strings.Join(all, ", ")
	}
	if got := ids(RunFilter{Branch: "topic"}); got != "1 Owner/Recipes" {
		t.Errorf("of the branch: got %s, want run 1 alone", got)
	}
	if got := ids(RunFilter{}); got != "1 Owner/Recipes, 2 somebody/recipes, 3 , 4 " {
		t.Errorf("of all: got %s, want all four", got)
	}
}
