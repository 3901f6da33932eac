package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCopiedFilesAreThoseOfTheTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	err := copyFiles(fstest.MapFS{
		"a.sh": {Data: []byte("a"), Mode: 0o755}, "b/c.yaml": {Data: []byte("c"), Mode: 0o444},
		"link": {Data: []byte("a.sh"), Mode: fs.ModeSymlink}, "lost": {Data: []byte("nowhere"), Mode: fs.ModeSymlink},
	}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		info, bad := d.Info()
		if err != nil || bad != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		got = append(got, strings.Join([]string{rel, string(data), info.Mode().String()}, " "))
		return err
	})
	if want := []string{"a.sh a -rwxr-xr-x", "b/c.yaml c -rw-r--r--", "link a -rwxr-xr-x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
