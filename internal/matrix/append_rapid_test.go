package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/refit-bench/refit/internal/recipe"
)

// pointSet names the points of a family by key.
func pointSet(t *rapid.T, cat *recipe.Catalogue, key string) map[string]bool {
	f, err := cat.Family(key)
	if err != nil {
		t.Fatal(err)
	}
	points, _, err := Points(f, cat.Runners, DefaultEvals)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, p := range points {
		set[p.Key] = true
	}
	return set
}

// addsUp holds an append-only plan of one key to its definition: what it
// measures and what base measures have nothing in common and are together what
// the change measures. Where there is nothing to add, it says so.
func addsUp(t *rapid.T, base, head *recipe.Catalogue, key string) {
	was, is := pointSet(t, base, key), pointSet(t, head, key)
	p, err := BuildPlanWith(head, []recipe.ChangelogEntry{appendOnly(entryFor(key))}, DefaultEvals, PlanOptions{Base: base})
	if len(was) == len(is) {
		if err == nil || !strings.Contains(err.Error(), "nothing is added") {
			t.Fatalf("%s: nothing is new: got %v", key, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	if len(p.Families) != 1 || len(p.Families[0].Selection.Evals) != 0 {
		t.Fatalf("%s: got %d families, %d evals", key, len(p.Families), len(p.Families[0].Selection.Evals))
	}
	for _, pt := range p.Families[0].Selection.Throughput {
		if was[pt.Key] || !is[pt.Key] {
			t.Fatalf("%s: point %s is at base, or planned twice, or not in the change", key, pt.Label())
		}
		was[pt.Key] = true
	}
	if len(was) != len(is) {
		t.Fatalf("%s: base and what is added have %d points, the change %d", key, len(was), len(is))
	}
	jobs := 0
	for _, r := range p.throughput {
		jobs += len(r.concs())
	}
	if jobs != len(p.Families[0].Selection.Throughput) {
		t.Fatalf("%s: %d jobs' concurrencies for %d points", key, jobs, len(p.Families[0].Selection.Throughput))
	}
}

// searchText draws search-space entries with distinct sizes: what both have,
// and what base has of it.
func searchText(t *rapid.T, multi bool) (base, head string) {
	concs := rapid.SliceOfNDistinct(rapid.IntRange(1, 64), 1, 6, rapid.ID)
	for i := range rapid.IntRange(1, 4).Draw(t, "entries") {
		all := concs.Draw(t, "concurrencies")
		kept := all[:rapid.IntRange(min(1, 1-min(i, 1)), len(all)).Draw(t, "kept")] // the first entry keeps its curve
		entry := func(concs []int) string {
			if len(concs) == 0 {
				return ""
			}
			list := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(concs), "[]")), ", ")
			if multi {
				return fmt.Sprintf("      - prefill: { num-worker: %d, tp: 2, ep: 1, dp-attn: false }\n        decode: { num-worker: 1, tp: 2, ep: 1, dp-attn: false }\n        conc-list: [%s]\n", i+1, list)
			}
			return fmt.Sprintf("      - { tp: %d, kv-offloading: none, conc-list: [%s] }\n", i+1, list)
		}
		base += entry(rapid.Permutation(kept).Draw(t, "order"))
		head += entry(rapid.Permutation(append(slices.Clone(all), all[:rapid.IntRange(0, 1).Draw(t, "twice")]...)).Draw(t, "order"))
	}
	return base, head
}

func TestAppendOnlyAddsUpOfGeneratedCatalogues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		multi := rapid.Bool().Draw(rt, "multinode")
		template := bothScenarios
		if multi {
			template = multiNode
		}
		top, _, _ := strings.Cut(template, "    fixed-seq-len:")
		top = renamed(top, "config-x")
		fixedBase, fixedHead := searchText(rt, multi)
		replayBase, replayHead := searchText(rt, multi)
		master := func(fixed, replay string) string {
			fixed = strings.ReplaceAll(fixed, "kv-offloading: none, ", "")
			return top + "    fixed-seq-len:\n    - isl: 8192\n      osl: 1024\n      search-space:\n" + fixed + "    agentic-coding:\n    - search-space:\n" + replay
		}
		other := renamed(bothScenarios, "config-y")
		addsUp(rt, labCatalogue(t, master(fixedBase, replayBase)+other), labCatalogue(t, other+master(fixedHead, replayHead)), "config-x")
	})
}

// less is a family with some of its concurrencies taken away; each search-space
// entry keeps at least one.
func less(t *rapid.T, f recipe.Family) recipe.Family {
	thin := func(list []recipe.Search) []recipe.Search {
		out := slices.Clone(list)
		for i := range out {
			concs := Concurrencies(out[i])
			n := rapid.IntRange(1, len(concs)).Draw(t, "kept")
			out[i].List, out[i].Start, out[i].End = concs[:n], 0, 0
		}
		return out
	}
	f.Entry.Fixed, f.Entry.Agentic = slices.Clone(f.Entry.Fixed), slices.Clone(f.Entry.Agentic)
	for i := range f.Entry.Fixed {
		f.Entry.Fixed[i].Search = thin(f.Entry.Fixed[i].Search)
	}
	for i := range f.Entry.Agentic {
		f.Entry.Agentic[i].Search = thin(f.Entry.Agentic[i].Search)
	}
	return f
}

func TestAppendOnlyAddsUpOfPublishedRecipes(t *testing.T) {
	head := catalogue(t, "inferencex")
	rapid.Check(t, func(rt *rapid.T) {
		i := rapid.IntRange(0, len(head.Families)-1).Draw(rt, "family")
		base := *head
		base.Families = slices.Clone(head.Families)
		base.Families[i] = less(rt, head.Families[i])
		addsUp(rt, &base, head, head.Families[i].Key)
	})
}
