package recipe

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
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
		{"anchor-that-nothing-uses", "a-b: &e\n  image: &i lab/engine:v1\n", "a-b: &e\n  image: &i lab/engine:v2\n"},
		{"anchor-before-a-quote", "a-b: {image: &i   'lab/engine:v1'}\n", "a-b: {image: &i   'lab/engine:v2'}\n"},
		{"anchor-below-the-entry", "a-b:\n  image: lab/engine:v1\n  x: &l [1]\n  y: *l\n", "a-b:\n  image: lab/engine:v2\n  x: &l [1]\n  y: *l\n"},
		{"merge-key-beside-it", "c: &e {image: x, tp: 8}\na-b:\n  <<: *e\n  image: lab/engine:v1\n", "c: &e {image: x, tp: 8}\na-b:\n  <<: *e\n  image: lab/engine:v2\n"},
		{"doubled-quote", "a-b:\n  image: 'it''s'\n", "a-b:\n  image: 'lab/engine:v2'\n"},
		{"quote-behind-a-backslash", "a-b:\n  image: \"a\\\"b\"\n", "a-b:\n  image: \"lab/engine:v2\"\n"},
		{"tab-before-the-comment", "a-b:\n  image: lab/engine:v1\t# was\tv0\n", "a-b:\n  image: lab/engine:v2\t# was\tv0\n"},
		{"keys-in-quotes", "\"a-b\":\n  'image': lab/engine:v1\n", "\"a-b\":\n  'image': lab/engine:v2\n"},
		{"flow-map-on-lines", "a-b: {\n  tp: 8, # {image: x}\n  image:\n    'lab/engine:v1' }\n", "a-b: {\n  tp: 8, # {image: x}\n  image:\n    'lab/engine:v2' }\n"},
		{"flow-map-without-blanks", "a-b: {\"image\":\"lab/engine:v1\",\"tp\":8}\n", "a-b: {\"image\":\"lab/engine:v2\",\"tp\":8}\n"},
		{"wide-characters-on-the-line", "a-b: {n: \"日本 😀\", image: lab/engine:v1} # é\n", "a-b: {n: \"日本 😀\", image: lab/engine:v2} # é\n"},
		{"mark-crlf-and-no-final-newline", "\xef\xbb\xbfa-b:\r\n  image: lab/engine:v1 # é", "\xef\xbb\xbfa-b:\r\n  image: lab/engine:v2 # é"},
		{"line-separator-in-a-comment", "c: 1 # a\u2028a-b:\n  image: lab/engine:v1\n", "c: 1 # a\u2028a-b:\n  image: lab/engine:v2\n"},
		{"document-marks", "%YAML 1.1\n---\na-b: {image: lab/engine:v1}\n...\n", "%YAML 1.1\n---\na-b: {image: lab/engine:v2}\n...\n"},
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
		{"repeated-key", "a-b: {image: x}\na-b: {image: x}\n", "y", `m.yaml:1: key "a-b" is written twice, in lines 1 and 2`},
		{"anchored-image", "a-b:\n  image: &i x\nc:\n  image: *i\n", "y", "m.yaml:2: a-b.image: it has the anchor &i, which line 4 uses, so that an edit would change that place too"},
		{"alias-image", "c:\n  image: &i x\na-b:\n  image: *i\n", "y", "m.yaml:4: a-b.image: it is the alias *i; edit the place it stands for by hand"},
		{"anchored-entry", "a-b: &e\n  image: x\nc: *e\n", "y", "m.yaml:1: a-b: it has the anchor &e, which line 3 uses, so that an edit would change that place too"},
		{"merge-key", "c: &e {image: x}\na-b:\n  <<: *e\n", "y", `m.yaml:3: a-b: key "image" may come from a merge key, which an edit would not change here alone`},
		{"block-scalar", "a-b:\n  image: |\n    x\n", "y", "m.yaml:2: a-b.image: it is a block scalar; write it on one line first"},
		{"two-lines", "a-b:\n  image: x\n    y\n", "z", "m.yaml:2: a-b.image: its text uses escapes or several lines; write it plainly on one line first"},
		{"escapes", "a-b:\n  image: \"x\\u0041\"\n", "z", "m.yaml:2: a-b.image: its text uses escapes or several lines; write it plainly on one line first"},
		{"tagged", "a-b:\n  image: !!str x\n", "z", "m.yaml:2: a-b.image: it has the tag !!str"},
		{"not-a-string", "a-b:\n  image: [x]\n", "z", "m.yaml:2: a-b.image: want a string, got a list"},
		{"alias-entry", "c: &e {image: x}\na-b: *e\n", "y", "m.yaml:2: a-b: it is the alias *e; edit the place it stands for by hand"},
		{"list-entry", "a-b: [x]\n", "y", "m.yaml:1: a-b: want a mapping, got a list"},
		{"reserved-beginning", "a-b:\n  image: x\n", "@y", `m.yaml:2: a-b.image: "@y" cannot stand there without quotes; write quotes around the old text first`},
		{"null-image", "a-b:\n  image:\n", "z", "m.yaml:2: a-b.image: want a string, got null"},
		{"comment-in-image", "a-b:\n  image: x\n", "y#1 #2", `m.yaml: a-b: set image: the new image "y#1 #2" holds a space, a control or a non-ascii character`},
		{"newline-in-image", "a-b:\n  image: x\n", "y\nz: 1", `m.yaml: a-b: set image: the new image "y\nz: 1" holds a space, a control or a non-ascii character`},
		{"empty-image", "a-b:\n  image: x\n", "", "m.yaml: a-b: set image: the new image is empty"},
		{"comma-in-flow-map", "a-b: {image: x}\n", "y,z", `m.yaml:1: a-b.image: more than this entry would change`},
		{"number", "a-b:\n  image: x\n", "12", `m.yaml:2: a-b.image: "x" would become "12": a number instead of a text; edit it by hand if that is meant`},
		{"empty-file", "", "y", "m.yaml: the file is empty, want a mapping"},
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

// Every family of the published files can be moved, alone, and back to the
// same bytes. Files are parsed often here: the families share the processors.
func TestSetImagePublished(t *testing.T) {
	total, step := 0, 1
	if testing.Short() {
		step = 40
		t.Logf("short: every %d. family only", step)
	}
	for _, file := range []string{"amd-master.yaml", "nvidia-master.yaml"} {
		src := sharedFile(t, "inferencex", "configs", file)
		families, err := ParseMaster(src, file)
		if err != nil {
			t.Fatal(err)
		}
		total += len(families)
		group := errgroup.Group{}
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i := 0; i < len(families); i += step {
			group.Go(func() error { return movedAlone(src, file, families, i) })
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	}
	if total != 208 {
		t.Errorf("got %d families, want 208", total)
	}
}

// movedAlone moves one family and compares all bytes and all families.
func movedAlone(src []byte, file string, families []Family, i int) error {
	key, old := families[i].Key, families[i].Entry.Image
	moved, err := SetImage(src, file, key, old+"-moved")
	if err != nil {
		return err
	}
	at := 0
	for at < len(src) && src[at] == moved[at] {
		at++
	}
	at -= len(old) // the new image begins as the old one does
	if string(moved) != string(src[:at])+old+"-moved"+string(src[at+len(old):]) {
		return fmt.Errorf("%s: more than the image changed", key)
	}
	after, err := ParseMaster(moved, file)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	want := slices.Clone(families)
	want[i].Entry.Image = old + "-moved"
	if !reflect.DeepEqual(after, want) {
		return fmt.Errorf("%s: more than this family changed", key)
	}
	back, err := SetImage(moved, file, key, old)
	if err != nil || !bytes.Equal(back, src) {
		return fmt.Errorf("%s: there and back is not the same file (%v)", key, err)
	}
	return nil
}

func FuzzSetImage(f *testing.F) {
	f.Add([]byte("a-b:\n  image: x\n"), "lab/e:v2")
	f.Add([]byte("a-b: {image: 'x'}\r\n"), "y")
	f.Add([]byte("a-b: &a\n  image: \"x\\n\"\n"), "y")
	f.Add([]byte("\xef\xbb\xbfa-b: &a {'image': &i x}\u2028c: 1"), "y")
	f.Add([]byte("c: &e {image: x}\na-b: {<<: *e, image: x}\n"), "y#z")
	f.Fuzz(func(t *testing.T, src []byte, image string) {
		got, err := SetImage(src, "m.yaml", "a-b", image)
		if err != nil {
			return
		}
		again, err := SetImage(got, "m.yaml", "a-b", image)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("SetImage(%q) is not stable: %q, %v", src, again, err)
		}
		front, back := common(src, got)
		changed := string(got[front : len(got)-back])
		spellings := []string{image, strings.ReplaceAll(image, "'", "''"), strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(image)}
		if !slices.ContainsFunc(spellings, func(s string) bool { return strings.Contains(s, changed) }) {
			t.Fatalf("SetImage(%q, %q) changed %q to %q", src, image, src[front:len(src)-back], changed)
		}
	})
}

// common is how many bytes two texts share at their beginning, and of the rest
// at their end.
func common(a, b []byte) (front, back int) {
	for front < min(len(a), len(b)) && a[front] == b[front] {
		front++
	}
	for back < min(len(a), len(b))-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front, back
}
