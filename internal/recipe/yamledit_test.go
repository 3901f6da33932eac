package recipe

import (
	"strings"
	"testing"
)

// edited applies one edit, spelled as it is called, to a file.
func edited(src string, edit func(*YAML) error) (string, error) {
	y, err := EditYAML([]byte(src), "r.yaml")
	if err != nil {
		return "", err
	}
	if err := edit(y); err != nil {
		return "", err
	}
	out, err := y.Bytes()
	return string(out), err
}

func keysOf(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func set(path, value string) func(*YAML) error {
	return func(y *YAML) error { return y.Set(value, keysOf(path)...) }
}

func rename(path, key string) func(*YAML) error {
	return func(y *YAML) error { return y.Rename(key, keysOf(path)...) }
}

func drop(path string) func(*YAML) error {
	return func(y *YAML) error { return y.Drop(keysOf(path)...) }
}

type yamlCase struct {
	name, src string
	edit      func(*YAML) error
	want      string // the file, or the error
}

func checkEdits(t *testing.T, cases []yamlCase) {
	t.Helper()
	for _, c := range cases {
		if got, err := edited(c.src, c.edit); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func checkRefusals(t *testing.T, cases []yamlCase) {
	t.Helper()
	for _, c := range cases {
		if got, err := edited(c.src, c.edit); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %q, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestSetYAML(t *testing.T) {
	checkEdits(t, []yamlCase{
		{"number", "a:\n  b: 8   # eight\n", set("a/b", "0.5"), "a:\n  b: 0.5   # eight\n"},
		{"truth", "a: {b: true}\n", set("a/b", "false"), "a: {b: false}\n"},
		{"text-with-blanks", "a: x y\n", set("a", "x z"), "a: x z\n"},
		{"number-in-quotes", "a: '8'\nb: \"8\"\n", set("b", `\"4`), "a: '8'\nb: \"\\\\\\\"4\"\n"},
		{"single-quote", "a: 'x'\n", set("a", "it's"), "a: 'it''s'\n"},
		{"wide", "a: é\n", set("a", "日本"), "a: 日本\n"},
		{"same", "a: x\n", set("a", "x"), "a: x\n"},
	})
	checkRefusals(t, []yamlCase{
		{"text-to-number", "a: auto\n", set("a", "4"), `r.yaml:1: a: "auto" would become "4": a number instead of a text; edit it by hand if that is meant`},
		{"number-to-text", "a: 4\n", set("a", "auto"), `r.yaml:1: a: "4" would become "auto": a text instead of a number; edit it by hand if that is meant`},
		{"text-to-truth", "a: x\n", set("a", "true"), `r.yaml:1: a: "x" would become "true": true or false instead of a text; edit it by hand if that is meant`},
		{"text-to-date", "a: x\n", set("a", "2001-01-01"), `r.yaml:1: a: "x" would become "2001-01-01": another kind of value instead of a text; edit it by hand if that is meant`},
		{"list", "a: [1]\n", set("a", "2"), "r.yaml:1: a: want a single value, got a list"},
		{"nothing", "a:\n", set("a", "2"), "r.yaml:1: a: want a single value, got null"},
		{"comment-as-value", "a: x\n", set("a", "#y"), `r.yaml:1: a: "#y" cannot stand there without quotes; write quotes around the old text first`},
		{"comment-behind-value", "a: x\n", set("a", "y #z"), "r.yaml:1: a: more than this entry would change"},
		{"map-as-value", "a: x\n", set("a", "y: z"), `r.yaml:1: a: "y: z" cannot stand there without quotes; write quotes around the old text first`},
		{"line-break", "a: x\n", set("a", "y\nb: 1"), `r.yaml:1: a: the new text "y\nb: 1" holds a line break, a control or another unprintable character`},
		{"blank-at-the-end", "a: x\n", set("a", "y "), `r.yaml:1: a: the new text "y " is empty or begins or ends with white space`},
		{"no-path", "a: x\n", set("", "y"), "r.yaml: want the keys that lead to an entry, got none"},
		{"no-mapping", "[x]\n", set("a", "y"), "r.yaml:1: want a mapping, got a list"},
		{"bracket-in-a-list", "a: {b: x}\n", set("a/b", "y}"), "r.yaml:1: a.b: the result would not be valid: r.yaml:1: did not find expected key"},
	})
}

func TestRenameYAML(t *testing.T) {
	checkEdits(t, []yamlCase{
		{"block", "a:\n  b-c  :  1 # b-c\n", rename("a/b-c", "d"), "a:\n  d  :  1 # b-c\n"},
		{"flow-and-quotes", "a: {'b': 1, \"c\": [2]}\n", rename("a/c", "d-e"), "a: {'b': 1, \"d-e\": [2]}\n"},
		{"nested-value-stays", "a:\n  b:\n    c: |\n      b: x\n  e: 1\n", rename("a/b", "long_name"), "a:\n  long_name:\n    c: |\n      b: x\n  e: 1\n"},
		{"explicit-key", "? a\n: 1\n", rename("a", "b"), "? b\n: 1\n"},
		{"value-is-an-alias", "x: &x 1\na: *x\n", rename("a", "b"), "x: &x 1\nb: *x\n"},
		{"value-has-an-anchor-in-use", "a: &x 1\nb: *x\n", rename("a", "c"), "c: &x 1\nb: *x\n"},
		{"merge-of-other-names", "x: &x {k: 1}\na:\n  <<: *x\n  b: 1\n", rename("a/b", "c"), "x: &x {k: 1}\na:\n  <<: *x\n  c: 1\n"},
	})
	checkRefusals(t, []yamlCase{
		{"name-in-use", "a:\n  b: 1\n  c: 2\n", rename("a/b", "c"), `r.yaml:2: a.b: "c" stands beside it already, in line 3`},
		{"name-that-is-a-number", "a: 1\n", rename("a", "8"), `r.yaml:1: a: "a" would become "8": a number instead of a text; edit it by hand if that is meant`},
		{"merge-gives-the-new-name", "x: &x {k: 1}\na:\n  <<: *x\n  b: 1\n", rename("a/b", "k"), `r.yaml:4: a.b: a merge key gives "k" too, in line 1`},
		{"merge-gives-the-old-name", "x: &x {b: 1}\ny: &y {z: 2}\na:\n  <<: [*y, *x]\n  b: 1\n", rename("a/b", "k"), `r.yaml:5: a.b: a merge key gives "b" too, in line 1`},
		{"only-by-merge", "x: &x {b: 1}\na:\n  <<: *x\n", rename("a/b", "k"), `r.yaml:3: a: key "b" may come from a merge key, which an edit would not change here alone`},
		{"shared-mapping", "a: &a {b: 1}\nc: {<<: *a}\n", rename("a/b", "k"), "r.yaml:1: a: it has the anchor &a, which line 2 uses, so that an edit would change that place too"},
		{"number-as-key", "8: x\n", rename("8", "9"), "r.yaml:1: 8: its key is no text"},
		{"written-twice", "a: 1\nb: 1\na: 2\n", rename("a", "c"), `r.yaml:1: key "a" is written twice, in lines 1 and 3`},
	})
}

func TestDropYAML(t *testing.T) {
	checkEdits(t, []yamlCase{
		{"middle", "a:\n  b: 1 # b\n  c: 2\n", drop("a/b"), "a:\n  c: 2\n"},
		{"last-without-newline", "a:\n  b: 1\n  c: 2", drop("a/c"), "a:\n  b: 1\n"},
		{"crlf", "a: 1\r\nb: 2\r\nc: 3\r\n", drop("b"), "a: 1\r\nc: 3\r\n"},
		{"byte-order-mark", "\xef\xbb\xbfa: 1\nb: 2\n", drop("a"), "\xef\xbb\xbfb: 2\n"},
		{"comments-above-and-below-stay", "# top\na: 1\n\n# on b\nb: 2\n# on c\nc: 3\n", drop("b"), "# top\na: 1\n\n# on b\n# on c\nc: 3\n"},
		{"deeper-comment-behind-a-short-value-stays", "a: 1\n  # on b\nb: 2\n", drop("a"), "  # on b\nb: 2\n"},
		{"nested", "a:\n  b:\n    c: {x: [1,\n      2]}\n# far left\n    d:\n    - 1\n\n    # its own\n  e: 1\n", drop("a/b"), "a:\n  e: 1\n"},
		{"list-not-indented", "a:\n- x\n# mid\n- y\n# on b\nb: 1\n", drop("a"), "# on b\nb: 1\n"},
		{"block-text", "a: |\n  # no comment\n\n  x: 1\n  # no comment\nb: 1\n", drop("a"), "b: 1\n"},
		{"text-on-lines", "a: one\n  two\nb: 'x\n\n   y'\nc: 1\n", drop("a"), "b: 'x\n\n   y'\nc: 1\n"},
		{"quotes-on-lines", "a: one\n  two\nb: 'x\n\n   # y'\nc: 1\n", drop("b"), "a: one\n  two\nc: 1\n"},
		{"flow-map-closed-at-the-margin", "a: {\n  b: 1,\n}\nc: 1\n", drop("a"), "c: 1\n"},
		{"nothing-as-value", "a:\n# on b\nb: 1\n", drop("a"), "# on b\nb: 1\n"},
		{"value-on-the-next-line", "a:\n  x\nb: 1\n", drop("a"), "b: 1\n"},
		{"alias-as-value", "x: &x 1\na: *x\n", drop("a"), "x: &x 1\n"},
		{"anchor-used-inside", "a: {b: &x 1, c: *x}\nd: 1\n", drop("a"), "d: 1\n"},
		{"end-mark-stays", "a: 1\nb: 2\n...\n", drop("b"), "a: 1\n...\n"},
		{"flow-first", "a: {b: 1, c: 2}\n", drop("a/b"), "a: {c: 2}\n"},
		{"flow-middle", "a: {b: 1, c: [2, {x: \"}\"}] , d: 3}\n", drop("a/c"), "a: {b: 1, d: 3}\n"},
		{"flow-last", "a: {b: 1, c: it's}\n", drop("a/c"), "a: {b: 1}\n"},
		{"flow-last-with-a-comma", "a: {b: 1, c: 'x, y',}\n", drop("a/c"), "a: {b: 1,}\n"},
		{"flow-only", "a: {b: 1}\n", drop("a/b"), "a: {}\n"},
		{"flow-on-lines", "a: {\n  b: 1,\n  c: 2,\n  d: 3\n}\n", drop("a/c"), "a: {\n  b: 1,\n  d: 3\n}\n"},
		{"flow-without-values", "a: {b, c: , d}\n", drop("a/c"), "a: {b, d}\n"},
		{"flow-last-without-value", "a: {b: 1, c: }\n", drop("a/c"), "a: {b: 1 }\n"},
		{"nested-in-a-list", "a:\n  - 1\nb: 2\n", drop("b"), "a:\n  - 1\n"},
	})
	checkRefusals(t, []yamlCase{
		{"only-entry", "a:\n  b: 1\n", drop("a/b"), "r.yaml:2: a.b: it is the only entry of its mapping, which would be empty; drop the mapping"},
		{"anchor-in-use", "a: {b: &x 1}\nc: *x\n", drop("a"), "r.yaml:1: a: line 2 uses its anchor &x"},
		{"merge-would-show", "x: &x {b: 1}\na:\n  <<: *x\n  b: 2\n", drop("a/b"), `r.yaml:4: a.b: a merge key gives "b" too, in line 1`},
		{"explicit-key", "? a\n: 1\nb: 2\n", drop("a"), "r.yaml:1: a: its key does not begin its line; write it on a line of its own first"},
		{"comment-between-commas", "a: {b: 1, # one\n  c: 2}\n", drop("a/b"), "r.yaml:1: a.b: more than a comma stands between it and its neighbour"},
		{"text-that-would-grow", "a: |+\n  x\n\nb: 1\n\nc: 2\n", drop("b"), "r.yaml:4: b: more than this entry would change"},
	})
}

// Several edits of one file are made and proven together.
func TestEditsTogether(t *testing.T) {
	got, err := edited("a:\n  b: 1\n  c: 2\n  d: 3\ne: {f: x, g: y}\n", func(y *YAML) error {
		for _, edit := range []func(*YAML) error{drop("a/c"), rename("a/b", "bb"), set("a/d", "4"), set("e/g", "z"), drop("e/f")} {
			if err := edit(y); err != nil {
				return err
			}
		}
		return nil
	})
	if want := "a:\n  bb: 1\n  d: 4\ne: {g: z}\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	_, err = edited("a: {b: 1, c: 2, d: 3}\n", func(y *YAML) error {
		if err := y.Drop("a", "b"); err != nil {
			return err
		}
		return y.Drop("a", "b")
	})
	if want := `r.yaml:1: a: key "b" is missing`; err == nil || err.Error() != want {
		t.Errorf("dropped twice: got %v, want %s", err, want)
	}
}

// replaced replaces one text after the other, each once.
func replaced(src string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		src = strings.Replace(src, pairs[i], pairs[i+1], 1)
	}
	return src
}
