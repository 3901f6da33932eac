package matrix

import (
	"fmt"
	"slices"
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
// all-evals come first. Append-only entries are refused: they need the base
// revision's rows, which are not read here.
func BuildPlan(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, ev EvalRule) (Plan, error) {
	return BuildPlanWith(cat, entries, ev, PlanOptions{})
}

// PlanOptions are what is asked of all entries of a delta at once.
type PlanOptions struct {
	Trim      bool // throughput at the lowest concurrency of each recipe alone
	AllEvals  bool // every row that can be evaluated is; throughput stays
	EvalsOnly bool // no throughput
}

// BuildPlanWith is BuildPlan with options.
func BuildPlanWith(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, ev EvalRule, o PlanOptions) (Plan, error) {
	b := newBuilder(cat, entries, ev)
	for _, e := range wideFirst(entries) {
		if e.AppendOnly {
			return Plan{}, fmt.Errorf("changelog entry for %s: append-only is not supported yet", strings.Join(e.ConfigKeys, ", "))
		}
		families, err := matches(cat, e.ConfigKeys)
		if err != nil {
			return Plan{}, err
		}
		if !e.EvalsOnly && !e.AllEvals && !o.EvalsOnly {
			if err := b.add(families, e, NoEvals); err != nil {
				return Plan{}, err
			}
		}
		mode := EvalsOnly
		if e.AllEvals || o.AllEvals {
			mode = AllEvals
		}
		if err := b.add(families, e, mode); err != nil {
			return Plan{}, err
		}
	}
	if o.Trim {
		b.plan.trim()
	}
	return b.plan, nil
}

// wideFirst moves the entries with all-evals to the front.
func wideFirst(entries []recipe.ChangelogEntry) []recipe.ChangelogEntry {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b recipe.ChangelogEntry) int {
		switch {
		case a.AllEvals == b.AllEvals:
			return 0
		case a.AllEvals:
			return -1
		}
		return 1
	})
	return sorted
}

// matches resolves config keys, where * stands for anything, in catalogue
// order per key; repeats collapse to the first.
func matches(cat *recipe.Catalogue, keys []string) ([]recipe.Family, error) {
	var out []recipe.Family
	taken := map[string]bool{}
	for _, key := range keys {
		found := false
		for _, f := range cat.Families {
			if !wildcard(key, f.Key) {
				continue
			}
			found = true
			if !taken[f.ID] {
				taken[f.ID] = true
				out = append(out, f)
			}
		}
		if !found && strings.Contains(key, "*") {
			return nil, fmt.Errorf("changelog: no config key matches %q", key)
		}
		if !found {
			_, err := cat.Family(key)
			return nil, fmt.Errorf("changelog: %w", err)
		}
	}
	return out, nil
}

// wildcard matches the whole of s; * is any run of characters, all else literal.
func wildcard(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
