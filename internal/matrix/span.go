package matrix

import (
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/recipe"
)

// span is a search-space entry and what a run wants of it: its sizes after the
// limits, and its concurrencies.
type span struct {
	fixed    *recipe.FixedBlock // nil for a trace replay
	search   recipe.Search
	concs    []int
	dram     int // host memory of a trace replay, decimal gigabytes
	nodes    int // node-count of the rows; 0 = rows have none
	invented int // of concs, those that the recipe does not list
}

// spans are the entries of one scenario, in catalogue order. The error names
// every entry that cannot be expanded.
func (x Filter) spans(f recipe.Family, scenario string, runners recipe.Runners) ([]span, error) {
	switch scenario {
	case Fixed:
		return x.fixed(f, runners)
	case Agentic:
		return x.agentic(f, runners)
	}
	return nil, fmt.Errorf("recipe %s: unknown scenario %q", f.Key, scenario)
}

func (x Filter) fixed(f recipe.Family, runners recipe.Runners) ([]span, error) {
	var out []span
	var errs []error
	for i := range f.Entry.Fixed {
		b := &f.Entry.Fixed[i]
		if !x.wantsLengths(b) {
			continue
		}
		for _, s := range b.Search {
			p := span{fixed: b, search: s, concs: x.listed(x.ranged(s))}
			if !f.Entry.Multinode {
				var ok bool
				if p.search, ok = x.fits(s); !ok {
					continue
				}
				p.concs = x.single(s)
			}
			if p = x.told(p, s); len(p.concs) == 0 {
				continue
			}
			var err error
			p.nodes, err = x.nodeCount(f, s, runners)
			errs = append(errs, err)
			out = append(out, p)
		}
	}
	return out, errors.Join(errs...)
}

// agentic are the trace replays. The memory budget is that of the label, and
// is computed even where no concurrency is left: a wrong one is always told.
func (x Filter) agentic(f recipe.Family, runners recipe.Runners) ([]span, error) {
	var out []span
	var errs []error
	for _, b := range f.Entry.Agentic {
		for _, s := range b.Search {
			dram, err := dramBudget(f.Entry, b, s, runners)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %s: %w", f.File, s.Line, f.Key, err))
				continue
			}
			p := x.told(span{search: s, dram: dram, concs: x.within(x.ranged(s))}, s)
			if len(p.concs) == 0 {
				continue
			}
			p.nodes, err = x.nodeCount(f, s, runners)
			errs = append(errs, err)
			out = append(out, p)
		}
	}
	return out, errors.Join(errs...)
}

// rows are the jobs of a span. A multi-node job of fixed lengths measures all
// concurrencies, every other one measures one.
func (p span) rows(e recipe.Entry, nodes []string) []Row {
	if !e.Multinode {
		rows := make([]Row, 0, len(p.concs)*len(nodes))
		for _, c := range p.concs {
			for _, n := range nodes {
				rows = append(rows, p.row(at(e, n), c))
			}
		}
		return rows
	}
	var rows []Row
	for _, n := range nodes {
		if p.fixed != nil {
			rows = append(rows, p.row(at(e, n), p.concs...))
			continue
		}
		for _, c := range p.concs {
			rows = append(rows, p.row(at(e, n), c))
		}
	}
	return rows
}

func (p span) row(e recipe.Entry, concs ...int) Row {
	var r Row
	switch {
	case p.fixed == nil:
		r = agenticRow(e, p.search, concs[0], p.dram)
	case e.Multinode:
		r = fixedRow(e, *p.fixed, p.search, concs)
	default:
		r = fixedRow(e, *p.fixed, p.search, concs[0])
	}
	if p.nodes > 0 {
		r.add("node-count", p.nodes)
	}
	return r
}

// at is an entry that runs on a node.
func at(e recipe.Entry, node string) recipe.Entry {
	e.Runner = node
	return e
}
