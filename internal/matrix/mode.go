package matrix

import (
	"fmt"
	"slices"
)

// picked is a row made from throughput row number from.
type picked struct {
	from int
	row  Row
}

// apply turns throughput rows into the rows of a mode. The rows are used up.
func (ev EvalRule) apply(rows []Row, mode Mode) ([]picked, error) {
	switch mode {
	case NoEvals:
		out := make([]picked, len(rows))
		for i, r := range rows {
			out[i] = picked{i, r}
		}
		return out, nil
	case MarkEvals, EvalsOnly:
		return ev.markRows(rows, mode), nil
	case AllEvals:
		return ev.allEvals(rows), nil
	case SmokeTest:
		return ev.smoke(rows), nil
	}
	return nil, fmt.Errorf("unknown eval mode %q", mode)
}

func (ev EvalRule) markRows(rows []Row, mode Mode) []picked {
	marked := ev.marks(rows, mode == EvalsOnly)
	var out []picked
	for i, r := range rows {
		conc, ok := marked[i]
		if mode == EvalsOnly && !ok {
			continue
		}
		r.Set("run-eval", ok)
		if ok && r.multinode() {
			r.Set("eval-conc", conc)
		}
		if mode == EvalsOnly {
			r.Set("eval-only", true)
		}
		out = append(out, picked{i, r})
	}
	return out
}

// allEvals makes an eval row of everything that can be evaluated: single-node
// rows one by one, multi-node rows merged by topology.
func (ev EvalRule) allEvals(rows []Row) []picked {
	var out []picked
	merged := map[string]int{} // topology -> index in out
	for i, r := range rows {
		if !ev.eligible(r) && !r.agentic() {
			continue
		}
		if r.multinode() {
			g := topology(r)
			if j, ok := merged[g]; ok {
				out[j].row.Set("conc", append(out[j].row.concs(), r.concs()...))
				continue
			}
			merged[g] = len(out)
		}
		r = r.changed()
		r.Set("run-eval", true)
		out = append(out, picked{i, r})
	}
	for i := range out {
		if r := &out[i].row; r.multinode() {
			evaluateList(r)
		}
		out[i].row.Set("eval-only", true)
	}
	return out
}

// evaluateList sorts a merged row's concurrencies: fixed lengths evaluate each
// of them, trace replays the highest.
func evaluateList(r *Row) {
	concs := r.concs()
	slices.Sort(concs)
	concs = slices.Compact(concs)
	r.Set("conc", concs)
	switch {
	case !r.agentic():
		r.Set("eval-all-concs", true)
	case len(concs) > 0:
		r.Set("eval-conc", concs[len(concs)-1])
	}
}

// rowsOf drops where the rows came from.
func rowsOf(p []picked) []Row {
	rows := make([]Row, len(p))
	for i := range p {
		rows[i] = p[i].row
	}
	return rows
}
