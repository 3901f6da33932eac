package forge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A classic token's rights come with every answer; where the header is missing
// they are not known, which is not the same as none.
func TestAboutReadsTheRightsOfAToken(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		want    About
	}{
		"classic":      {[]string{"repo, workflow"}, About{Branch: "trunk", Private: true, Scoped: true, Scopes: []string{"repo", "workflow"}}},
		"no-rights":    {[]string{""}, About{Branch: "trunk", Private: true, Scoped: true}},
		"fine-grained": {nil, About{Branch: "trunk", Private: true}},
	} {
		client, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X-Oauth-Scopes"] = c.headers
			fmt.Fprint(w, `{"default_branch":"trunk","private":true}`)
		})
		got, err := client.About(t.Context())
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestRulesAreThoseOfTheBranch(t *testing.T) {
	asked := ""
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.EscapedPath()
		fmt.Fprint(w, `[{"type":"creation","ruleset_id":7},{"type":"pull_request","parameters":{"required_approving_review_count":1}}]`)
	})
	got, err := client.Rules(t.Context(), "refit/auto-1")
	if want := []string{"creation", "pull_request"}; !cmp.Equal(want, got) || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if !strings.HasSuffix(asked, "/rules/branches/refit%2Fauto-1") {
		t.Errorf("asked for %s, want one name with its slash", asked)
	}
}

// An answer that names no common ancestor is none.
func TestMergeBaseWantsAnAnswer(t *testing.T) {
	client, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"ahead"}`) })
	if got, err := client.MergeBase(t.Context(), "main", "topic"); err == nil || !strings.Contains(err.Error(), "answer without a merge base") {
		t.Errorf("got %q, %v, want an error", got, err)
	}
}
