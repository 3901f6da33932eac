package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// fromTars makes an image of layers with exactly these entries.
func fromTars(t *testing.T, layers ...[]tar.Header) Image {
	t.Helper()
	img := v1.Image(empty.Image)
	for _, headers := range layers {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			content := h.PAXRecords["test.content"]
			h.PAXRecords, h.Size = nil, int64(len(content))
			if h.Mode == 0 {
				h.Mode = 0o644
			}
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, content); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
		if err != nil {
			t.Fatal(err)
		}
		if img, err = mutate.AppendLayers(img, l); err != nil {
			t.Fatal(err)
		}
	}
	return Image{Ref: Ref{Repository: "lab/test", Tag: "v1"}, V1: img}
}

func file(name, content string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, PAXRecords: map[string]string{"test.content": content}}
}
func folder(name string) tar.Header {
	return tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}
}
func symlink(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
}
func hard(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to}
}

// listing is what lies below a root: "name content", "name -> target", "name/".
func listing(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == root {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case info.IsDir():
			out = append(out, name+"/")
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			out = append(out, name+" -> "+to)
		default:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out = append(out, name+" "+string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRootAppliesLayers(t *testing.T) {
	for name, c := range map[string]struct {
		layers [][]tar.Header
		want   []string
	}{
		"whiteout": {[][]tar.Header{{file("a", "1"), file("d/b", "2"), file("d/c", "3")}, {file("d/.wh.b", ""), file(".wh.a", "")}},
			[]string{"d/", "d/c 3"}},
		"whiteout-and-new": {[][]tar.Header{{file("a", "1")}, {file("a", "2"), file(".wh.a", "")}}, []string{"a 2"}},
		"whiteout-folder":  {[][]tar.Header{{file("d/e/f", "1"), file("g", "")}, {file(".wh.d", "")}}, []string{"g "}},
		"opaque-first": {[][]tar.Header{{file("d/old", "1"), file("d/e/old", "1")}, {file("d/.wh..wh..opq", ""), file("d/e/new", "2")}},
			[]string{"d/", "d/e/", "d/e/new 2"}},
		"opaque-last": {[][]tar.Header{{file("d/old", "1"), file("d/e/old", "1")}, {file("d/new", "2"), file("d/e/new", "2"), file("d/.wh..wh..opq", "")}},
			[]string{"d/", "d/e/", "d/e/new 2", "d/new 2"}},
		"file-over-folder": {[][]tar.Header{{file("x/y", "1")}, {file("x", "2")}}, []string{"x 2"}},
		"folder-over-file": {[][]tar.Header{{file("x", "1")}, {file("y", "0"), folder("x/"), file("x/y", "2")}}, []string{"x/", "x/y 2", "y 0"}},
		"folder-again":     {[][]tar.Header{{file("x/y", "1")}, {folder("x"), file("x/z", "2")}}, []string{"x/", "x/y 1", "x/z 2"}},
		"through-link": {[][]tar.Header{{folder("usr/bin/"), symlink("bin", "usr/bin")}, {file("bin/tool", "1"), file("bin/.wh.gone", "")}},
			[]string{"bin -> usr/bin", "usr/", "usr/bin/", "usr/bin/tool 1"}},
		"file-over-link": {[][]tar.Header{{file("a", "1"), symlink("b", "a")}, {file("b", "2")}}, []string{"a 1", "b 2"}},
		"hard-link":      {[][]tar.Header{{file("a", "1"), hard("d/b", "/a")}, {file("a", "2")}}, []string{"a 2", "d/", "d/b 1"}},
		"absolute-link":  {[][]tar.Header{{symlink("d/e/l", "/etc/../etc/passwd"), symlink("top", "/"), symlink("d/t", "/")}}, []string{"d/", "d/e/", "d/e/l -> ../../etc/passwd", "d/t -> ..", "top -> ."}},
		"down-and-up":    {[][]tar.Header{{symlink("d/l", "x/../y")}}, []string{"d/", "d/l -> ../d/y"}},
		"link-below-a-shallow-link": {[][]tar.Header{{symlink("d/e/top", "../.."), symlink("d/e/top/l", "/x")}},
			[]string{"d/", "d/e/", "d/e/top -> ../..", "l -> x"}},
		"absolute-and-dotted-names": {[][]tar.Header{{folder("./"), file("/a", "1"), file("./b//c", "2")}}, []string{"a 1", "b/", "b/c 2"}},
	} {
		root, err := Cache{Dir: t.TempDir()}.Root(t.Context(), fromTars(t, c.layers...))
		if err != nil {
			t.Errorf("Root(%s): %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, listing(t, root)); diff != "" {
			t.Errorf("Root(%s) (-want +got):\n%s", name, diff)
		}
	}
}

func TestRootRefuses(t *testing.T) {
	outside := t.TempDir()
	for name, c := range map[string]struct {
		layers [][]tar.Header
		want   string
	}{
		"climbing-name":           {[][]tar.Header{{file("../evil", "x")}}, `entry "../evil": leads out of the image`},
		"inner-climbing-name":     {[][]tar.Header{{file("a/../../evil", "x")}}, "leads out of the image"},
		"climbing-link":           {[][]tar.Header{{symlink("d/l", "../../evil")}}, "leads out of the image"},
		"climbing-by-a-deep-link": {[][]tar.Header{{symlink("d/e/top", "../.."), symlink("d/e/top/l", "../evil")}}, "leads out of the image"},
		"write-through-link":      {[][]tar.Header{{symlink("l", "../"+filepath.Base(outside)), file("l/evil", "x")}}, "leads out of the image"},
		"empty-link":              {[][]tar.Header{{symlink("l", "")}}, "leads out of the image"},
		"climbing-hard-link":      {[][]tar.Header{{hard("l", "../../etc/passwd")}}, "leads out of the image"},
		"absolute-hard-link":      {[][]tar.Header{{hard("l", "/etc/passwd")}}, "no such file"},
		"hard-link-to-link":       {[][]tar.Header{{symlink("a", "b"), hard("l", "a")}}, "which is no file"},
		"device":                  {[][]tar.Header{{{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}}}, "neither file, folder nor link"},
		"block-device":            {[][]tar.Header{{{Typeflag: tar.TypeBlock, Name: "sda"}}}, "neither file, folder nor link"},
		"pipe":                    {[][]tar.Header{{{Typeflag: tar.TypeFifo, Name: "p"}}}, "neither file, folder nor link"},
		"link-loop":               {[][]tar.Header{{symlink("a", "b"), symlink("b", "a"), file("a/x", "")}}, "too many links"},
		"file-as-folder":          {[][]tar.Header{{file("a", ""), file("a/x", "")}}, "a is not a folder"},
		"nameless-whiteout":       {[][]tar.Header{{file(".wh.", "")}}, "whiteout without a name"},
		"whiteout-of-dots":        {[][]tar.Header{{file("d/.wh...", "")}}, "whiteout without a name"},
		"too-large":               {[][]tar.Header{{file("a", strings.Repeat("x", 600)), file("b", strings.Repeat("x", 600))}}, "image is too large"},
		"too-many":                {[][]tar.Header{{file("a", ""), file("b", ""), file("c", ""), file("d", ""), file("e", ""), file("f", "")}}, "too many files"},
	} {
		dir := filepath.Join(t.TempDir(), "deep/cache")
		_, err := Cache{Dir: dir, MaxBytes: 1000, MaxFiles: 5}.Root(t.Context(), fromTars(t, c.layers...))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "unpack image lab/test:v1: layer sha256:") {
			t.Errorf("Root(%s): got %v, want an error with %q", name, err, c.want)
		}
		nothingLeft(t, dir)
	}
	if list, _ := os.ReadDir(outside); len(list) != 0 {
		t.Errorf("something was written outside: %v", list)
	}
}

// nothingLeft allows the lock file only.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) > 1 || len(list) == 1 && !strings.HasSuffix(list[0].Name(), ".lock") {
		t.Errorf("left in the cache: %v, %v", list, err)
	}
}

func TestRootStripsModes(t *testing.T) {
	set := func(h tar.Header, mode int64) tar.Header { h.Mode = mode; return h }
	root, err := Cache{Dir: t.TempDir()}.Root(t.Context(), fromTars(t, []tar.Header{
		set(file("suid", "x"), 0o6777), set(folder("closed/"), 0o1000), set(file("closed/in", "y"), 0o111),
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"suid": 0o755, "closed": os.ModeDir | 0o700, "closed/in": 0o511} {
		if info, err := os.Lstat(filepath.Join(root, name)); err != nil || info.Mode() != want {
			t.Errorf("mode of %s: got %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestRootOfACorruptLayer(t *testing.T) {
	for _, gzip := range []bool{false, true} {
		for _, how := range []string{"flipped", "cut", "longer"} {
			layout, dir := t.TempDir(), t.TempDir()
			img := mustBuild(t, layout, labSpec(t, "v1.0.0-cpu",
				Layer{Files: files("a", "1")}, Layer{Gzip: gzip, Files: files("b", strings.Repeat("content", 100))}))
			layers, err := img.V1.Layers()
			if err != nil {
				t.Fatal(err)
			}
			digest, err := layers[1].Digest()
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(blobPath(layout, digest))
			if err != nil {
				t.Fatal(err)
			}
			switch how {
			case "flipped":
				data[len(data)/3] ^= 1
			case "cut":
				data = data[:len(data)/2]
			case "longer":
				data = append(data, 0)
			}
			if err := os.WriteFile(blobPath(layout, digest), data, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = Cache{Dir: dir}.Root(t.Context(), img)
			if err == nil || !strings.Contains(err.Error(), "layer "+digest.String()) {
				t.Errorf("Root with a layer %s (gzip %v): got %v", how, gzip, err)
			}
			nothingLeft(t, dir)
		}
	}
}

func TestRootIsKeptAndChecked(t *testing.T) {
	c := Cache{Dir: t.TempDir()}
	img := mustBuild(t, t.TempDir(), labSpec(t, "v1.0.0-cpu", Layer{Files: files("opt/bin/engine", "one", "opt/lib", "two")}))
	root, err := c.Root(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, change func() error, kept bool) {
		t.Helper()
		witness := filepath.Join(root, "witness")
		if err := errors.Join(os.WriteFile(witness, []byte(strings.Repeat("cache", 5)), 0o644), change()); err != nil {
			t.Fatal(err)
		}
		again, err := c.Root(t.Context(), img)
		if err != nil || again != root {
			t.Errorf("%s: got %s, %v, want %s", name, again, err, root)
		}
		if _, err := os.Stat(witness); (err == nil) != kept {
			t.Errorf("%s: root kept %v, want %v", name, err == nil, kept)
		}
		if got, err := os.ReadFile(filepath.Join(root, "opt/bin/engine")); err != nil || string(got) != "one" {
			t.Errorf("%s: engine is %q, %v", name, got, err)
		}
		os.Remove(witness)
	}
	place := filepath.Dir(root)
	check("unchanged", func() error { return nil }, true)
	check("lost-files", func() error { return os.RemoveAll(filepath.Join(root, "opt")) }, false)
	check("lost-marker", func() error { return os.Remove(filepath.Join(place, markerName)) }, false)
	check("broken-marker", func() error { return os.WriteFile(filepath.Join(place, markerName), []byte("{"), 0o644) }, false)
	check("other-marker", func() error {
		return os.WriteFile(filepath.Join(place, markerName), []byte(`{"digest":"`+someDigest+`"}`), 0o644)
	}, false)
	check("link-out", func() error { return os.Symlink("/etc", filepath.Join(root, "etc")) }, false)
	check("killed-before", func() error {
		return errors.Join(os.Rename(place, place+".old"), os.MkdirAll(place+".new/root/half", 0o755))
	}, false)
	if list, _ := os.ReadDir(c.Dir); len(list) != 2 {
		t.Errorf("left in the cache: %v, want the image and its lock", list)
	}
}

func TestRootEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Cache{Dir: dir}.Root(ctx, fromTars(t, []tar.Header{file("a", "1")}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Root: got %v, want canceled", err)
	}
	nothingLeft(t, dir)
	if _, err := (Cache{Dir: dir}).Root(t.Context(), Image{}); err == nil {
		t.Error("Root of an image that was not resolved: no error")
	}
}

// TestMain lets this binary stand in for the processes of TestRootOfTwoProcesses.
func TestMain(m *testing.M) {
	layout, dir := os.Getenv("IMAGE_TEST_LAYOUT"), os.Getenv("IMAGE_TEST_CACHE")
	if layout == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	img, err := Library{Layout: layout}.Resolve(ctx, Ref{Repository: "lab/simengine", Tag: "v1.0.0-cpu"})
	if err == nil {
		var root string
		root, err = Cache{Dir: dir}.Root(ctx, img)
		info, _ := os.Stat(root)
		fmt.Println(root, info.Sys())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestRootOfTwoProcesses(t *testing.T) {
	layout, dir := t.TempDir(), t.TempDir()
	var many []File
	for i := range 500 {
		many = append(many, File{Path: fmt.Sprintf("d%d/f%d", i%7, i), Data: bytes.Repeat([]byte{byte(i)}, 1000)})
	}
	mustBuild(t, layout, labSpec(t, "v1.0.0-cpu", Layer{Gzip: true, Files: many}))
	self, err := os.Executable()
	if err != nil {
		t.Skipf("this binary cannot be started again: %v", err)
	}
	var running []*exec.Cmd
	var said [3]bytes.Buffer
	for i := range said {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "IMAGE_TEST_LAYOUT="+layout, "IMAGE_TEST_CACHE="+dir)
		cmd.Stdout, cmd.Stderr = &said[i], &said[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, &said[i])
		}
	}
	inode := func(i int) string { return strings.Join(strings.Fields(said[i].String())[:4], " ") }
	if t.Failed() {
		return
	}
	if inode(0) != inode(1) || inode(0) != inode(2) {
		t.Errorf("roots differ: %s, %s, %s", &said[0], &said[1], &said[2])
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("left in the cache: %v, want one image and its lock", list)
	}
}

func TestEnv(t *testing.T) {
	c := Cache{Dir: t.TempDir()}
	img := mustBuild(t, t.TempDir(), labSpec(t, "v1.0.0-cpu"))
	root, err := c.Root(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"PATH=" + root + "/opt/bin:" + root + "/usr/bin", "HOME=/root"}
	if diff := cmp.Diff(want, c.Env(img)); diff != "" {
		t.Errorf("Env (-want +got):\n%s", diff)
	}
	img.Env = nil
	if got := c.Env(img); len(got) != 1 || !strings.HasPrefix(got[0], "PATH="+root+"/usr/local/sbin:"+root+"/usr/local/bin:") {
		t.Errorf("Env of an image without any: got %v", got)
	}
}
