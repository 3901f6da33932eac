package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func FuzzIndex(f *testing.F) {
	dir := f.TempDir()
	ref, err := Parse("a/b:v1.0.0-cpu")
	if err != nil {
		f.Fatal(err)
	}
	if _, err := Build(dir, Spec{Ref: ref, Layers: []Layer{{Files: []File{{Path: "x", Data: []byte("y")}}}}}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, s := range []string{`{}`, `null`, `[]`, `{"manifests": [{}]}`, `{"manifests": null}`, `{"manifests": [{"digest": "sha256:../../x", "size": -1}]}`,
		`{"manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json", "digest": "sha256:` + string(bytes.Repeat([]byte("0"), 64)) + `",
			"annotations": {"org.opencontainers.image.ref.name": "a/b:v1.0.0-cpu"}}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		if err := os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644); err != nil {
			t.Fatal(err)
		}
		l := Library{Layout: dir}
		tags, err := l.Tags(context.Background(), "a/b")
		if err == nil && (len(tags) == 0 || !slices.IsSorted(tags)) {
			t.Errorf("Tags with index %q: got %q", index, tags)
		}
		img, err := l.Resolve(context.Background(), ref)
		if err == nil && !digestForm.MatchString(img.Digest) {
			t.Errorf("Resolve with index %q: got digest %q", index, img.Digest)
		}
	})
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"v0.5.20-rocm720-mi30x", "v0.5.20.post1", "v1.0.0rc1", "nightly-dev-20260918-0123abcd", "latest", "v1.0-a100", "x_vllm0.9.1", "99999999999999999999.1"} {
		f.Add(s, "v0.5.21-rocm720-mi30x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		v, ok := ParseVersion(a)
		w, ok2 := ParseVersion(b)
		if !ok || !ok2 {
			return
		}
		if c, ok := v.Compare(v); ok && c != 0 {
			t.Errorf("%q compared with itself: got %d", a, c)
		}
		c, ok := v.Compare(w)
		d, ok2 := w.Compare(v)
		if ok != ok2 || ok && c != -d {
			t.Errorf("%q and %q: got %d, %v and %d, %v", a, b, c, ok, d, ok2)
		}
		if newest, ok := Newest([]string{a, b}, b); ok && newest != a {
			t.Errorf("Newest of %q and %q after %q: got %q", a, b, b, newest)
		}
	})
}

// Whatever a layer's archive says, nothing appears outside of the root, and
// nothing inside but files, folders and links that stay inside.
func FuzzUnpack(f *testing.F) {
	for _, headers := range [][]tar.Header{
		{{Name: "a/b", Typeflag: tar.TypeReg}, {Name: "a/c", Typeflag: tar.TypeSymlink, Linkname: "b"}, {Name: "a/.wh.b", Typeflag: tar.TypeReg}},
		{{Name: "../x", Typeflag: tar.TypeReg}}, {{Name: "/x", Typeflag: tar.TypeReg, Mode: 0o6777}},
		{{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/../.."}, {Name: "l/x", Typeflag: tar.TypeReg}},
		{{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "l"}, {Name: "l/x", Typeflag: tar.TypeDir}},
		{{Name: "h", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"}}, {{Name: "d", Typeflag: tar.TypeChar}}, {{Name: "d/.wh..wh..opq", Typeflag: tar.TypeReg}},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		dir := t.TempDir()
		inside := filepath.Join(dir, "root")
		if err := os.Mkdir(inside, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(inside)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		u := newUnpacker(root, 1<<20, 100)
		u.layer = map[string]bool{}
		if errors.Join(u.entries(tar.NewReader(bytes.NewReader(archive))), u.finish()) == nil {
			if _, _, err := inventory(inside); err != nil {
				t.Errorf("unpacked: %v", err)
			}
		}
		around, err := os.ReadDir(dir)
		if err != nil || len(around) != 1 {
			t.Errorf("beside the root: got %v, %v", around, err)
		}
		err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
				t.Errorf("%s is a %s", name, d.Type())
			}
			if info, err := d.Info(); err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				t.Errorf("%s has mode %s", name, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
