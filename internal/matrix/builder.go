package matrix

import (
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// builder collects a plan entry by entry.
type builder struct {
	cat  *recipe.Catalogue
	ev   EvalRule
	plan Plan

	claimed map[[2]string]bool            // kind of work and family/scenario already planned
	family  map[string]int                // family -> index in plan.Families
	points  map[string]map[string]Point   // family -> key -> point
	taken   map[[2]string]map[string]bool // kind of work and family -> keys already selected
}

func newBuilder(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, ev EvalRule) *builder {
	return &builder{
		cat: cat, ev: ev, plan: Plan{Entries: entries, throughput: []Row{}, evals: []Row{}},
		claimed: map[[2]string]bool{}, family: map[string]int{},
		points: map[string]map[string]Point{}, taken: map[[2]string]map[string]bool{},
	}
}

// add plans one kind of work of an entry for the scenarios not yet covered.
// Families are taken in groups of equal scenarios, as eval marking spans a group.
func (b *builder) add(families []recipe.Family, e recipe.ChangelogEntry, mode Mode) error {
	var order []string
	groups := map[string][]recipe.Family{}
	for _, f := range families {
		todo := b.uncovered(mode, f, e)
		if len(todo) == 0 {
			continue
		}
		g := strings.Join(todo, " ")
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], f)
	}
	for _, g := range order {
		if err := b.addGroup(groups[g], strings.Fields(g), e, mode); err != nil {
			return err
		}
	}
	return nil
}

// work names the list that a mode's rows belong to.
func work(mode Mode) string {
	if mode == NoEvals {
		return "throughput"
	}
	return "evals"
}

// uncovered claims the entry's scenarios of a family that nobody has claimed.
func (b *builder) uncovered(mode Mode, f recipe.Family, e recipe.ChangelogEntry) []string {
	var todo []string
	for _, scenario := range []string{Fixed, Agentic} {
		wanted := len(e.ScenarioType) == 0 || slices.Contains(e.ScenarioType, scenario)
		id := [2]string{work(mode), f.ID + " " + scenario}
		if wanted && !b.claimed[id] {
			b.claimed[id] = true
			todo = append(todo, scenario)
		}
	}
	return todo
}

func (b *builder) addGroup(families []recipe.Family, scenarios []string, e recipe.ChangelogEntry, mode Mode) error {
	var rows []Row
	var owner []recipe.Family
	for _, f := range families {
		more, err := expand(f, b.cat.Runners, scenarios)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
		owner = append(owner, slices.Repeat([]recipe.Family{f}, len(more))...)
	}
	chosen, err := b.ev.apply(rows, mode)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		if mode != NoEvals && c.row.multinode() && c.row.Row("prefill").Int("ep") < e.EvalMinPrefillEP {
			continue
		}
		if err := b.addRow(owner[c.from], c.row, mode); err != nil {
			return err
		}
	}
	return nil
}

// addRow plans one generator row, unless all its points are planned already.
func (b *builder) addRow(f recipe.Family, generated Row, mode Mode) error {
	if err := b.open(f); err != nil {
		return err
	}
	fresh, fingerprint, err := b.fresh(f, generated, mode)
	if err != nil || len(fresh) == 0 {
		return err
	}
	row := planRow(generated)
	s := &b.plan.Families[b.family[f.ID]].Selection
	if mode == NoEvals {
		row.Set("recipe-fingerprint", fingerprint)
		b.plan.throughput = append(b.plan.throughput, row)
		s.Throughput = append(s.Throughput, fresh...)
		return nil
	}
	b.plan.evals = append(b.plan.evals, row)
	s.Evals = append(s.Evals, fresh...)
	return nil
}

// open gives a family its place in the plan and computes its points, once.
func (b *builder) open(f recipe.Family) error {
	if b.points[f.ID] != nil {
		return nil
	}
	points, warnings, err := Points(f, b.cat.Runners, b.ev)
	if err != nil {
		return err
	}
	byKey := map[string]Point{}
	for _, p := range points {
		byKey[p.Key] = p
	}
	b.points[f.ID] = byKey
	b.family[f.ID] = len(b.plan.Families)
	b.plan.Families = append(b.plan.Families, FamilyPlan{Family: f})
	b.plan.Warnings = append(b.plan.Warnings, warnings...)
	return nil
}

// fresh returns the points a row measures that are not selected yet, and the
// row's fingerprint.
func (b *builder) fresh(f recipe.Family, generated Row, mode Mode) ([]Point, string, error) {
	if generated.Has("eval-conc") {
		generated = generated.Clone()
		generated.Set("conc", []int{generated.Int("eval-conc")})
	}
	all, err := pointsOf(f, generated)
	if err != nil {
		return nil, "", err
	}
	id := [2]string{work(mode), f.ID}
	if b.taken[id] == nil {
		b.taken[id] = map[string]bool{}
	}
	var fresh []Point
	fingerprint := ""
	for _, p := range all {
		fingerprint = p.Fingerprint
		if !b.taken[id][p.Key] {
			b.taken[id][p.Key] = true
			fresh = append(fresh, b.points[f.ID][p.Key])
		}
	}
	return fresh, fingerprint, nil
}
