package local

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
)

// A link to a file of the repository is answered as the file, under the link's
// name; every other link as what it is.
func TestContentsFollowLinksInside(t *testing.T) {
	w := newWorld(t, nil)
	commit := plantTree(t, w, map[string]string{
		"configs/deep/b.yaml": "b", "real": "-> README.md", "configs/up": "-> ../README.md", "twice": "-> configs/up",
		"folder": "-> configs/deep", "top": "-> .", "out": "-> ../README.md", "root": "-> /etc/passwd", "gone": "-> absent", "round": "-> round",
	})
	type content struct{ Type, Path, Content, Target string }
	look := func(path string) (c content) {
		t.Helper()
		must(t, json.Unmarshal([]byte(w.put(t, "GET", "/contents/"+path+"?ref="+commit, "", 200)), &c))
		return c
	}
	for _, path := range []string{"real", "configs/up", "twice"} {
		got := look(path)
		if text, err := base64.StdEncoding.DecodeString(got.Content); got.Type != "file" || got.Path != path || got.Target != "" || string(text) != "recipes\n" || err != nil {
			t.Errorf("%s: got %+v (%q %v), want the file README.md", path, got, text, err)
		}
		if text, err := w.bot.File(t.Context(), commit, path); string(text) != "recipes\n" || err != nil {
			t.Errorf("%s: the client got %q %v, want the file's text", path, text, err)
		}
	}
	for path, target := range map[string]string{"folder": "configs/deep", "top": ".", "out": "../README.md", "root": "/etc/passwd", "gone": "absent", "round": "round"} {
		if got := look(path); got.Type != "symlink" || got.Target != target || got.Content != "" {
			t.Errorf("%s: got %+v, want the link to %s", path, got, target)
		}
		if text, err := w.bot.File(t.Context(), commit, path); err == nil {
			t.Errorf("%s: the client got %q, want an error", path, text)
		}
	}
	w.put(t, "GET", "/contents/folder/b.yaml?ref="+commit, "", 404) // no folder is entered by a link
	raw := w.send(t, "GET", "/contents/real?ref="+commit, "", 200, func(r *http.Request) { r.Header.Set("Accept", "application/vnd.github.raw+json") })
	if raw != "recipes\n" {
		t.Errorf("raw: got %q, want the file's text", raw)
	}
}

// A folder is a list, which says of a link that it is one.
func TestContentsOfAFolderAreAList(t *testing.T) {
	w := newWorld(t, nil)
	commit := plantTree(t, w, map[string]string{"configs/a.yaml": "a", "configs/link": "-> a.yaml", "configs/deep/b.yaml": "b"})
	var list []struct{ Type, Path string }
	must(t, json.Unmarshal([]byte(w.put(t, "GET", "/contents/configs?ref="+commit, "", 200)), &list))
	kinds := map[string]string{}
	for _, c := range list {
		kinds[c.Path] = c.Type
	}
	if len(kinds) != 3 || kinds["configs/a.yaml"] != "file" || kinds["configs/link"] != "symlink" || kinds["configs/deep"] != "dir" {
		t.Errorf("got %v, want a file, a link and a folder", kinds)
	}
}
