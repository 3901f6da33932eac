package run

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A name made of a row's texts is one part of a path, and no flag and no
// hidden file to anybody who lists it.
func TestFileNamesAreNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringN(1, 400, -1), rapid.SampledFrom([]string{".", "..", "../x", "a/b", "a\x00b", "a:b*c", "\x1b[0m", "é"})).Draw(t, "text")
		got := fileName(s)
		if !fs.ValidPath(got) || got == "." || strings.ContainsAny(got, "/\\:*?\"<>| \x00") || got[0] == '.' || len(got) != min(len(s), maxName) {
			t.Fatalf("fileName(%q): got %q", s, got)
		}
		if again := fileName(got); again != got {
			t.Fatalf("fileName(%q): got %q, and of that %q", s, got, again)
		}
	})
}

// A folder's name in a pattern means that folder alone.
func TestGlobsAreEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.StringOf(rapid.RuneFrom([]rune(`ab*?[]\-^{}!`))), rapid.String())
		s := piece.Draw(t, "name")
		other := piece.Draw(t, "other")
		if ok, err := filepath.Match(escapeGlob(s), s); err != nil || !ok {
			t.Fatalf("escapeGlob(%q) = %q: %v, %v", s, escapeGlob(s), ok, err)
		}
		if ok, err := filepath.Match(escapeGlob(s), other); err != nil || ok && other != s {
			t.Fatalf("escapeGlob(%q) = %q matches %q: %v", s, escapeGlob(s), other, err)
		}
	})
}

// A command line of a dispatch names its config keys or is refused.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"test-config --config-keys a b --conc 1 2 --smoke", "test-config --config-keys=a,b --no-evals", "test-config", "", "rm -rf /", "test-config --config-keys a --conc x",
		"test-config --config-keys a --no-evals --evals-only", `test-config --config-keys "a,b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := parseCommand(line)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "generate-cli-command") {
				t.Errorf("parseCommand(%q): got %v", line, err)
			}
			return
		}
		if len(c.Keys) == 0 || c.NoEvals && c.EvalsOnly {
			t.Errorf("parseCommand(%q): got %+v", line, c)
		}
		for _, key := range c.Keys {
			if strings.ContainsAny(key, " \t\n") && !strings.Contains(line, `"`) {
				t.Errorf("parseCommand(%q): got key %q", line, key)
			}
		}
	})
}
