package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A registry that always has another page, or a page without an end, costs no
// more than a listing may.
func TestTagsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		page func(w http.ResponseWriter, n int)
		want string
	}{
		"endless pages": {func(w http.ResponseWriter, n int) {
			w.Header().Set("Link", fmt.Sprintf(`</v2/toy/loom/tags/list?last=%d>; rel="next"`, n))
			fmt.Fprintf(w, `{"name":"toy/loom","tags":["v%d"]}`, n)
		}, "requests"},
		"endless page": {func(w http.ResponseWriter, _ int) {
			fmt.Fprint(w, `{"name":"toy/loom","tags":["`)
			for line := strings.Repeat("x", 1<<16); ; {
				if _, err := fmt.Fprint(w, line); err != nil {
					return
				}
			}
		}, "bytes"},
	} {
		n := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/" {
				return
			}
			n++
			w.Header().Set("Content-Type", "application/json")
			c.page(w, n)
		}))
		_, err := Library{Registry: strings.TrimPrefix(srv.URL, "http://")}.Tags(context.Background(), "toy/loom")
		srv.Close()
		if err == nil || !strings.Contains(err.Error(), "more than") || !strings.Contains(err.Error(), c.want) || n > maxRequests {
			t.Errorf("%s: got %v after %d pages, want an error that names the limit of %s", name, err, n, c.want)
		}
	}
}

// What a layout calls a manifest or a configuration is not read when it is as
// large as a layer.
func TestLargeManifestsAreNotRead(t *testing.T) {
	ref, err := Parse("toy/loom:v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	grow := func(t *testing.T, dir, kind string) {
		img, err := Build(dir, Spec{Ref: ref, Layers: []Layer{{Files: []File{{Path: "a", Data: []byte("b")}}}}})
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := img.V1.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		blob := strings.TrimPrefix(img.Digest, "sha256:")
		if kind == "configuration" {
			blob = manifest.Config.Digest.Hex
		}
		if err := os.Truncate(filepath.Join(dir, "blobs", "sha256", blob), 1<<40); err != nil { // sparse
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"manifest", "configuration"} {
		dir := t.TempDir()
		grow(t, dir, kind)
		_, err := Library{Layout: dir}.Resolve(context.Background(), ref)
		if err == nil || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("%s of 1 TiB: got %v, want a refusal", kind, err)
		}
	}
}

// An error says each thing once.
func TestErrorsSayThingsOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "index.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	ref := Ref{Repository: "toy/loom", Tag: "v1"}
	ctx := context.Background()
	for name, l := range map[string]Library{
		"index is a folder": {Layout: dir}, "no layout": {Layout: t.TempDir()}, "no repository": {Registry: strings.TrimPrefix(gone.URL, "http://")},
		"no host": {Registry: "a b"},
	} {
		_, errTags := l.Tags(ctx, "toy/loom")
		_, errName := l.Tags(ctx, "Toy//loom")
		_, errImage := l.Resolve(ctx, ref)
		_, errUnpack := Cache{Dir: t.TempDir()}.Root(ctx, Image{Ref: ref})
		for _, err := range []error{errTags, errName, errImage, errUnpack} {
			if err == nil {
				t.Errorf("%s: got no error", name)
				continue
			}
			if said := repeated(err.Error()); said != "" {
				t.Errorf("%s: %q is said twice: %v", name, said, err)
			}
		}
	}
	if _, err := (Library{Layout: t.TempDir()}).Tags(ctx, "toy/loom"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no layout: got %v, want ErrNotFound", err)
	}
}

// repeated is a clause that an error's text holds twice.
func repeated(text string) string {
	seen := map[string]bool{}
	for clause := range strings.SplitSeq(text, ": ") {
		clause = strings.TrimSpace(clause)
		if seen[clause] && clause != "" {
			return clause
		}
		seen[clause] = true
	}
	return ""
}

// What Parse accepts is spelled in one way, and nothing of it needs quoting in
// a shell, a file name list, a table or a YAML file.
func FuzzParsePlain(f *testing.F) {
	for _, s := range []string{"nvcr.io#a/b:c", "localhost:5000/x/y:v1", "docker://a/b:1@sha256:" + strings.Repeat("0", 64), "[::1]:5000/a:b", "a#b:1", "a/b:latest", "library/a:1", "docker.io/library/a:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := Parse(s)
		if err != nil {
			if !strings.Contains(err.Error(), "image ") || len(err.Error()) > 20*len(s)+300 {
				t.Errorf("Parse(%q): got %v", s, err)
			}
			return
		}
		text := ref.String()
		if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@[]") != "" {
			t.Errorf("Parse(%q): got %q", s, text)
		}
		like := ref.Like("registry.example#x:1")
		if again, err := Parse(like); err != nil || again != ref {
			t.Errorf("Parse(%q): spelled %q it is %+v, %v", s, like, again, err)
		}
	})
}
