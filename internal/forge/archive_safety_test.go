package forge

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"testing"
)

// What an artifact unpacks to is plain relative files within the limit.
func FuzzReadZip(f *testing.F) {
	for _, names := range [][]string{{"a", "b/c"}, {"../a"}, {"/a"}, {"a", "A"}, {"d/"}, {`a\b`}, {}} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range names {
			out, err := w.Create(name)
			if err != nil {
				f.Fatal(err)
			}
			out.Write([]byte("x"))
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := readZip(data, limit)
		if err != nil {
			return
		}
		size := 0
		for name, content := range files {
			size += len(content)
			if !fs.ValidPath(name) || name == "." {
				t.Errorf("readZip: got file %q", name)
			}
		}
		if size > limit {
			t.Errorf("readZip: got %d bytes, want at most %d", size, limit)
		}
	})
}
