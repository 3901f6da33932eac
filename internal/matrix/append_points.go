package matrix

import (
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/recipe"
)

// addedRows keeps of head the points that base lacks, in head's order and each
// once: a point is a recipe at one concurrency, whichever family asks for it.
// All points of base must be there, and what is added must lie on its curves.
// keys names what is selected, for errors.
func addedRows(keys string, base, head []owned) ([]owned, error) {
	if len(base) == 0 {
		return nil, fmt.Errorf("append-only: the base revision measures nothing of what the entries select of %s: take append-only out of them", keys)
	}
	was, err := measuredOf(base)
	if err != nil {
		return nil, fmt.Errorf("base revision: %w", err)
	}
	is, err := measuredOf(head)
	if err != nil {
		return nil, err
	}
	if err := was.keptIn(is, head); err != nil {
		return nil, err
	}
	added := was.lacking(head)
	if len(added) == 0 {
		return nil, fmt.Errorf("append-only: nothing is added to %s: the base revision measures every point already; add a concurrency or a topology, or take append-only out of the entry", keys)
	}
	return added, onCurves(base, added)
}

// outsideRecipe are the fields of a generator row in which points of one recipe differ.
var outsideRecipe = []string{"conc", "exp-name", "recipe-fingerprint"}

func recipeOf(r Row) string { return canonical(r, outsideRecipe...) }

// measured is a set of points by recipe.
type measured struct {
	order []string         // recipes, as they appear
	first map[string]owned // a row of the recipe
	concs map[string]map[int]bool
}

func measuredOf(rows []owned) (measured, error) {
	m := measured{first: map[string]owned{}, concs: map[string]map[int]bool{}}
	for _, r := range rows {
		concs, err := someConcs(r.row)
		if err != nil {
			return m, fmt.Errorf("%s:%d: %s: %w", r.family.File, r.family.Line, r.family.Key, err)
		}
		id := recipeOf(r.row)
		if m.concs[id] == nil {
			m.order = append(m.order, id)
			m.first[id], m.concs[id] = r, map[int]bool{}
		}
		for _, c := range concs {
			m.concs[id][c] = true
		}
	}
	return m, nil
}

// someConcs are the concurrencies of a row. Other than concs it refuses what is
// neither a number nor a list of at least one.
func someConcs(r Row) ([]int, error) {
	v, _ := r.Get("conc")
	listed, isList := v.([]any)
	concs := r.concs()
	if len(concs) == 0 || isList && len(concs) != len(listed) {
		return nil, fmt.Errorf("row %s: conc is %s: want an integer or a list of integers", r.Str("exp-name"), shown(v))
	}
	return concs, nil
}

// keptIn says which points a change takes away. A recipe that is changed is
// another recipe: the old one is gone.
func (m measured) keptIn(now measured, rows []owned) error {
	var wrong mistakes
	for _, id := range m.order {
		first := m.first[id]
		workload, shape := described(first.row)
		if now.concs[id] == nil {
			family, near := nearest(first, rows)
			wrong.add(family, "recipe %s %s of the base revision is gone%s: take append-only out of the entry, so that all of the curve is measured", workload, shape, near)
			continue
		}
		var lost []int
		for c := range m.concs[id] {
			if !now.concs[id][c] {
				lost = append(lost, c)
			}
		}
		slices.Sort(lost)
		if len(lost) > 0 {
			wrong.add(now.first[id].family, "%s %s is not measured at concurrency %v any more, as the base revision does: keep it, or take append-only out of the entry", workload, shape, lost)
		}
	}
	return wrong.err()
}

// lacking are the rows of head cut down to the points that m does not have.
func (m measured) lacking(head []owned) []owned {
	type point struct {
		recipe string
		conc   int
	}
	taken := map[point]bool{}
	var out []owned
	for _, h := range head {
		id := recipeOf(h.row)
		var fresh []int
		for _, c := range h.row.concs() {
			if p := (point{id, c}); !m.concs[id][c] && !taken[p] {
				taken[p] = true
				fresh = append(fresh, c)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		if _, isList := valueOf(h.row, "conc").([]any); isList {
			h.row = h.row.changed()
			h.row.Set("conc", fresh)
		}
		out = append(out, h)
	}
	return out
}

func valueOf(r Row, name string) any {
	v, _ := r.Get(name)
	return v
}

// nearest finds the row of the same config key that differs least from a row of
// base, and says in what. The family is that of the change, so that its place
// can be shown; base's own when the change asks for nothing of the key.
func nearest(was owned, rows []owned) (recipe.Family, string) {
	family, best := was.family, []string(nil)
	for _, r := range rows {
		if r.family.Key != was.family.Key {
			continue
		}
		family = r.family
		if c := changes(was.row, r.row, outsideRecipe...); best == nil || len(c) < len(best) {
			best = c
		}
	}
	return family, nearestText(best)
}
