package candidate

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/recipe"
)

func TestAnEditIsToldAsWhatItDoes(t *testing.T) {
	for old, c := range map[string]struct{ new, sentence, line string }{
		"--a":                 {"--b", "rename `--a` to `--b` in `r.sh`", "r.sh: --a -> --b: why"},
		" \\\n    --a 16":     {"", "leave `--a` out of `r.sh`", `r.sh: without \ --a 16: why`},
		"--a=16":              {"", "leave `--a` out of `r.sh`", "r.sh: without --a=16: why"},
		"export A=1|2\n":      {"", "leave `A` out of `r.sh`", "r.sh: without export A=1|2: why"},
		", --a, 16":           {"", "leave `--a` out of `r.sh`", "r.sh: without , --a, 16: why"},
		"  - --a\n  - '16'\n": {"", "leave `--a` out of `r.sh`", "r.sh: without - --a - '16': why"},
	} {
		e := engine.FileEdit{File: "r.sh", Edit: recipe.Edit{Old: old, New: c.new}, Reason: "why"}
		p := changeOf("a/b:v2", e)
		if !strings.Contains(p.EN, c.sentence) {
			t.Errorf("%q: got %q, want %q in it", old, p.EN, c.sentence)
		}
		if err := p.Check(true); err != nil {
			t.Errorf("%q: the sentence cannot be published: %v", old, err)
		}
		if got := changeLine(e); got != c.line {
			t.Errorf("%q: line %q, want %q", old, got, c.line)
		}
	}
}
