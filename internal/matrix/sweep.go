package matrix

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/recipe"
)

// ErrOption is around options that contradict each other or name what cannot be.
var ErrOption = errors.New("option")

// Sweep is what a full sweep is narrowed to. Filters of different kinds are
// combined; several values of one kind are alternatives. Source: recipes
// specification, section 4.
type Sweep struct {
	Filter
	Mode                  Mode
	Lower                 bool     // one row per deployment, after marking: see Lower
	Prefixes              []string // of config keys, not the model-prefix field
	Precisions            []string
	Frameworks            []string
	RunnerTypes           []string // labels of the runners file, or of families
	Compat                bool     // only labels of the runners file, as published
	SingleNode, MultiNode bool     // neither = both
}

// FullSweep is the matrix of a catalogue: one row per job, as the published
// generator prints them. Evals are marked over all of them together. The
// warnings say where the rows may be another thing than what was meant.
func FullSweep(cat *recipe.Catalogue, ev EvalRule, s Sweep) ([]Row, []string, error) {
	if err := s.check(cat); err != nil {
		return nil, nil, err
	}
	var families []recipe.Family
	for _, f := range cat.Families {
		if s.wants(f) {
			families = append(families, f)
		}
	}
	rows, warnings, err := s.gather(families, cat.Runners)
	if err != nil {
		return nil, nil, err
	}
	rows, err = ev.finish(rows, s.Mode, s.Lower)
	return rows, warnings, err
}

func (s Sweep) check(cat *recipe.Catalogue) error {
	if s.Step != 0 && s.Step < 2 {
		return fmt.Errorf("%w: step size %d: must be greater than 1", ErrOption, s.Step)
	}
	if s.MinConc != nil && s.MaxConc != nil && *s.MinConc > *s.MaxConc {
		return fmt.Errorf("%w: min conc %d is greater than max conc %d", ErrOption, *s.MinConc, *s.MaxConc)
	}
	known := s.runnerTypes(cat)
	for _, label := range s.RunnerTypes {
		if !known[label] {
			return fmt.Errorf("no runner type %q; known are %s", label, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// runnerTypes are the labels that may be asked for. Published catalogues use
// labels that their runners file does not list; the published generator does
// not let anybody ask for those.
func (s Sweep) runnerTypes(cat *recipe.Catalogue) map[string]bool {
	known := map[string]bool{}
	for label := range cat.Runners.Labels {
		known[label] = true
	}
	if s.Compat {
		return known
	}
	for _, f := range cat.Families {
		known[f.Entry.Runner] = true
	}
	return known
}

func (s Sweep) wants(f recipe.Family) bool {
	among := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	e := f.Entry
	switch {
	case s.SingleNode != s.MultiNode && s.MultiNode != e.Multinode:
		return false
	case len(s.Prefixes) > 0 && !slices.ContainsFunc(s.Prefixes, func(p string) bool { return strings.HasPrefix(f.Key, p) }):
		return false
	}
	return among(s.Precisions, e.Precision) && among(s.Frameworks, e.Framework) && among(s.RunnerTypes, e.Runner)
}

// Test is what the matrix of some config keys is narrowed to.
type Test struct {
	Filter
	Mode  Mode
	Lower bool     // one row per deployment, after marking: see Lower
	Keys  []string // config keys, or patterns: see Select
	Names []string // exp-names: exactly these rows, before marking; nil = all
}

// TestConfig is the matrix of the config keys that patterns name. A pattern
// with * or ? is matched against the whole key; others must exist. Warnings
// are as those of FullSweep.
func TestConfig(cat *recipe.Catalogue, ev EvalRule, t Test) ([]Row, []string, error) {
	families, err := Select(cat, t.Keys)
	if err != nil {
		return nil, nil, err
	}
	t.LabelToo = true
	rows, warnings, err := t.gather(families, cat.Runners)
	if err != nil {
		return nil, nil, err
	}
	if rows, err = named(rows, t.Names); err != nil {
		return nil, nil, err
	}
	rows, err = ev.finish(rows, t.Mode, t.Lower)
	return rows, warnings, err
}

// finish marks the rows of a run, and lowers them where that is asked for.
func (ev EvalRule) finish(rows []Row, mode Mode, lower bool) ([]Row, error) {
	marked, err := ev.apply(rows, mode)
	if err != nil {
		return nil, err
	}
	if lower {
		marked = lowered(marked)
	}
	return rowsOf(marked), nil
}

// Select finds the families of config keys and shell patterns, each once at
// its first place. A pattern expands in the catalogue's order.
func Select(cat *recipe.Catalogue, patterns []string) ([]recipe.Family, error) {
	var out []recipe.Family
	taken := map[string]bool{}
	for _, p := range patterns {
		if !strings.ContainsAny(p, "*?") {
			f, err := cat.Family(p)
			if err != nil {
				return nil, err
			}
			if !taken[f.ID] {
				taken[f.ID], out = true, append(out, f)
			}
			continue
		}
		match, err := shellPattern(p)
		if err != nil {
			return nil, err
		}
		found := false
		for _, f := range cat.Families {
			if !match.MatchString(f.Key) {
				continue
			}
			found = true
			if !taken[f.ID] {
				taken[f.ID], out = true, append(out, f)
			}
		}
		if !found {
			return nil, fmt.Errorf("no config key matches %q; %s", p, available(cat))
		}
	}
	return out, nil
}

// shellPattern is *, ? and [...] over the whole of a text; a class without an
// end is the bracket itself.
func shellPattern(p string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			n := classEnd(p[i:])
			if n == 0 {
				b.WriteString(`\[`)
				continue
			}
			class := p[i+1 : i+n]
			b.WriteByte('[')
			if rest, ok := strings.CutPrefix(class, "!"); ok {
				b.WriteByte('^')
				class = rest
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, "[", `\[`, "^", `\^`, "]", `\]`).Replace(class))
			b.WriteByte(']')
			i += n
		default:
			_, n := utf8.DecodeRuneInString(p[i:])
			b.WriteString(regexp.QuoteMeta(p[i : i+n]))
			i += n - 1
		}
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", p, err)
	}
	return re, nil
}

// classEnd is where the class that s begins with ends, 0 when it does not.
func classEnd(s string) int {
	i := 1
	if i < len(s) && s[i] == '!' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		if s[i] == ']' {
			return i
		}
	}
	return 0
}

// available names the config keys that there are, the first of many.
func available(cat *recipe.Catalogue) string {
	var keys []string
	for _, f := range cat.Families {
		keys = append(keys, f.Key)
	}
	return "available are " + few(keys)
}
