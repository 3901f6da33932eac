package matrix

import (
	"slices"

	"github.com/refit-bench/refit/internal/recipe"
)

// fits applies the limits of a single-node entry's sizes.
func (x Filter) fits(s recipe.Search) (recipe.Search, bool) {
	if x.MaxTP != nil && (*x.MaxTP <= 0 || s.TP > *x.MaxTP) || x.MaxEP != nil && *x.MaxEP <= 0 {
		return s, false
	}
	if x.MaxEP != nil {
		s.EP = min(s.EP, *x.MaxEP)
	}
	return s, true
}

// ranged lists what an entry asks for, with the filter's step.
func (x Filter) ranged(s recipe.Search) []int {
	return steps(s, x.Step)
}

// single are the concurrencies of a single-node entry of fixed lengths: a range
// is cut before it is expanded, so that it begins and ends at the limits.
func (x Filter) single(s recipe.Search) []int {
	if len(s.List) > 0 {
		return x.listed(s.List)
	}
	if x.MinConc != nil {
		if *x.MinConc <= 0 || s.End < *x.MinConc {
			return nil
		}
		s.Start = max(s.Start, *x.MinConc)
	}
	if x.MaxConc != nil {
		if *x.MaxConc <= 0 {
			return nil
		}
		s.Start, s.End = min(s.Start, *x.MaxConc), min(s.End, *x.MaxConc)
	}
	return x.kept(x.ranged(s))
}

// listed applies the limits to a list of fixed lengths. A limit below every
// value becomes the value itself.
func (x Filter) listed(concs []int) []int {
	if x.MinConc != nil && *x.MinConc <= 0 || x.MaxConc != nil && *x.MaxConc <= 0 {
		return nil
	}
	if x.MinConc != nil {
		concs = keep(concs, func(c int) bool { return c >= *x.MinConc })
	}
	if x.MaxConc != nil && len(concs) > 0 {
		concs = keep(concs, func(c int) bool { return c <= *x.MaxConc })
		if len(concs) == 0 {
			concs = []int{*x.MaxConc}
		}
	}
	return x.kept(concs)
}

// within applies the limits to a trace replay: only what is listed is measured.
func (x Filter) within(concs []int) []int {
	return x.kept(keep(concs, func(c int) bool {
		return (x.MinConc == nil || c >= *x.MinConc) && (x.MaxConc == nil || c <= *x.MaxConc)
	}))
}

func (x Filter) kept(concs []int) []int {
	if x.Concs == nil {
		return concs
	}
	return keep(concs, func(c int) bool { return slices.Contains(x.Concs, c) })
}

// told says how many points of a span the limits made up. Where only listed
// ones are wanted, those that the limits leave stand in their place. A lowered
// size makes up all points of its entry.
func (x Filter) told(p span, written recipe.Search) span {
	if len(p.concs) == 0 || x.MinConc == nil && x.MaxConc == nil && x.MaxEP == nil {
		return p
	}
	var listed []int
	if p.search.EP == written.EP {
		listed = x.within(x.ranged(written))
	}
	if x.ListedOnly {
		p.concs = listed
		return p
	}
	for _, c := range p.concs {
		if !slices.Contains(listed, c) {
			p.invented++
		}
	}
	return p
}

// keep never changes its argument, which may be the catalogue's.
func keep(concs []int, wanted func(int) bool) []int {
	var out []int
	for _, c := range concs {
		if wanted(c) {
			out = append(out, c)
		}
	}
	return out
}
