package matrix

import (
	"github.com/refit-bench/refit/internal/recipe"
)

// MarshalJSON writes the plan as the buckets of the published workflows.
func (p Plan) MarshalJSON() ([]byte, error) {
	return p.Row().MarshalJSON()
}

// Row is the plan in its JSON form: throughput by sequence name, evals by kind,
// and the changelog's entries.
func (p Plan) Row() Row {
	throughput, evals := p.throughput, p.evals
	if throughput == nil && evals == nil {
		throughput, evals = p.rows()
	}
	var single, multi Row
	for _, r := range throughput {
		if r.multinode() {
			addTo(&multi, bucket(r), r)
		} else {
			addTo(&single, bucket(r), r)
		}
	}
	var out Row
	out.Set("single_node", single)
	out.Set("multi_node", multi)
	for _, name := range evalBuckets {
		out.Set(name, []any{})
	}
	for _, r := range evals {
		addTo(&out, evalBucket(r), r)
	}
	out.Set("changelog_metadata", metadata(p))
	return out
}

var evalBuckets = []string{"evals", "agentic_evals", "multinode_evals", "multinode_agentic_evals"}

func bucket(r Row) string {
	if r.agentic() {
		return "agentic"
	}
	return SequenceName(r.Int("isl"), r.Int("osl"))
}

func evalBucket(r Row) string {
	switch {
	case r.agentic() && r.multinode():
		return "multinode_agentic_evals"
	case r.agentic():
		return "agentic_evals"
	case r.multinode():
		return "multinode_evals"
	}
	return "evals"
}

func addTo(into *Row, name string, r Row) {
	v, _ := into.Get(name)
	list, _ := v.([]any)
	into.Set(name, append(list, r))
}

// metadata echoes the entries, with the defaults filled in.
func metadata(p Plan) Row {
	var m Row
	m.Set("base_ref", p.Base)
	m.Set("head_ref", p.Head)
	list := []any{}
	for _, e := range p.Entries {
		list = append(list, entryRow(e))
	}
	m.Set("entries", list)
	return m
}

func entryRow(e recipe.ChangelogEntry) Row {
	var r Row
	r.Set("config-keys", e.ConfigKeys)
	r.Set("description", e.Description)
	r.Set("pr-link", e.PRLink)
	r.Set("evals-only", e.EvalsOnly)
	r.Set("all-evals", e.AllEvals)
	r.Set("append-only", e.AppendOnly)
	if e.NoEvals {
		r.Set("no-evals", true)
	}
	if e.EvalMinPrefillEP > 0 {
		r.Set("eval-min-prefill-ep", e.EvalMinPrefillEP)
	}
	if len(e.ScenarioType) > 0 {
		r.Set("scenario-type", e.ScenarioType)
	}
	return r
}

// rows makes the jobs of a plan that was put together from selections: one
// per point, except that neighbouring multi-node points of one deployment and
// fixed lengths share a job.
func (p Plan) rows() (throughput, evals []Row) {
	for _, f := range p.Families {
		last := ""
		for _, pt := range f.Selection.Throughput {
			shape := topology(pt.Row)
			if n := len(throughput); shape == last && pt.Row.multinode() && !pt.Row.agentic() {
				throughput[n-1].Set("conc", append(throughput[n-1].concs(), pt.Conc()))
				continue
			}
			last = shape
			throughput = append(throughput, pt.Row.Clone())
		}
		for _, pt := range f.Selection.Evals {
			evals = append(evals, EvalRow(pt))
		}
	}
	return throughput, evals
}

// EvalRow is the plan row of a point's eval alone.
func EvalRow(p Point) Row {
	r := p.Row.without("recipe-fingerprint")
	r.Set("run-eval", true)
	r.Set("eval-only", true)
	if r.multinode() {
		r.Set("eval-conc", p.Conc())
	}
	return planRow(r)
}
