package matrix

import "slices"

// smoke makes the rows of a quick look: the lowest concurrency of every
// deployment as throughput, then an eval of it. The eval's concurrency is the
// policy's, never the throughput's; where the policy marks a median and a
// highest one, the median remains. Source: recipes specification, section 12.
func (ev EvalRule) smoke(rows []Row) []picked {
	marked := ev.marks(rows, true)
	var throughput, evals []picked
	for i, r := range rows {
		t := r.changed()
		t.Set("run-eval", false)
		throughput = append(throughput, picked{i, t})
		if conc, ok := marked[i]; ok {
			evals = append(evals, picked{i, evalOnly(r, conc)})
		}
	}
	return slices.Concat(lowered(throughput), lowered(evals))
}

// evalOnly is the row of an eval alone, at one concurrency.
func evalOnly(r Row, conc int) Row {
	r = r.changed()
	r.Set("run-eval", true)
	if r.multinode() {
		r.Set("conc", []int{conc})
		r.Set("eval-conc", conc)
		if !r.agentic() {
			r.Set("eval-all-concs", false)
		}
	}
	r.Set("eval-only", true)
	return r
}
