package workspace

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// foreign is text of others, with what has a meaning somewhere in it.
func foreign() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab1.-_/ :#'\"\\[]{},&*!|>%@`~?=\n\r\t\x00\x1b\x7f\u0085\u00a0\u2028\ufeff\u202eé日😀"))),
		rapid.SampledFrom([]string{"", "null", "~", "true", "no", "1", "1e3", "0x1f", "1_0", ".inf", "2026-01-01", "---", "...", "- a", "a: b", "<<", "=", "\xff", "\x1b]0;x\a", "\x9b1m"}))
}

func TestASCIIReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := foreign().Draw(t, "text")
		text := ASCII(s)
		var back string
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != string([]rune(s)) {
			t.Fatalf("ASCII(%q) = %s: reads back as %q, %v", s, text, back, err)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("ASCII(%q) = %q", s, text)
		}
	})
}

func TestFloatTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e16, 1e-4, 9.9999e-5, math.NaN(), math.Inf(-1), math.MaxFloat64})).Draw(t, "f")
		text, finite := FloatText(f)
		if finite != !(math.IsNaN(f) || math.IsInf(f, 0)) {
			t.Fatalf("FloatText(%v): got %v", f, finite)
		}
		if back, err := strconv.ParseFloat(text, 64); finite && (err != nil || back != f || !json.Valid([]byte(text)) || !strings.ContainsAny(text, ".e")) {
			t.Fatalf("FloatText(%v) = %q: reads back as %v, %v", f, text, back, err)
		}
	})
}

func TestPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := foreign().Draw(t, "text")
		got := Printable(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || strings.ContainsRune(got, unicode.ReplacementChar) {
			t.Fatalf("Printable(%q) = %q", s, got)
		}
		if again := Printable(got); again != got {
			t.Fatalf("Printable(%q) = %q, and of that %q", s, got, again)
		}
	})
	for in, want := range map[string]string{"a\x1b[31mb\x1b[0m": "a[31mb[0m", "a\r\nb\tc": "a  b c", "é日😀": "é日😀", "\x1b]0;t\a": "]0;t", "a\u202eb\xffc": "abc"} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q): got %q, want %q", in, got, want)
		}
	}
}

// A configuration survives being printed, whatever its texts are.
func TestEffectiveReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := DefaultConfig()
		text := func(name string) string { return strings.ToValidUTF8(foreign().Draw(t, name), "") }
		c.Clusters, c.Policy.Title, c.Images.Path = text("clusters"), text("title"), "x"+text("path")
		c.Policy.SweepLabel, c.Forge.HandoffLabel = "x"+text("label"), text("handoff")+"y"
		c.Policy.Require = rapid.MapOf(rapid.SampledFrom(dimensions), rapid.Just("no-worse")).Draw(t, "require")
		src := Effective(settings(c, "refit.yaml", map[string]int{"policy.title": 7}))
		back, _, err := ParseConfig(src, "refit.yaml")
		if err != nil {
			t.Fatalf("ParseConfig: %v\n%s", err, src)
		}
		if !maps.Equal(back.Policy.Require, c.Policy.Require) {
			t.Fatalf("require: got %v, want %v", back.Policy.Require, c.Policy.Require)
		}
		back.Policy.Require = c.Policy.Require
		if !reflect.DeepEqual(back, c) {
			t.Fatalf("got %+v, want %+v\n%s", back, c, src)
		}
	})
}

// YAML reads the one quoted spelling as the text it was made of, on one line
// and in the middle of others.
func TestYAMLTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(foreign().Draw(t, "text"), "")
		q := YAMLText(s)
		if strings.ContainsFunc(q, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("YAMLText(%q) = %q", s, q)
		}
		for _, form := range []string{"%s\n", "- %s\n", "k: %s # %s\n", "{%s: [%s]}\n"} {
			src := strings.ReplaceAll(form, "%s", q)
			var n yaml.Node
			if err := yaml.Unmarshal([]byte(src), &n); err != nil {
				t.Fatalf("YAMLText(%q): %v in %q", s, err, src)
			}
			found := 0
			var walk func(n *yaml.Node)
			walk = func(n *yaml.Node) {
				if n.Kind == yaml.ScalarNode && n.Style == yaml.DoubleQuotedStyle {
					if found++; n.Value != s || n.Tag != "!!str" {
						t.Fatalf("YAMLText(%q): read as %s %q in %q", s, n.Tag, n.Value, src)
					}
				}
				for _, c := range n.Content {
					walk(c)
				}
			}
			if walk(&n); found == 0 {
				t.Fatalf("YAMLText(%q): not found in %q", s, src)
			}
		}
	})
}

// The canonical form of JSON is JSON of the same value, and canonical itself.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.0,-0,1e400,"\u00e9\ud83d\ude00"]}`, `-0.0`, `1E2`, `"\ud800"`, `[[[]]]`, `null`, `{"":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		read := func(src []byte) (v any, ok bool) {
			d := json.NewDecoder(bytes.NewReader(src))
			d.UseNumber()
			return v, d.Decode(&v) == nil
		}
		v, ok := read(src)
		if !ok {
			return
		}
		text, err := Canonical(v)
		if err != nil {
			return
		}
		back, ok := read(text)
		if !ok {
			t.Fatalf("Canonical(%s) = %s, which is no JSON", src, text)
		}
		if again, err := Canonical(back); err != nil || !bytes.Equal(again, text) {
			t.Errorf("Canonical(%s) = %s, and of that %s, %v", src, text, again, err)
		}
	})
}

// A prefix that the configuration takes makes names that git takes.
func TestPrefixesMakeRefs(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git to compare with: ", err)
	}
	var names []string
	gen := rapid.StringMatching(`[a-z0-9-]{1,34}`)
	for i := range 60 {
		prefix := gen.Example(i)
		if _, _, err := ParseConfig([]byte("policy: {prefix: "+strconv.Quote(prefix)+"}\n"), "refit.yaml"); err == nil {
			names = append(names, prefix)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 5 {
		t.Fatalf("got %d names that are accepted, want more", len(names))
	}
	for _, prefix := range names {
		if out, err := exec.Command("git", "check-ref-format", "refs/heads/"+prefix+"/auto-0123456789abcdef").CombinedOutput(); err != nil {
			t.Errorf("prefix %q: git refuses it: %v %s", prefix, err, out)
		}
	}
}
