package matrix

import (
	"slices"

	"github.com/refit-bench/refit/internal/recipe"
)

// checkScope refuses a change of recipes that reaches beyond what its
// append-only entries select: other keys, other scenarios, and fields that
// concern other scenarios must be as they were at base. What changes inside a
// selected scenario is judged by its rows.
func checkScope(base, head *recipe.Catalogue, calls []call) error {
	selected := map[string][]string{} // config key -> scenarios
	for _, c := range calls {
		for _, f := range c.families {
			selected[f.Key] = append(selected[f.Key], c.scenarios...)
		}
	}
	var m mistakes
	before, now := familiesByKey(base), familiesByKey(head)
	for _, f := range head.Families {
		scenarios, wanted := selected[f.Key]
		was, there := before[f.Key]
		switch {
		case !there && wanted:
			m.add(f, "the base revision does not have this key, so there is no curve to add to: take append-only out of its entry")
		case !there:
			m.add(f, "the key is new and no entry selects it: add it in a change of its own")
		case wanted:
			m.checkSelected(was, f, scenarios)
		default:
			if what := difference(was.Entry, f.Entry); what != "" {
				m.add(f, "%s differs from the base revision, but no entry selects the key: change it in a change of its own; if the base has moved on, merge it first", what)
			}
		}
	}
	for _, f := range base.Families {
		if _, there := now[f.Key]; !there {
			m.add(f, "the key of the base revision is gone: remove it in a change of its own; if the base has moved on, merge it first")
		}
	}
	return m.err()
}

// checkSelected judges a family of which some scenarios are selected.
func (m *mistakes) checkSelected(was, is recipe.Family, selected []string) {
	for _, scenario := range []string{Fixed, Agentic} {
		had, has := blocks(was.Entry, scenario) > 0, blocks(is.Entry, scenario) > 0
		switch {
		case had && !has:
			m.add(is, "scenario %s of the base revision is gone: take append-only out of its entry", scenario)
		case !had && has:
			m.add(is, "scenario %s is new: take append-only out of its entry", scenario)
		case !had || slices.Contains(selected, scenario):
		default:
			if what := scenarioDifference(was.Entry, is.Entry, scenario); what != "" {
				m.add(is, "%s differs from the base revision, but the entry does not select %s: change it in a change of its own", what, scenario)
			}
			if what := fieldDifference(was.Entry, is.Entry); what != "" {
				m.add(is, "%s differs from the base revision and concerns %s too, which the entry does not select: take append-only out of its entry", what, scenario)
			}
		}
	}
}

// blocks counts what an entry has of a scenario.
func blocks(e recipe.Entry, scenario string) int {
	if scenario == Agentic {
		return len(e.Agentic)
	}
	return len(e.Fixed)
}
