package workspace

import (
	"io"
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
			if !fs.ValidPath(e.Path) || e.Size < 0 {
				t.Errorf("parseTree(%q): got %q of %d bytes", list, e.Path, e.Size)
			}
		}
	})
}

// An error of reading a file says once what was read.
func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/f"
	if err := WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path  string
		limit int64
		want  string
	}{"folder": {dir, 9, "is a directory"}, "missing": {dir + "/none", 9, "no such file"}, "large": {file, 4, "larger than 4 bytes"}} {
		_, err := ReadFile(c.path, c.limit)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), c.path) != 1 {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if data, err := ReadFile(file, 5); err != nil || string(data) != "12345" {
		t.Errorf("ReadFile: got %q, %v", data, err)
	}
}

// What git writes is kept whole or not at all, and what it says is printable.
func TestGitOutputIsBounded(t *testing.T) {
	o := &output{limit: 5}
	if n, err := io.Copy(o, struct{ io.Reader }{strings.NewReader("12345")}); n != 5 || err != nil {
		t.Errorf("five bytes of five: got %d, %v", n, err)
	}
	if _, err := io.Copy(o, struct{ io.Reader }{strings.NewReader("6")}); err == nil || o.data.String() != "12345" {
		t.Errorf("six bytes of five: got %q, %v, want an error", o.data.String(), err)
	}
	const said = "remote: \x1b[2Jhello\nfatal: https://me:secret@forge.example/x\a\n"
	err := gitError(t.Context(), []string{"-c", "a=b", "fetch"}, io.ErrUnexpectedEOF, said)
	if want := "git fetch: unexpected EOF: remote: [2Jhello\nfatal: https://***@forge.example/x"; err.Error() != want {
		t.Errorf("gitError: got %q, want %q", err, want)
	}
}
