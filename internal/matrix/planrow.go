package matrix

import "slices"

// The fields of a plan row, in order. A field without value is left out, save
// those that planRow fills.
var (
	planHead      = []string{"image", "model", "model-prefix", "precision", "framework"}
	fixedSingle   = []string{"spec-decoding", "runner", "isl", "osl", "tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "conc", "max-model-len", "exp-name", "disagg", "run-eval", "eval-only", "router", "recipe-fingerprint"}
	fixedMulti    = []string{"spec-decoding", "runner", "isl", "osl", "prefill", "decode", "conc", "max-model-len", "exp-name", "disagg", "run-eval", "eval-only", "eval-conc", "eval-all-concs", "router", "kv-p2p-transfer", "recipe-fingerprint"}
	agenticSingle = []string{"runner", "tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "spec-decoding", "conc", "kv-offloading", "kv-offload-backend", "router", "total-cpu-dram-gb", "duration", "exp-name", "scenario-type", "run-eval", "eval-only", "recipe-fingerprint"}
	agenticMulti  = []string{"spec-decoding", "runner", "prefill", "decode", "conc", "kv-offloading", "kv-offload-backend", "router", "kv-p2p-transfer", "total-cpu-dram-gb", "duration", "exp-name", "disagg", "scenario-type", "run-eval", "eval-only", "eval-conc", "recipe-fingerprint"}
	workerFields  = []string{"num-worker", "tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "hardware", "additional-settings"}
)

// planFields is the shape of a row by node kind and scenario.
func planFields(r Row) []string {
	switch {
	case r.agentic() && r.multinode():
		return agenticMulti
	case r.agentic():
		return agenticSingle
	case r.multinode():
		return fixedMulti
	}
	return fixedSingle
}

// planRow gives a generator row the shape of the plan.
func planRow(generated Row) Row {
	g := generated.Clone()
	if !g.agentic() {
		setDefault(&g, "eval-only", false)
		if g.multinode() {
			setDefault(&g, "eval-all-concs", false)
		}
	}
	for _, pool := range []string{"prefill", "decode"} {
		if w := g.Row(pool); g.Has(pool) {
			setDefault(&w, "additional-settings", []any{})
			g.Set(pool, ordered(w, workerFields))
		}
	}
	for _, c := range []string{"router", "kv-offload-backend"} {
		if g.Has(c) {
			g.Set(c, ordered(g.Row(c), []string{"name", "version"}))
		}
	}
	return ordered(g, slices.Concat(planHead, planFields(g)))
}

func setDefault(r *Row, name string, value any) {
	if !r.Has(name) {
		r.Set(name, value)
	}
}

// ordered picks the named fields that have a value, in that order.
func ordered(r Row, names []string) Row {
	var out Row
	for _, n := range names {
		if v, _ := r.Get(n); v != nil {
			out.Set(n, v)
		}
	}
	return out
}
