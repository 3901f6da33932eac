package forge

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// An app's login ends in [bot] where REST names it and does not where GraphQL
// does: who edited a comment is told as REST tells who wrote it.
func TestTheEditorIsSpeltAsTheAuthorIs(t *testing.T) {
	for want, editor := range map[string]string{
		"maintainer":   `{"__typename": "User", "login": "maintainer"}`,
		"recipes[bot]": `{"__typename": "Bot", "login": "recipes"}`,
		"other[bot]":   `{"__typename": "Bot", "login": "other[bot]"}`,
		"ghost":        `null`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			fmt.Fprintf(w, `{"data": {"node": {"lastEditedAt": "2026-11-03T10:00:00Z", "editor": %s}}}`, editor)
		}))
		c, err := New(server.URL, "token", "toy/recipes")
		if err != nil {
			t.Fatal(err)
		}
		got, at, err := c.Editor(t.Context(), Comment{NodeID: "IC_1"})
		if err != nil || got != want || at.Year() != 2026 {
			t.Errorf("%s: got %q at %v, %v; want %q", editor, got, at, err, want)
		}
		server.Close()
	}
}
