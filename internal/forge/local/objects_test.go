package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/refit-bench/refit/internal/forge"
)

// plantTree commits files on top of main without moving it. A text that begins
// with "-> " is a symbolic link.
func plantTree(t *testing.T, w *world, files map[string]string) string {
	t.Helper()
	ctx, changes := t.Context(), map[string]change{}
	for name, text := range files {
		mode := "100644"
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			mode, text = "120000", to
		} else if strings.HasSuffix(name, ".sh") {
			mode = "100755"
		}
		sha, err := w.write(ctx, "blob", []byte(text))
		must(t, err)
		changes[name] = change{mode: mode, sha: sha}
	}
	at, err := w.readCommit(ctx, w.main)
	must(t, err)
	tree, err := w.graft(ctx, at.tree, changes)
	must(t, err)
	data, err := commit{tree: tree, parents: []string{w.main}, message: "plant", author: w.personFor("bot"), committer: w.personFor("bot")}.encode()
	must(t, err)
	sha, err := w.write(ctx, "commit", data)
	must(t, err)
	return sha
}

// What comes through the API is what git itself reads, whole listings or cut
// ones, and every object is asked for once.
func TestObjectsAreThoseOfGit(t *testing.T) {
	w := newWorld(t, nil)
	commit := plantTree(t, w, map[string]string{"configs/a-master.yaml": "a: 1\n", "configs/deep/er/b.yaml": "", "run.sh": "#!/bin/sh\n", "mit leer.txt": "x", "ä.txt": "y\x00z"})
	for name, cut := range map[string]bool{"whole": false, "cut-listings": true} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if cut && r.URL.Query().Has("recursive") {
					fmt.Fprint(rw, `{"sha":"0","tree":[],"truncated":true}`)
					return
				}
				w.watch.Handler(w.Handler()).ServeHTTP(rw, r)
			}))
			defer server.Close()
			c, err := forge.New(server.URL, "reader-token", "owner/recipes")
			must(t, err)
			o := &forge.Objects{Client: c}
			got, err := o.Tree(t.Context(), commit)
			must(t, err)
			if !cut { // a listing folder by folder has no sizes on this forge
				must(t, fstest.TestFS(got, "configs/a-master.yaml", "configs/deep/er/b.yaml", "run.sh", "ä.txt", "README.md"))
			}
			want, err := w.Git.FS(t.Context(), commit)
			must(t, err)
			sameFiles(t, want, got)
			before := calls.Load()
			again, err := o.Tree(t.Context(), commit)
			must(t, err)
			sameFiles(t, want, again)
			if n := calls.Load() - before; n != 0 {
				t.Errorf("the second look made %d calls, want 0", n)
			}
		})
	}
}

func sameFiles(t *testing.T, want, got fs.FS) {
	t.Helper()
	n := 0
	must(t, fs.WalkDir(want, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		a, err := fs.ReadFile(want, name)
		must(t, err)
		b, err := fs.ReadFile(got, name)
		if err != nil || string(a) != string(b) {
			t.Errorf("%s: got %q %v, want %q", name, b, err, a)
		}
		is, err := fs.Stat(want, name)
		must(t, err)
		if info, err := fs.Stat(got, name); err != nil || info.Mode() != is.Mode() {
			t.Errorf("%s: got %v %v, want mode %s", name, info, err, is.Mode())
		}
		return nil
	}))
	if n < 10 {
		t.Errorf("compared %d files, want all", n)
	}
}

func TestObjectsFollowLinksInside(t *testing.T) {
	w := newWorld(t, nil)
	commit := plantTree(t, w, map[string]string{"configs/deep/b.yaml": "b", "real": "-> README.md", "folder": "-> configs/deep", "out": "-> ../etc/passwd", "root": "-> /etc/passwd", "round": "-> round"})
	fsys, err := (&forge.Objects{Client: w.reader}).Tree(t.Context(), commit)
	must(t, err)
	for name, want := range map[string]string{"real": "recipes\n", "folder/b.yaml": "b"} {
		if got, err := fs.ReadFile(fsys, name); string(got) != want || err != nil {
			t.Errorf("%s: got %q %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"out": "leads out", "root": "leads out", "round": "too many links", "folder/none": "not exist", "../README.md": "invalid"} {
		if got, err := fs.ReadFile(fsys, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q %v, want an error with %q", name, got, err, want)
		}
	}
}

// A blob whose bytes are not what its name says is no answer.
func TestObjectsAreCheckedAgainstTheirNames(t *testing.T) {
	w := newWorld(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/git/blobs/") {
			fmt.Fprint(rw, "something else")
			return
		}
		w.watch.Handler(w.Handler()).ServeHTTP(rw, r)
	}))
	defer server.Close()
	c, err := forge.New(server.URL, "reader-token", "owner/recipes")
	must(t, err)
	fsys, err := (&forge.Objects{Client: c}).Tree(t.Context(), w.main)
	must(t, err)
	if data, err := fs.ReadFile(fsys, "README.md"); err == nil || !strings.Contains(err.Error(), "not what its name says") {
		t.Errorf("got %q %v, want an error", data, err)
	}
	if _, err := (&forge.Objects{Client: c}).Tree(t.Context(), strings.Repeat("0", 40)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown commit: got %v, want fs.ErrNotExist", err)
	}
}

// Who has no right at all is told what GitHub tells: there is no such thing.
func TestNoRightsIsNotFound(t *testing.T) {
	w := newWorld(t, nil)
	w.Permissions["maintainer"] = "none"
	c := w.client(t, "maintainer-token")
	if login, err := c.Login(t.Context()); login != "maintainer" || err != nil {
		t.Errorf("login: got %q %v", login, err)
	}
	if _, err := c.DefaultBranch(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("repository: got %v, want fs.ErrNotExist", err)
	}
	if err := c.CreateRef(t.Context(), "heads/x", w.main); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("write: got %v, want fs.ErrNotExist", err)
	}
}

// An app's token has a login too.
func TestLoginOfAnApp(t *testing.T) {
	w := newWorld(t, nil)
	w.Tokens["ghs_x"] = forge.ActionsLogin
	if login, err := w.client(t, "ghs_x").Login(t.Context()); login != forge.ActionsLogin || err != nil {
		t.Errorf("got %q %v, want %s", login, err, forge.ActionsLogin)
	}
}
