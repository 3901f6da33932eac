package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// Filter narrows what a generator run expands. The zero value keeps all of a
// family. Limits are nil where none was asked for: zero and less are limits
// that nothing meets. Source: recipes specification, sections 3.5 and 4.
type Filter struct {
	Scenarios []string // of Fixed and Agentic; nil = both
	Lengths   []string // sequence names that fixed lengths must have; trace replays have none
	Concs     []int    // values that are kept of what an entry asks for

	Node     string // part of the names of concrete runners, which rows then name; "" = rows name the label
	LabelToo bool   // the label counts as a node of its own when Node is part of it
	Step     int    // factor of a range; 0 = 2
	MinConc  *int
	MaxConc  *int
	MaxTP    *int // single-node fixed lengths only: larger entries are skipped
	MaxEP    *int // the same: larger values are lowered to it
}

// expand lists the throughput rows of a family in catalogue order.
func (x Filter) expand(f recipe.Family, runners recipe.Runners) ([]Row, error) {
	scenarios := x.Scenarios
	if scenarios == nil {
		scenarios = []string{Fixed, Agentic}
	}
	nodes := x.nodes(f.Entry.Runner, runners)
	var rows []Row
	for _, scenario := range scenarios {
		switch scenario {
		case Fixed:
			rows = append(rows, x.fixed(f.Entry, nodes)...)
		case Agentic:
			more, err := x.agentic(f, nodes, runners)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		default:
			return nil, fmt.Errorf("recipe %s: unknown scenario %q", f.Key, scenario)
		}
	}
	return rows, nil
}

// nodes are what a row's runner may be.
func (x Filter) nodes(label string, runners recipe.Runners) []string {
	if x.Node == "" {
		return []string{label}
	}
	candidates := runners.Labels[label]
	if x.LabelToo {
		candidates = slices.Concat([]string{label}, candidates)
	}
	var out []string
	for _, n := range candidates {
		if strings.Contains(n, x.Node) && !(x.LabelToo && slices.Contains(out, n)) {
			out = append(out, n)
		}
	}
	return out
}

func (x Filter) fixed(e recipe.Entry, nodes []string) []Row {
	var rows []Row
	for _, b := range e.Fixed {
		if x.Lengths != nil && !slices.Contains(x.Lengths, SequenceName(b.ISL, b.OSL)) {
			continue
		}
		for _, s := range b.Search {
			if e.Multinode {
				if concs := x.listed(x.ranged(s)); len(concs) > 0 {
					for _, n := range nodes {
						rows = append(rows, fixedRow(at(e, n), b, s, concs))
					}
				}
				continue
			}
			s, ok := x.fits(s)
			if !ok {
				continue
			}
			for _, c := range x.single(s) {
				for _, n := range nodes {
					rows = append(rows, fixedRow(at(e, n), b, s, c))
				}
			}
		}
	}
	return rows
}

// agentic expands trace replays. The memory budget is that of the label, and
// is computed even where no concurrency is left: a wrong one is always told.
func (x Filter) agentic(f recipe.Family, nodes []string, runners recipe.Runners) ([]Row, error) {
	var rows []Row
	for _, b := range f.Entry.Agentic {
		for _, s := range b.Search {
			dram, err := dramBudget(f.Entry, b, s, runners)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", f.File, s.Line, f.Key, err)
			}
			concs := x.within(x.ranged(s))
			if f.Entry.Multinode {
				for _, n := range nodes {
					for _, c := range concs {
						rows = append(rows, agenticRow(at(f.Entry, n), s, c, dram))
					}
				}
				continue
			}
			for _, c := range concs {
				for _, n := range nodes {
					rows = append(rows, agenticRow(at(f.Entry, n), s, c, dram))
				}
			}
		}
	}
	return rows, nil
}

// at is an entry that runs on a node.
func at(e recipe.Entry, node string) recipe.Entry {
	e.Runner = node
	return e
}

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
