package matrix

import (
	"errors"
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

	ListedOnly bool // limits leave out what they would otherwise make up: points that no recipe lists
	Unique     bool // a point that a family lists again is left out
	NodeCount  bool // multi-node rows say how many nodes they take

	// NodeTotal is how many nodes the engine's own recipe file takes, where a
	// CONFIG_FILE setting names one that is checked in. nil = none is.
	NodeTotal func(configFile string) (nodes int, found bool, err error)
}

// expansion is what a filter leaves of a family.
type expansion struct {
	rows     []Row    // throughput rows in catalogue order
	repeats  []string // warnings about points that are listed again
	invented int      // points that no recipe lists, made up by limits
	nowhere  bool     // no runner's name has Filter.Node in it
}

// expand makes the throughput rows of a family.
func (x Filter) expand(f recipe.Family, runners recipe.Runners) (expansion, error) {
	scenarios := x.Scenarios
	if scenarios == nil {
		scenarios = []string{Fixed, Agentic}
	}
	nodes := x.nodes(f.Entry.Runner, runners)
	out := expansion{nowhere: len(nodes) == 0}
	seen := listing{}
	var errs []error
	for _, scenario := range scenarios {
		spans, err := x.spans(f, scenario, runners)
		errs = append(errs, err)
		if out.nowhere || err != nil {
			continue // the mistakes of its entries are told all the same
		}
		for _, p := range spans {
			fresh, warnings := seen.add(f, p, x.Unique)
			out.repeats = append(out.repeats, warnings...)
			if x.Unique {
				p.concs = fresh
			}
			if len(p.concs) > 0 {
				out.invented += p.invented * len(nodes)
				out.rows = append(out.rows, p.rows(f.Entry, nodes)...)
			}
		}
	}
	return out, errors.Join(errs...)
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

func (x Filter) wantsLengths(b *recipe.FixedBlock) bool {
	return x.Lengths == nil || slices.Contains(x.Lengths, SequenceName(b.ISL, b.OSL))
}
