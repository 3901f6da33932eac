package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// AppendOnly says whether any entry is append-only: whether a plan of them
// needs PlanOptions.Base.
func AppendOnly(entries []recipe.ChangelogEntry) bool {
	return slices.ContainsFunc(entries, func(e recipe.ChangelogEntry) bool { return e.AppendOnly })
}

// extend plans what append-only entries add to the curves that base measures:
// of the rows that their calls make now, the points that the same calls did not
// make of base. Whatever else the change touches is an error, several at once.
//
// The rows of base are made by this generator from the base revision's recipes
// and runners, which are data like any other: no code of that revision runs.
// Source: changelog specification, section 2.6.
func (b *builder) extend(base *recipe.Catalogue, calls []call) error {
	if err := checkScope(base, b.cat, calls); err != nil {
		return err
	}
	was, err := rowsAt(base, calls)
	if err != nil {
		return fmt.Errorf("base revision: %w", err)
	}
	is, err := rowsAt(b.cat, calls)
	if err != nil {
		return err
	}
	added, err := addedRows(keysOf(calls), was, is)
	if err != nil {
		return err
	}
	for _, a := range added {
		if err := b.addRow(a.family, a.row, NoEvals); err != nil {
			return err
		}
	}
	return nil
}

// rowsAt lists the throughput rows that calls make of a catalogue. Families are
// found by their keys: a base may have them in another file.
func rowsAt(cat *recipe.Catalogue, calls []call) ([]owned, error) {
	byKey := familiesByKey(cat)
	var rows []owned
	for _, c := range calls {
		here := c
		here.families = make([]recipe.Family, len(c.families))
		for i, f := range c.families {
			here.families[i] = byKey[f.Key]
		}
		more, err := here.expand(cat.Runners)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func familiesByKey(cat *recipe.Catalogue) map[string]recipe.Family {
	byKey := make(map[string]recipe.Family, len(cat.Families))
	for _, f := range cat.Families {
		byKey[f.Key] = f
	}
	return byKey
}

// mistakes collects what is wrong with a change, each mistake once, and tells
// the first of many.
type mistakes []error

const mostMistakes = 8

func (m *mistakes) add(f recipe.Family, format string, args ...any) {
	text := fmt.Sprintf("%s:%d: %s: append-only: ", f.File, f.Line, f.Key) + fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(*m, func(e error) bool { return e.Error() == text }) {
		*m = append(*m, errors.New(text))
	}
}

func (m mistakes) err() error {
	if more := len(m) - mostMistakes; more > 0 {
		return errors.Join(append(m[:mostMistakes:mostMistakes], fmt.Errorf("and %d more of this kind", more))...)
	}
	return errors.Join(m...)
}

// keysOf names the config keys of calls, each once.
func keysOf(calls []call) string {
	var keys []string
	for _, c := range calls {
		for _, f := range c.families {
			if !slices.Contains(keys, f.Key) {
				keys = append(keys, f.Key)
			}
		}
	}
	return strings.Join(keys, ", ")
}
