package candidate

import (
	"fmt"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
)

// live is a family of the tree that the wave stands on, with what the feeds
// call its rows.
type live struct {
	recipe.Family
	points []matrix.Point
	shapes map[shape]bool
	coarse map[string]bool // its identities as earlier versions made them
}

// shape is what joins a published row to a family: no topology, no concurrency.
type shape struct {
	stack
	kind     string // benchmark type
	isl, osl int    // 0 where the row has none
	image    string // in its one spelling
}

// stack is a model on a piece of hardware: what earlier versions took for the
// identity of a family.
type stack struct {
	model, hardware, framework, precision, spec string
	disagg                                      bool
}

func (s stack) identity() string {
	return short([]any{s.model, s.hardware, s.framework, s.precision, s.spec, s.disagg})
}

// live reads the families out of the tree. One whose rows cannot be generated
// is left out alone.
func (p *planner) live() ([]live, []LeftOut, error) {
	catalogue, err := recipe.Load(p.tree, p.Paths.Masters, p.Paths.Runners)
	if err != nil {
		return nil, nil, fmt.Errorf("base %.12s: %w", p.base, err)
	}
	rule, err := matrix.ParseEvalRule(p.Config.Evals.Lengths, p.Config.Evals.Floor)
	if err != nil {
		return nil, nil, err
	}
	p.runners = catalogue.Runners
	families, left := []live{}, []LeftOut{}
	for _, f := range catalogue.Families {
		l, err := liveFamily(f, catalogue.Runners, rule)
		if err != nil {
			left = append(left, LeftOut{f.ID, NotGenerated, err.Error()})
			continue
		}
		families = append(families, l)
	}
	return families, left, nil
}

func liveFamily(f recipe.Family, runners recipe.Runners, rule matrix.EvalRule) (live, error) {
	l := live{Family: f, shapes: map[shape]bool{}, coarse: map[string]bool{}}
	var err error
	if l.points, _, err = matrix.Points(f, runners, rule); err != nil {
		return live{}, err
	}
	for _, p := range l.points {
		as, err := result.PublishedAs(p.Row)
		if err != nil {
			return live{}, err
		}
		s := shape{
			stack: stack{as.Model, as.Hardware, as.Framework, as.Precision, as.SpecMethod, as.Disagg},
			kind:  as.BenchmarkType, isl: lengthOf(as.ISL), osl: lengthOf(as.OSL), image: canonicalImage(f.Entry.Image),
		}
		l.shapes[s] = true
		l.coarse[s.stack.identity()] = true
	}
	return l, nil
}

// shapeOf is the shape of a published row.
func shapeOf(r api.LatestImage) shape {
	return shape{
		stack: stack{r.Model, r.Hardware, r.Framework, r.Precision, r.SpecMethod, r.Disagg},
		kind:  r.BenchmarkType, isl: lengthOf(r.ISL), osl: lengthOf(r.OSL), image: canonicalImage(r.Image),
	}
}

// lengthOf is a length of tokens, 0 for none: lengths begin at 1.
func lengthOf(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// observe joins rows to families: of each family the rows of its newest day, in
// the feed's order. A row that no live row is published as, such as that of a
// retired workload or of another image, belongs to nobody.
func observe(families []live, rows []api.LatestImage) map[string][]api.LatestImage {
	owners := map[shape][]string{}
	for _, f := range families {
		for s := range f.shapes {
			owners[s] = append(owners[s], f.ID)
		}
	}
	seen := map[string][]api.LatestImage{}
	for _, r := range rows {
		for _, id := range owners[shapeOf(r)] {
			switch before := seen[id]; {
			case len(before) == 0 || before[0].Date < r.Date:
				seen[id] = []api.LatestImage{r}
			case before[0].Date == r.Date:
				seen[id] = append(before, r)
			}
		}
	}
	return seen
}
