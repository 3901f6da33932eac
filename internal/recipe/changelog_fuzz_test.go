package recipe

import (
	"bytes"
	"strings"
	"testing"
)

// A fragment is an entry or a mistake with its place, and what was read is
// written as a fragment that reads the same.
func FuzzParseFragment(f *testing.F) {
	for _, s := range []string{"config-keys: [a]\ndescription: [b]\n", "config-keys:\n    - k-a\ndescription:\n    - \"x\"\npr-link: XXX\nevals-only: true\n", "- config-keys: [a]\n", "\n", "a: &x [*x]\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := ParseFragment(src, "changelog.d/f.yaml")
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "changelog.d/f.yaml:") {
					t.Errorf("ParseFragment(%q): an error without a place: %v", src, err)
				}
			}
			return
		}
		if got.Name != "f" || len(got.Entry.ConfigKeys) == 0 || got.Entry.PRLink == "" {
			t.Errorf("ParseFragment(%q): got %+v", src, got)
		}
		again, err := ParseFragment(FragmentText(got.Entry), "changelog.d/f.yaml")
		if err != nil || signature(again.Entry) != signature(got.Entry) {
			t.Errorf("ParseFragment(%q): %+v is written as %s, which reads as %+v, %v", src, got.Entry, FragmentText(got.Entry), again.Entry, err)
		}
	})
}

// A resolved file has main's bytes in front unless links are corrected, every
// entry of main, and is a valid change of main.
func FuzzResolve(f *testing.F) {
	base := entryOf("k-a", "one", "XXX")
	for _, s := range [][3]string{
		{base, "\n" + entryOf("k-b", "mine", "XXX"), "\n" + entryOf("k-c", "theirs", link(8))},
		{base + "  \n", "\n" + entryOf("k-b", "mine", link(9)), ""},
		{base, "\n" + strings.Replace(entryOf("k-b", "mine", "XXX"), "\"mine\"", "\"mine\n  pr-link: y\"", 1), ""},
		{base, "\n" + strings.Replace(entryOf("k-b", "mine", "XXX"), "\"mine\"", "|+\n      mine\n", 1) + "\n" + entryOf("k-d", "more", "XXX"), "  \n"},
		{"- config-keys: [\"\n- config-keys:\"]\n", base, base},
	} {
		f.Add([]byte(s[0]), []byte(s[1]), []byte(s[2]))
	}
	f.Fuzz(func(t *testing.T, base, mine, theirs []byte) {
		join := func(a, b []byte) []byte { return append(bytes.Clone(a), b...) }
		rule := LinkRule{Repository: repo, Pull: 9}
		for _, pull := range [][]byte{join(base, mine), mine, bytes.Replace(base, []byte("XXX"), []byte(link(4)), 1)} {
			for _, main := range [][]byte{join(base, theirs), theirs} {
				out, err := Resolve(base, pull, main, rule, "log.yaml")
				if err != nil {
					if !strings.Contains(err.Error(), "log.yaml") || out != nil {
						t.Errorf("Resolve(%q, %q, %q): %q, an error without a place: %v", base, pull, main, out, err)
					}
					continue
				}
				c, err := Changes(main, out, "log.yaml")
				if err != nil || len(c.Additions)+len(c.Corrections) == 0 || len(c.Additions) > 0 && !bytes.HasPrefix(out, main) {
					t.Errorf("Resolve(%q, %q, %q): got %q, which changes %+v, %v", base, pull, main, out, c, err)
				}
			}
		}
	})
}
