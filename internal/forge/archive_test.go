package forge

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type entry struct {
	name string
	text string
	mode fs.FileMode
}

func archiveOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.text)); err != nil && !strings.HasSuffix(e.name, "/") {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadZip(t *testing.T) {
	got, err := readZip(archiveOf(t, entry{name: "a.json", text: "{}"}, entry{name: "sub/", mode: fs.ModeDir}, entry{name: "sub/b..txt", text: "b"}), 100)
	want := map[string][]byte{"a.json": []byte("{}"), "sub/b..txt": []byte("b")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestReadZipAttacks(t *testing.T) {
	check := func(name, want string, limit int64, entries ...entry) {
		t.Helper()
		got, err := readZip(archiveOf(t, entries...), limit)
		if err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want an error with %q", name, got, err, want)
		}
	}
	plain := "not a plain relative path"
	check("climbing", plain, 100, entry{name: "../x", text: "x"})
	check("climbing-inside", plain, 100, entry{name: "a/../../x", text: "x"})
	check("absolute", plain, 100, entry{name: "/etc/x", text: "x"})
	check("backslash", plain, 100, entry{name: `a\..\x`, text: "x"})
	check("drive", plain, 100, entry{name: "C:x", text: "x"})
	check("nul", plain, 100, entry{name: "a\x00b", text: "x"})
	check("dot", plain, 100, entry{name: "./x", text: "x"})
	check("climbing-folder", plain, 100, entry{name: "../", mode: fs.ModeDir})
	check("symlink", "not a regular file", 100, entry{name: "link", text: "/etc/passwd", mode: fs.ModeSymlink})
	check("device", "not a regular file", 100, entry{name: "dev", mode: fs.ModeDevice})
	check("twice", "occurs twice", 100, entry{name: "a", text: "1"}, entry{name: "a", text: "2"})
	check("bomb", "too large", 1000, entry{name: "zeros", text: strings.Repeat("\x00", 100_000)})
	check("sum-over-the-limit", "too large", 10, entry{name: "a", text: "123456"}, entry{name: "b", text: "123456"})

	valid := archiveOf(t, entry{name: "a", text: "hello hello hello"})
	broken := bytes.Replace(valid, []byte{0x50, 0x4b, 1, 2}, []byte{0x50, 0x4b, 9, 9}, 1)
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("not a zip"), "cut": valid[:len(valid)-9], "broken": broken} {
		if _, err := readZip(data, 100); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
