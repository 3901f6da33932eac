package forge

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
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

// lying is an archive with one file whose header says another size than it has.
func lying(t *testing.T, says uint64, holds string) []byte {
	t.Helper()
	var packed bytes.Buffer
	f, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(holds)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	out, err := w.CreateRaw(&zip.FileHeader{Name: "a.json", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE([]byte(holds)),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: says})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A header is believed where it says too much, and nowhere else.
func TestReadZipOfLyingHeaders(t *testing.T) {
	for _, c := range []struct {
		name, want string
		says       uint64
		holds      string
	}{
		{"declared-too-large", "too large", maxUnpacked + 1, "x"},
		{"declared-beyond-any-sum", "too large", 1<<63 + 7, "x"},
		{"declared-smaller", "not a valid zip file", 10, strings.Repeat("0", 1<<20)},
		{"declared-larger", "unexpected EOF", 1 << 20, "0123456789"},
	} {
		got, err := readZip(lying(t, c.says, c.holds), maxUnpacked)
		if err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %d files, %v, want an error with %q", c.name, len(got), err, c.want)
		}
	}
	two := archiveOf(t, entry{name: "a", text: strings.Repeat("1", 60)}, entry{name: "b", text: strings.Repeat("2", 60)})
	if got, err := readZip(two, 120); err != nil || len(got) != 2 {
		t.Errorf("exactly the limit: got %d files, %v, want both", len(got), err)
	}
}
