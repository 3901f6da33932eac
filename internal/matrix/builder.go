package matrix

import (
	"github.com/refit-bench/refit/internal/recipe"
)

// builder collects a plan row by row.
type builder struct {
	cat  *recipe.Catalogue
	ev   EvalRule
	plan Plan

	family map[string]int                // family -> index in plan.Families
	points map[string]map[string]Point   // family -> key -> point
	taken  map[[2]string]map[string]bool // kind of work and family -> keys already selected
}

func newBuilder(cat *recipe.Catalogue, entries []recipe.ChangelogEntry, ev EvalRule) *builder {
	return &builder{
		cat: cat, ev: ev, plan: Plan{Entries: entries, throughput: []Row{}, evals: []Row{}},
		family: map[string]int{}, points: map[string]map[string]Point{}, taken: map[[2]string]map[string]bool{},
	}
}

// runAll plans the rows of generator calls.
func (b *builder) runAll(calls []call) error {
	for _, c := range calls {
		if err := b.run(c); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) run(c call) error {
	from, err := c.expand(b.cat.Runners)
	if err != nil {
		return err
	}
	rows := make([]Row, len(from))
	for i := range from {
		rows[i] = from[i].row
	}
	chosen, err := b.ev.apply(rows, c.mode)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		if c.mode != NoEvals && p.row.multinode() && p.row.Row("prefill").Int("ep") < c.entry.EvalMinPrefillEP {
			continue
		}
		if err := b.addRow(from[p.from].family, p.row, c.mode); err != nil {
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
