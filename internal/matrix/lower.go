package matrix

import "slices"

// Lower reduces marked rows to one per deployment, at its lowest concurrency:
// rows that differ in concurrency, name and eval fields alone are one. An eval
// that any of them has stays, at that concurrency too. The first of equal rows
// remains, in its place. Source: recipes specification, section 12; Trim is
// the older rule, for plans.
func Lower(rows []Row) []Row {
	all := make([]picked, len(rows))
	for i, r := range rows {
		all[i] = picked{i, r}
	}
	return rowsOf(lowered(all))
}

// group is what is known of the rows of one deployment.
type group struct {
	best, conc        int // row with the lowest concurrency
	eval, conced, all bool
}

func lowered(rows []picked) []picked {
	groups := map[string]*group{}
	of := make([]*group, len(rows))
	for i, p := range rows {
		concs := p.row.concs()
		if len(concs) == 0 {
			continue
		}
		shape, low := topology(p.row), slices.Min(concs)
		g := groups[shape]
		if g == nil {
			g = &group{best: i, conc: low}
			groups[shape] = g
		}
		if low < g.conc {
			g.best, g.conc = i, low
		}
		g.eval = g.eval || p.row.Bool("run-eval")
		g.conced = g.conced || p.row.Has("eval-conc")
		g.all = g.all || p.row.Bool("eval-all-concs")
		of[i] = g
	}
	var out []picked
	for i, p := range rows {
		if g := of[i]; g == nil || g.best == i {
			out = append(out, picked{p.from, g.apply(p.row)})
		}
	}
	return out
}

// apply gives the row that stands for a deployment what its rows had.
func (g *group) apply(r Row) Row {
	if g == nil { // a row without concurrencies stands for itself
		return r
	}
	r = r.changed()
	if r.multinode() {
		r.Set("conc", []int{g.conc})
	}
	if g.eval {
		r.Set("run-eval", true)
	}
	if g.conced {
		r.Set("eval-conc", g.conc)
	}
	if g.all {
		r.Set("eval-all-concs", true)
	}
	return r
}
