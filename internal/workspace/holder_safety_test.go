package workspace

import (
	"io/fs"
	"strings"
	"testing"
)

func FuzzParseHolder(f *testing.F) {
	for _, s := range []string{Process().String(), "process:a:b:1:2", "process:a:b:01:2", "run:7", "process:::1:", "process:a:b:-1:2", "process:a:b:99999999999999999999:2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHolder(s)
		if err != nil {
			return
		}
		if h.String() != s {
			t.Errorf("ParseHolder(%q).String(): got %q", s, h)
		}
		if alive, known := h.Alive(); alive && !known {
			t.Errorf("%q: alive and not known", s)
		}
	})
}

func FuzzParseTree(f *testing.F) {
	id := strings.Repeat("a", 40)
	for _, s := range []string{
		"100644 blob " + id + "      12\ta/b.txt\x00", "040000 tree " + id + "       -\ta\x00120000 blob " + id + " 3\tl\x00",
		"100644 blob " + id + " 12\t../b\x00", "160000 commit " + id + " -\tsub\x00", "100644 blob\t\x00", "100755 blob " + id + " -1\tx\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		entries, err := parseTree(list)
		if err != nil {
			return
		}
		for _, e := range entries {
			if !fs.ValidPath(e.path) || e.size < 0 {
				t.Errorf("parseTree(%q): got %q of %d bytes", list, e.path, e.size)
			}
		}
	})
}
