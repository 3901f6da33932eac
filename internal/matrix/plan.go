package matrix

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// Plan is what a changelog delta asks for. Families say which points, and the
// JSON form says which jobs, in the buckets of the published workflows.
type Plan struct {
	Families   []FamilyPlan // in order of first appearance
	Entries    []recipe.ChangelogEntry
	Base, Head string // refs, as given, for the record
	Warnings   []string

	throughput, evals []Row // jobs in dispatch order; nil = made from Families
}

// FamilyPlan is a family and what of it is measured.
type FamilyPlan struct {
	Family    recipe.Family
	Selection Selection
}

// PlanFamily plans one family without a changelog; choose is Full or Smoke.
func PlanFamily(f recipe.Family, runners recipe.Runners, ev EvalRule, choose func([]Point) Selection) (Plan, error) {
	points, warnings, err := Points(f, runners, ev)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Families: []FamilyPlan{{f, choose(points)}}, Warnings: warnings}, nil
}

// BuildPlan plans the added entries of a changelog. Each family and scenario
// is measured once, for the first entry that reaches it; entries with
// all-evals come first. Append-only entries are refused: they need a base.
func BuildPlan(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, ev EvalRule) (Plan, error) {
	return BuildPlanWith(cat, entries, ev, PlanOptions{})
}

// PlanOptions are what is asked of all entries of a delta at once.
type PlanOptions struct {
	Trim      bool // throughput at the lowest concurrency of each recipe alone
	AllEvals  bool // every row that can be evaluated is; throughput stays
	EvalsOnly bool // no throughput

	// Base is the catalogue before the change, which append-only entries
	// extend; nil = none is known. Only they look at it: see AppendOnly.
	Base *recipe.Catalogue
}

// BuildPlanWith is BuildPlan with options. Of append-only entries it plans the
// points that Base lacks, or says why the change is more than an addition.
func BuildPlanWith(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, ev EvalRule, o PlanOptions) (Plan, error) {
	if err := o.check(entries); err != nil {
		return Plan{}, err
	}
	calls, err := generatorCalls(cat, entries, o)
	if err != nil {
		return Plan{}, err
	}
	b := newBuilder(cat, entries, ev)
	if AppendOnly(entries) {
		err = b.extend(o.Base, calls)
	} else {
		err = b.runAll(calls)
	}
	if err != nil {
		return Plan{}, err
	}
	if o.Trim {
		b.plan.trim()
	}
	return b.plan, nil
}

// check holds the options against what entries exclude.
func (o PlanOptions) check(entries []recipe.ChangelogEntry) error {
	appending := AppendOnly(entries)
	for _, e := range entries {
		problem := ""
		switch {
		case appending && !e.AppendOnly:
			problem = "is not append-only, but others of the same change are: put it into a change of its own"
		case appending && (o.AllEvals || o.EvalsOnly):
			problem = "append-only adds throughput alone: it excludes all-evals and evals-only as an option or a label"
		case appending && o.Base == nil:
			problem = "append-only adds to what a base revision measures, and no base revision is given"
		case e.NoEvals && (o.AllEvals || o.EvalsOnly):
			problem = "no-evals excludes all-evals and evals-only as an option or a label"
		}
		if problem != "" {
			return fmt.Errorf("changelog entry for %s: %s", strings.Join(e.ConfigKeys, ", "), problem)
		}
	}
	return nil
}
