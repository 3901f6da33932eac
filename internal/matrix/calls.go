package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// call is one run of the generator: families that are expanded together, since
// eval marking spans them.
type call struct {
	entry     recipe.ChangelogEntry // that asks for it
	mode      Mode                  // NoEvals, EvalsOnly or AllEvals
	families  []recipe.Family
	scenarios []string // of Fixed and Agentic, in this order
}

// generatorCalls lists the runs that entries ask for. The first entry that
// reaches a scenario of a family owns it, apart for throughput and for evals.
// Source: changelog specification, sections 2.3 and 2.4.
func generatorCalls(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, o PlanOptions) ([]call, error) {
	var calls []call
	var errs []error
	owned := coverage{}
	for _, e := range wideFirst(entries) {
		families, err := matches(cat, e.ConfigKeys)
		if errs = append(errs, err); err != nil {
			continue
		}
		if !e.EvalsOnly && !e.AllEvals && !o.EvalsOnly {
			calls = append(calls, owned.calls(families, e, NoEvals)...)
		}
		if e.AppendOnly || e.NoEvals {
			continue
		}
		mode := EvalsOnly
		if e.AllEvals || o.AllEvals {
			mode = AllEvals
		}
		calls = append(calls, owned.calls(families, e, mode)...)
	}
	return calls, errors.Join(errs...)
}

// coverage holds what is planned already: kind of work, family and scenario.
type coverage map[[3]string]bool

// calls claims what of an entry nobody has, in groups of equal scenarios.
func (o coverage) calls(families []recipe.Family, e recipe.ChangelogEntry, mode Mode) []call {
	var out []call
	for _, f := range families {
		todo := o.claim(f, e, mode)
		if len(todo) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(c call) bool { return slices.Equal(c.scenarios, todo) })
		if i < 0 {
			i = len(out)
			out = append(out, call{entry: e, mode: mode, scenarios: todo})
		}
		out[i].families = append(out[i].families, f)
	}
	return out
}

func (o coverage) claim(f recipe.Family, e recipe.ChangelogEntry, mode Mode) []string {
	var todo []string
	for _, scenario := range []string{Fixed, Agentic} {
		wanted := len(e.ScenarioType) == 0 || slices.Contains(e.ScenarioType, scenario)
		id := [3]string{work(mode), f.ID, scenario}
		if wanted && !o[id] {
			o[id] = true
			todo = append(todo, scenario)
		}
	}
	return todo
}

// work names the list that a mode's rows belong to.
func work(mode Mode) string {
	if mode == NoEvals {
		return "throughput"
	}
	return "evals"
}

// owned is a generator row and the family that asks for it.
type owned struct {
	family recipe.Family
	row    Row
}

// expand lists the throughput rows of a call in catalogue order per family.
func (c call) expand(runners recipe.Runners) ([]owned, error) {
	var out []owned
	for _, f := range c.families {
		rows, err := expand(f, runners, c.scenarios)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out = append(out, owned{f, r})
		}
	}
	return out, nil
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
// order per key; repeats collapse to the first. The error names every key that
// matches nothing.
func matches(cat *recipe.Catalogue, keys []string) ([]recipe.Family, error) {
	var out []recipe.Family
	var errs []error
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
		switch {
		case found:
		case strings.Contains(key, "*"):
			errs = append(errs, fmt.Errorf("changelog: no config key matches %q", key))
		default:
			_, err := cat.Family(key)
			errs = append(errs, fmt.Errorf("changelog: %w", err))
		}
	}
	return out, errors.Join(errs...)
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
