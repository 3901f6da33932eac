package recipe

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetImage(t *testing.T) {
	const image = "lab/engine:v2"
	for _, c := range []struct{ name, src, want string }{
		{"plain-with-comments", "# top\na-b:  # here\n  image:   lab/engine:v1   # why\n  tp: 8\n", "# top\na-b:  # here\n  image:   lab/engine:v2   # why\n  tp: 8\n"},
		{"double-quoted", "a-b:\n  image: \"lab/engine:v1\"\n", "a-b:\n  image: \"lab/engine:v2\"\n"},
		{"single-quoted", "a-b:\n  image: 'lab/engine:v1'\n", "a-b:\n  image: 'lab/engine:v2'\n"},
		{"crlf", "z: 1\r\na-b:\r\n  image: lab/engine:v1\r\n  x: y\r\n", "z: 1\r\na-b:\r\n  image: lab/engine:v2\r\n  x: y\r\n"},
		{"flow-map", "a-b: {tp: 8, image: lab/engine:v1, x: y}\n", "a-b: {tp: 8, image: lab/engine:v2, x: y}\n"},
		{"flow-map-first", "a-b: {image: x}\n", "a-b: {image: lab/engine:v2}\n"},
		{"value-on-next-line", "a-b:\n  image:\n    lab/engine:v1\n", "a-b:\n  image:\n    lab/engine:v2\n"},
		{"no-final-newline", "a-b:\n  image: lab/engine:v1", "a-b:\n  image: lab/engine:v2"},
		{"wide-characters-before", "é: {ü: \"日本\"}\na-b: {\"é日\": x, image: lab/engine:v1}\n", "é: {ü: \"日本\"}\na-b: {\"é日\": x, image: lab/engine:v2}\n"},
		{"byte-order-mark", "\xef\xbb\xbfa-b: {image: lab/engine:v1}\n", "\xef\xbb\xbfa-b: {image: lab/engine:v2}\n"},
		{"same-image-elsewhere", "c:\n  image: lab/engine:v1\na-b:\n  image: lab/engine:v1\n  note: lab/engine:v1\n", "c:\n  image: lab/engine:v1\na-b:\n  image: lab/engine:v2\n  note: lab/engine:v1\n"},
		{"unrelated-anchor", "c: &x {image: a}\nd: *x\na-b:\n  image: lab/engine:v1\n", "c: &x {image: a}\nd: *x\na-b:\n  image: lab/engine:v2\n"},
	} {
		got, err := SetImage([]byte(c.src), "m.yaml", "a-b", image)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestSetImageRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, image, want string }{
		{"missing-key", "a-c:\n  image: x\n", "y", `m.yaml:1: key "a-b" is missing (did you mean "a-c"?)`},
		{"missing-image", "a-b:\n  imag: x\n", "y", `m.yaml:2: a-b: key "image" is missing (did you mean "imag"?)`},
		{"repeated-key", "a-b: {image: x}\na-b: {image: x}\n", "y", `m.yaml:1: key "a-b" is written twice`},
		{"anchored-image", "a-b:\n  image: &i x\nc:\n  image: *i\n", "y", "m.yaml:2: a-b: image: it has the anchor &i, so that an edit could change other places"},
		{"alias-image", "c:\n  image: &i x\na-b:\n  image: *i\n", "y", "m.yaml:4: a-b: image: it is the alias *i; edit the place it stands for by hand"},
		{"anchored-entry", "a-b: &e\n  image: x\nc: *e\n", "y", "m.yaml:1: a-b: it has the anchor &e, so that an edit could change other places"},
		{"merge-key", "c: &e {image: x}\na-b:\n  <<: *e\n", "y", `m.yaml:3: a-b: key "image" may come from a merge key, which an edit would not change here alone`},
		{"block-scalar", "a-b:\n  image: |\n    x\n", "y", "m.yaml:2: a-b: image: it is a block scalar; write it on one line first"},
		{"two-lines", "a-b:\n  image: x\n    y\n", "z", "m.yaml:2: a-b: set image: its text uses escapes or several lines; write it plainly on one line first"},
		{"escapes", "a-b:\n  image: \"x\\u0041\"\n", "z", "m.yaml:2: a-b: set image: its text uses escapes or several lines; write it plainly on one line first"},
		{"tagged", "a-b:\n  image: !!str x\n", "z", "m.yaml:2: a-b: image: it has the tag !!str"},
		{"not-a-string", "a-b:\n  image: [x]\n", "z", "m.yaml:2: a-b: image: want a string, got a list"},
		{"null-image", "a-b:\n  image:\n", "z", "m.yaml:2: a-b: image: want a string, got null"},
		{"comment-in-image", "a-b:\n  image: x\n", "y#1 #2", `m.yaml: a-b: set image: the new image "y#1 #2" holds a space, a control or a non-ascii character`},
		{"newline-in-image", "a-b:\n  image: x\n", "y\nz: 1", `m.yaml: a-b: set image: the new image "y\nz: 1" holds a space, a control or a non-ascii character`},
		{"empty-image", "a-b:\n  image: x\n", "", "m.yaml: a-b: set image: the new image is empty"},
		{"comma-in-flow-map", "a-b: {image: x}\n", "y,z", `m.yaml:1: a-b: set image to "y,z": more than this value would change`},
		{"number", "a-b:\n  image: x\n", "12", `m.yaml:2: a-b: set image to "12": more than this value would change`},
		{"empty-file", "", "y", "m.yaml: want a mapping of config keys"},
		{"second-document", "a-b: {image: x}\n---\nc: 1\n", "y", "m.yaml:2: a second YAML document is not allowed"},
	} {
		got, err := SetImage([]byte(c.src), "m.yaml", "a-b", c.image)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %q, %v; want %s", c.name, got, err, c.want)
		}
	}
}

// In any file, only the bytes of the one scalar change.
func TestSetImageKeepsAllOtherBytes(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,4}){0,2}`)
	tag := rapid.StringMatching(`[a-z]{1,5}/[a-z]{1,8}:v[0-9]{1,2}(\.[0-9]{1,2}){0,2}(-[a-z0-9]{1,6})?`)
	comment := rapid.SampledFrom([]string{"", " # note", "   # é 日本 {image: x}", " #'\""})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		old, image := tag.Draw(t, "old"), tag.Draw(t, "new")
		keys := rapid.SliceOfNDistinct(word, 1, 5, rapid.ID[string]).Draw(t, "keys")
		target := rapid.IntRange(0, len(keys)-1).Draw(t, "target")
		var src, want strings.Builder
		write := func(s string) { src.WriteString(s); want.WriteString(s) }
		for i, k := range keys {
			quote := rapid.SampledFrom([]string{"", "'", `"`}).Draw(t, "quote")
			format := rapid.SampledFrom([]string{"k-%s: {tp: 8, image: %s", "k-%s: {image: %s", "k-%s:" + end + "  é: 1" + end + "  image: %s", "k-%s:" + end + "    image:   %s"}).Draw(t, "form")
			write(fmt.Sprintf(format, k, quote))
			src.WriteString(old)
			if i == target {
				want.WriteString(image)
			} else {
				want.WriteString(old)
			}
			write(quote)
			if strings.Contains(format, "{") {
				write(", note: " + old + "}")
			}
			write(comment.Draw(t, "comment") + end + strings.Repeat(end, rapid.IntRange(0, 2).Draw(t, "blank")))
		}
		got, err := SetImage([]byte(src.String()), "m.yaml", "k-"+keys[target], image)
		if err != nil {
			t.Fatalf("SetImage(%q): %v", src.String(), err)
		}
		if string(got) != want.String() {
			t.Fatalf("SetImage(%q): got %q, want %q", src.String(), got, want.String())
		}
	})
}

// Every family of the published files can be moved, and back to the same bytes.
func TestSetImagePublished(t *testing.T) {
	for _, file := range []string{"amd-master.yaml", "nvidia-master.yaml"} {
		src := sharedFile(t, "inferencex", "configs", file)
		families, err := ParseMaster(src, file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range families {
			if i%60 != 0 { // a sample: each move parses the whole file twice
				continue
			}
			moved, err := SetImage(src, file, f.Key, f.Entry.Image+"-moved")
			if err != nil {
				t.Errorf("%s: %v", f.Key, err)
				continue
			}
			back, err := SetImage(moved, file, f.Key, f.Entry.Image)
			if err != nil || !bytes.Equal(back, src) {
				t.Errorf("%s: there and back is not the same file (%v)", f.Key, err)
			}
		}
	}
}

func FuzzSetImage(f *testing.F) {
	f.Add([]byte("a-b:\n  image: x\n"), "lab/e:v2")
	f.Add([]byte("a-b: {image: 'x'}\r\n"), "y")
	f.Add([]byte("a-b: &a\n  image: \"x\\n\"\n"), "y")
	f.Fuzz(func(t *testing.T, src []byte, image string) {
		got, err := SetImage(src, "m.yaml", "a-b", image)
		if err != nil {
			return
		}
		again, err := SetImage(got, "m.yaml", "a-b", image)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("SetImage(%q) is not stable: %q, %v", src, again, err)
		}
	})
}
