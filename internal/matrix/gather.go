package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// gather expands families one after the other, and says what a reader of the
// rows could not see in them.
func (x Filter) gather(families []recipe.Family, runners recipe.Runners) ([]Row, []string, error) {
	var rows []Row
	var warnings, nowhere []string
	invented := 0
	var errs []error
	for _, f := range families {
		more, err := x.expand(f, runners)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows = append(rows, more.rows...)
		warnings = append(warnings, more.repeats...)
		invented += more.invented
		if more.nowhere {
			nowhere = append(nowhere, f.Key)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	if invented > 0 {
		warnings = append(warnings, fmt.Sprintf("%s listed by no recipe, made up by the limits (--listed-only leaves them out)", count(invented, "point is", "points are")))
	}
	if len(nowhere) > 0 {
		warnings = append(warnings, fmt.Sprintf("no runner of %s has %q in its name: %s", count(len(nowhere), "family", "families"), x.Node, few(nowhere)))
	}
	if len(rows) == 0 {
		warnings = append(warnings, fmt.Sprintf("no job is left of %s: the filters exclude each other, or nothing meets them", count(len(families), "family", "families")))
	}
	return rows, warnings, nil
}

// named keeps the rows with exactly these exp-names, in their own order. nil
// names keep all.
func named(rows []Row, names []string) ([]Row, error) {
	if names == nil {
		return rows, nil
	}
	found := map[string]int{}
	for _, n := range names {
		if _, ok := found[n]; ok {
			return nil, fmt.Errorf("%w: exp-name %q is asked for twice", ErrOption, n)
		}
		found[n] = 0
	}
	var kept []Row
	var known []string
	for _, r := range rows {
		name := r.Str("exp-name")
		if n, wanted := found[name]; wanted {
			found[name] = n + 1
			kept = append(kept, r)
		} else if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for _, n := range names {
		switch {
		case found[n] == 0:
			return nil, fmt.Errorf("no row has the exp-name %q; others are %s", n, few(known))
		case found[n] > 1:
			return nil, fmt.Errorf("%d rows have the exp-name %q: name fewer config keys, lengths or concurrencies, so that one is left", found[n], n)
		}
	}
	return kept, nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// few names the first of many.
func few(names []string) string {
	const most = 8
	shown := slices.Clone(names[:min(most, len(names))])
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	if len(shown) == 0 {
		return "none"
	}
	return strings.Join(shown, ", ")
}
