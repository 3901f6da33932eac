package matrix

import (
	"fmt"
	"slices"
)

// Trim reduces throughput rows to the lowest concurrency of each recipe. A
// multi-node row keeps its own lowest; single-node rows that differ in nothing
// but concurrency and name collapse to the first with the lowest. Order stays.
// Source: recipes specification, section 6.
func Trim(rows []Row) []Row {
	best := map[string]int{} // recipe -> index in rows
	for i, r := range rows {
		if r.multinode() {
			continue
		}
		g := canonical(r, "conc", "exp-name")
		if j, ok := best[g]; !ok || r.Int("conc") < rows[j].Int("conc") {
			best[g] = i
		}
	}
	var out []Row
	for i, r := range rows {
		if r.multinode() {
			if concs := r.concs(); len(concs) > 1 {
				r = r.Clone()
				r.Set("conc", []int{slices.Min(concs)})
			}
			out = append(out, r)
			continue
		}
		if best[canonical(r, "conc", "exp-name")] == i {
			out = append(out, r)
		}
	}
	return out
}

// trim trims the plan's jobs, and with them what its families measure.
func (p *Plan) trim() {
	p.throughput = Trim(p.throughput)
	kept := map[string]bool{}
	for _, r := range p.throughput {
		for _, c := range r.concs() {
			kept[pointName(r, c)] = true
		}
	}
	for i := range p.Families {
		s := &p.Families[i].Selection
		s.Throughput = slices.DeleteFunc(slices.Clone(s.Throughput), func(pt Point) bool { return !kept[pointName(pt.Row, pt.Conc())] })
	}
}

func pointName(r Row, conc int) string {
	return fmt.Sprintf("%s %d", r.Str("recipe-fingerprint"), conc)
}
