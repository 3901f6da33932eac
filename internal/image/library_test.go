package image

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/crane"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var created = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

func labSpec(t *testing.T, tag string, layers ...Layer) Spec {
	t.Helper()
	ref, err := Parse("lab/simengine:" + tag)
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Ref: ref, Created: created, Layers: layers,
		Labels: map[string]string{"org.opencontainers.image.version": tag},
		Env:    []string{"PATH=/opt/bin:/usr/bin:relative", "HOME=/root"},
	}
}

func mustBuild(t *testing.T, dir string, s Spec) Image {
	t.Helper()
	img, err := Build(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func files(kv ...string) []File {
	var out []File
	for i := 0; i < len(kv); i += 2 {
		out = append(out, File{Path: kv[i], Data: []byte(kv[i+1])})
	}
	return out
}

func TestBuildIsDeterministic(t *testing.T) {
	from := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(from, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := Layer{Gzip: true, Files: []File{
		{Path: "usr/bin/tool", Mode: 0o755, From: from}, {Path: "etc/conf", Data: []byte("x")}, {Path: "usr/bin/alias", Link: "tool"}}}
	two := Layer{Files: []File{one.Files[2], one.Files[0], one.Files[1]}, Gzip: true}
	a := mustBuild(t, t.TempDir(), labSpec(t, "v1.0.0-cpu", one, Layer{Gzip: true, Files: files("a", "b")}))
	if err := os.Chtimes(from, created, created); err != nil {
		t.Fatal(err)
	}
	b := mustBuild(t, t.TempDir(), labSpec(t, "v1.0.0-cpu", two, Layer{Gzip: true, Files: files("a", "b")}))
	if a.Digest != b.Digest || !digestForm.MatchString(a.Digest) {
		t.Errorf("same files in another order: got %s and %s", a.Digest, b.Digest)
	}
	if err := validate.Image(a.V1); err != nil {
		t.Errorf("the built image is not valid: %v", err)
	}
	if a.Labels["org.opencontainers.image.version"] != "v1.0.0-cpu" || !a.Created.Equal(created) {
		t.Errorf("got labels %v, created %v", a.Labels, a.Created)
	}
}

func TestBuildReplacesTheTag(t *testing.T) {
	dir := t.TempDir()
	first := mustBuild(t, dir, labSpec(t, "v1.0.0-cpu", Layer{Files: files("a", "1")}))
	other := mustBuild(t, dir, labSpec(t, "v2.0.0-cpu", Layer{Files: files("a", "2")}))
	second := mustBuild(t, dir, labSpec(t, "v1.0.0-cpu", Layer{Files: files("a", "3")}))
	check := func(tag, want string) {
		t.Helper()
		img, err := Library{Layout: dir}.Resolve(t.Context(), Ref{Repository: "lab/simengine", Tag: tag})
		if err != nil || img.Digest != want {
			t.Errorf("Resolve(%s): got %s, %v, want %s", tag, img.Digest, err, want)
		}
	}
	check("v1.0.0-cpu", second.Digest)
	check("v2.0.0-cpu", other.Digest)
	if first.Digest == second.Digest {
		t.Error("different files, same digest")
	}
	index, err := readIndex(dir)
	if err != nil || len(index.Manifests) != 2 {
		t.Errorf("index: got %d images, %v, want 2", len(index.Manifests), err)
	}
}

func TestBuildAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	tags := []string{"v1.0.0-cpu", "v1.1.0-cpu", "v1.2.0-cpu", "v1.3.0-cpu"}
	for _, tag := range tags {
		wait.Go(func() {
			if _, err := Build(dir, labSpec(t, tag, Layer{Files: files("a", tag)})); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got, err := Library{Layout: dir}.Tags(t.Context(), "lab/simengine")
	if diff := cmp.Diff(tags, got); err != nil || diff != "" {
		t.Errorf("Tags: %v (-want +got):\n%s", err, diff)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files []File
		want  string
	}{
		"climbing":         {files("../x", ""), "not a path inside"},
		"absolute":         {files("/x", ""), "not a path inside"},
		"set-id":           {[]File{{Path: "x", Mode: 0o4755}}, "permission bits"},
		"twice":            {files("x", "1", "x", "2"), "twice"},
		"file-and-folder":  {files("x", "1", "x/y", "2"), "twice, or also a folder"},
		"folder-then-file": {files("x-a", "1", "x/y", "2", "x", ""), "twice, or also a folder"},
		"absent-source":    {[]File{{Path: "x", From: "/absent/file"}}, "no such file"},
	} {
		dir := t.TempDir()
		if _, err := Build(dir, labSpec(t, "v1.0.0-cpu", Layer{Files: c.files})); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Build(%s): got %v, want an error with %q", name, err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "blobs/sha256/*")); len(left) != 0 {
			t.Errorf("Build(%s) left %v", name, left)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "blobs/sha256/.*")); len(left) != 0 {
			t.Errorf("Build(%s) left %v", name, left)
		}
	}
	if _, err := Build(t.TempDir(), Spec{Ref: Ref{Repository: "x", Digest: someDigest}}); err == nil {
		t.Error("Build by digest: no error")
	}
}

// libraries runs a test over both kinds of library with the same content.
func libraries(t *testing.T, test func(t *testing.T, l Library)) string {
	dir := t.TempDir()
	mustBuild(t, dir, labSpec(t, "v1.0.0-cpu", Layer{Gzip: true, Files: files("opt/bin/engine", "one")}))
	mustBuild(t, dir, labSpec(t, "v2.0.0-cpu", Layer{Gzip: true, Files: files("opt/bin/engine", "two")}))
	s := httptest.NewServer(Handler(dir))
	t.Cleanup(s.Close)
	t.Run("layout", func(t *testing.T) { test(t, Library{Layout: dir}) })
	t.Run("registry", func(t *testing.T) { test(t, Library{Registry: strings.TrimPrefix(s.URL, "http://")}) })
	return dir
}

func TestLibrary(t *testing.T) {
	libraries(t, func(t *testing.T, l Library) {
		img, err := l.Resolve(t.Context(), Ref{Repository: "lab/simengine", Tag: "v1.0.0-cpu"})
		if err != nil {
			t.Fatal(err)
		}
		if img.Labels["org.opencontainers.image.version"] != "v1.0.0-cpu" || !img.Created.Equal(created) || len(img.Env) != 2 {
			t.Errorf("Resolve: got %+v", img)
		}
		again, err := l.Resolve(t.Context(), Ref{Repository: "lab/simengine", Digest: img.Digest})
		if err != nil || again.Digest != img.Digest {
			t.Errorf("Resolve by digest: got %s, %v, want %s", again.Digest, err, img.Digest)
		}
		tags, err := l.Tags(t.Context(), "lab/simengine")
		if diff := cmp.Diff([]string{"v1.0.0-cpu", "v2.0.0-cpu"}, tags); err != nil || diff != "" {
			t.Errorf("Tags: %v (-want +got):\n%s", err, diff)
		}
		_, err = l.Resolve(t.Context(), Ref{Repository: "lab/simengine", Tag: "v3.0.0-cpu"})
		if want := "image lab/simengine:v3.0.0-cpu: not found (nearest tags: v2.0.0-cpu, v1.0.0-cpu)"; !errors.Is(err, ErrNotFound) || err.Error() != want {
			t.Errorf("Resolve(absent tag): got %v, want %s", err, want)
		}
		for _, ref := range []Ref{{Repository: "lab/simengine", Digest: someDigest}, {Repository: "lab/other", Tag: "v1"}} {
			if _, err := l.Resolve(t.Context(), ref); !errors.Is(err, ErrNotFound) {
				t.Errorf("Resolve(%s): got %v, want not found", ref, err)
			}
		}
		if _, err := l.Tags(t.Context(), "lab/other"); !errors.Is(err, ErrNotFound) {
			t.Errorf("Tags(lab/other): got %v, want not found", err)
		}
		root, err := Cache{Dir: t.TempDir()}.Root(t.Context(), img)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(root, "opt/bin/engine")); err != nil || string(got) != "one" {
			t.Errorf("unpacked engine: got %q, %v", got, err)
		}
	})
}

func TestLibraryOfNothing(t *testing.T) {
	l := Library{Layout: filepath.Join(t.TempDir(), "absent")}
	if _, err := l.Resolve(t.Context(), Ref{Repository: "lab/x", Tag: "v1"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Resolve: got %v, want not found", err)
	}
	if _, err := l.Resolve(t.Context(), Ref{Repository: "lab/x", Digest: someDigest}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Resolve by digest: got %v, want not found", err)
	}
}

func TestLibraryRefusesPlainHTTPBeyondLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost:1": true, "127.0.0.1:5000": true, "[::1]:5000": true, "10.0.0.1:5000": false, "example.org": false, "localhost.example.org": false} {
		if got := loopback(host); got != want {
			t.Errorf("loopback(%s): got %v, want %v", host, got, want)
		}
	}
	q := httptest.NewRequest(http.MethodGet, "http://10.0.0.1:5000/v2/", nil)
	if _, err := (guarded{http.DefaultTransport}).RoundTrip(q); err == nil || !strings.Contains(err.Error(), "only loopback may") {
		t.Errorf("plain http to 10.0.0.1: got %v", err)
	}
}

// A manifest or a configuration that was changed on disk is not believed.
func TestLibraryRefusesChangedContent(t *testing.T) {
	for _, which := range []string{"manifest", "configuration"} {
		dir := t.TempDir()
		img := mustBuild(t, dir, labSpec(t, "v1.0.0-cpu", Layer{Files: files("a", "b")}))
		path := filepath.Join(dir, "blobs/sha256", strings.TrimPrefix(img.Digest, "sha256:"))
		if which == "configuration" {
			name, err := img.V1.ConfigName()
			if err != nil {
				t.Fatal(err)
			}
			path = blobPath(dir, name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, ' '), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = Library{Layout: dir}.Resolve(t.Context(), img.Ref)
		if err == nil || !strings.Contains(err.Error(), which+": content is sha256:") {
			t.Errorf("Resolve with a changed %s: got %v", which, err)
		}
	}
}

func TestHandlerServesOtherClients(t *testing.T) {
	dir := libraries(t, func(t *testing.T, l Library) {
		if l.Registry == "" {
			return
		}
		img, err := crane.Pull(l.Registry+"/lab/simengine:v2.0.0-cpu", crane.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Image(img); err != nil {
			t.Errorf("pulled image: %v", err)
		}
		head, err := crane.Head(l.Registry+"/lab/simengine:v2.0.0-cpu", crane.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := img.Digest(); err != nil || got != head.Digest {
			t.Errorf("head says %s, the image is %s, %v", head.Digest, got, err)
		}
		if err := crane.Push(img, l.Registry+"/lab/simengine:v3.0.0-cpu", crane.Insecure); err == nil || !strings.Contains(err.Error(), "UNSUPPORTED") {
			t.Errorf("push: got %v, want it refused", err)
		}
	})
	if tags, err := (Library{Layout: dir}).Tags(t.Context(), "lab/simengine"); err != nil || len(tags) != 2 {
		t.Errorf("after a push: got %v, %v", tags, err)
	}
}

func TestHandler(t *testing.T) {
	dir := t.TempDir()
	img := mustBuild(t, dir, labSpec(t, "v1.0.0-cpu", Layer{Files: files("a", "content")}))
	mustBuild(t, dir, labSpec(t, "v2.0.0-cpu"))
	h := Handler(dir)
	check := func(method, path string, status int, body string) *httptest.ResponseRecorder {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != status || !strings.Contains(w.Body.String(), body) {
			t.Errorf("%s %s: got %d %s, want %d with %q", method, path, w.Code, w.Body, status, body)
		}
		return w
	}
	const base = "/v2/lab/simengine/"
	check("GET", "/v2/", 200, "{}")
	check("GET", base+"tags/list", 200, `{"name":"lab/simengine","tags":["v1.0.0-cpu","v2.0.0-cpu"]}`)
	w := check("GET", base+"tags/list?n=1", 200, `"tags":["v1.0.0-cpu"]`)
	if got := w.Header().Get("Link"); got != `</v2/lab/simengine/tags/list?n=1&last=v1.0.0-cpu>; rel="next"` {
		t.Errorf("Link: got %s", got)
	}
	check("GET", base+"tags/list?n=5&last=v1.0.0-cpu", 200, `"tags":["v2.0.0-cpu"]`)
	check("GET", base+"tags/list?n=x", 400, "PAGINATION_NUMBER_INVALID")
	w = check("GET", base+"manifests/v1.0.0-cpu", 200, "schemaVersion")
	if got := w.Header().Get("Docker-Content-Digest"); got != img.Digest {
		t.Errorf("digest header: got %s, want %s", got, img.Digest)
	}
	check("GET", base+"manifests/"+img.Digest, 200, "schemaVersion")
	check("GET", base+"manifests/absent", 404, "MANIFEST_UNKNOWN")
	check("GET", base+"manifests/"+someDigest, 404, "MANIFEST_UNKNOWN")
	check("GET", base+"manifests/..", 400, "TAG_INVALID")
	check("GET", base+"blobs/"+someDigest, 404, "BLOB_UNKNOWN")
	check("GET", base+"blobs/sha256:..%2f..%2findex.json", 400, "NAME_INVALID")
	check("GET", base+"blobs/md5:00", 400, "DIGEST_INVALID")
	check("GET", "/v2/lab/other/tags/list", 404, "NAME_UNKNOWN")
	check("GET", "/v2/Lab/tags/list", 400, "NAME_INVALID")
	check("GET", "/index.json", 404, "NAME_UNKNOWN")
	layer := layerDigest(t, img)
	check("GET", base+"manifests/"+layer.String(), 404, "MANIFEST_UNKNOWN")
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		w := check(method, base+"blobs/uploads/", 405, `"code":"UNSUPPORTED"`)
		if w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: got Allow %q", method, w.Header().Get("Allow"))
		}
	}
	check("GET", base+"blobs/"+layer.String(), 200, "content")
	if err := os.WriteFile(blobPath(dir, layer), []byte("other content"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("GET", base+"blobs/"+layer.String(), 404, "content does not match its digest")
	if err := errors.Join(os.Remove(blobPath(dir, layer)), os.Symlink("/etc/hostname", blobPath(dir, layer))); err != nil {
		t.Fatal(err)
	}
	check("GET", base+"blobs/"+layer.String(), 404, "BLOB_UNKNOWN")
}

func layerDigest(t *testing.T, img Image) v1.Hash {
	t.Helper()
	layers, err := img.V1.Layers()
	if err != nil || len(layers) == 0 {
		t.Fatalf("layers: %d, %v", len(layers), err)
	}
	d, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}
