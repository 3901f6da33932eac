package matrix

import (
	"strconv"

	"github.com/refit-bench/refit/internal/recipe"
)

// The two scenarios of a catalogue entry.
const (
	Fixed   = "fixed-seq-len"
	Agentic = "agentic-coding"
)

// Mode says what a generator run does about evals.
type Mode string

const (
	MarkEvals Mode = "default"    // throughput rows, some marked for an eval too
	NoEvals   Mode = "no-evals"   // throughput rows alone
	EvalsOnly Mode = "evals-only" // the rows the policy marks, as eval-only rows
	AllEvals  Mode = "all-evals"  // every row that can be evaluated, as eval-only rows
	SmokeTest Mode = "smoke"      // per deployment the lowest throughput row, and one eval-only row
)

// GeneratorRows expands a family to the rows the published generator prints:
// same fields, same order, one per job.
func GeneratorRows(f recipe.Family, runners recipe.Runners, ev EvalRule, mode Mode) ([]Row, error) {
	rows, err := expand(f, runners, []string{Fixed, Agentic})
	if err != nil {
		return nil, err
	}
	out, err := ev.apply(rows, mode)
	return rowsOf(out), err
}

// expand lists the throughput rows of a family's scenarios in catalogue order.
func expand(f recipe.Family, runners recipe.Runners, scenarios []string) ([]Row, error) {
	out, err := Filter{Scenarios: scenarios}.expand(f, runners)
	return out.rows, err
}

// Concurrencies lists what a search-space entry asks for: its list as written,
// or its range by doubling, the end always included.
func Concurrencies(s recipe.Search) []int { return steps(s, 0) }

// steps is Concurrencies with another factor than 2; 0 = 2.
func steps(s recipe.Search, factor int) []int {
	if len(s.List) > 0 {
		return s.List
	}
	var out []int
	if s.Start <= 0 {
		return nil
	}
	for c := s.Start; c < s.End; c *= max(factor, 2) {
		out = append(out, c)
	}
	return append(out, s.End)
}

// head starts a row with the fields that every row has.
func head(e recipe.Entry) Row {
	r := Row{fields: make([]field, 0, 26)}
	r.add("image", e.Image)
	r.add("model", e.Model)
	r.add("model-prefix", e.ModelPrefix)
	r.add("precision", e.Precision)
	r.add("framework", e.Framework)
	r.add("runner", e.Runner)
	return r
}

// fixedRow makes one fixed-seq-len row; conc is an int, or a list when the
// entry is multi-node.
func fixedRow(e recipe.Entry, b recipe.FixedBlock, s recipe.Search, conc any) Row {
	r := head(e)
	r.add("isl", b.ISL)
	r.add("osl", b.OSL)
	if e.Multinode {
		r.add("spec-decoding", s.SpecDecoding)
		r.add("prefill", workerRow(s.Prefill))
		r.add("decode", workerRow(s.Decode))
		r.add("conc", conc)
		r.add("max-model-len", b.ISL+b.OSL+256)
	} else {
		sizes(&r, s)
		r.add("conc", conc)
		r.add("max-model-len", b.ISL+b.OSL+256)
		r.add("ep", s.EP)
		r.add("dp-attn", s.DPAttention)
		r.add("spec-decoding", s.SpecDecoding)
	}
	r.add("exp-name", e.ModelPrefix+"_"+SequenceName(b.ISL, b.OSL))
	r.add("disagg", e.Disagg)
	r.add("run-eval", false)
	extras(&r, e, s)
	return r
}

func sizes(r *Row, s recipe.Search) {
	r.add("tp", s.TP)
	r.add("pp", s.PP)
	r.add("dcp-size", s.DCP)
	r.add("pcp-size", s.PCP)
}

// extras sets the router and the transfer engine, the entry's own before the family's.
func extras(r *Row, e recipe.Entry, s recipe.Search) {
	router := e.Router
	if s.RouterSet {
		router = s.Router
	}
	if router != nil {
		r.add("router", componentRow(*router))
	}
	transfer := e.Transfer
	if s.Transfer != "" {
		transfer = s.Transfer
	}
	if transfer != "" {
		r.add("kv-p2p-transfer", transfer)
	}
}

func componentRow(c recipe.Component) Row {
	var r Row
	r.add("name", c.Name)
	if c.Version != "" {
		r.add("version", c.Version)
	}
	return r
}

// workerRow keeps the order in which the fields were written; the sizes left
// out come last.
func workerRow(w *recipe.Worker) Row {
	values := map[string]any{
		"num-worker": w.Workers, "tp": w.TP, "pp": w.PP, "dcp-size": w.DCP, "pcp-size": w.PCP,
		"ep": w.EP, "dp-attn": w.DPAttention,
	}
	if w.Hardware != "" {
		values["hardware"] = w.Hardware
	}
	if w.Settings != nil {
		values["additional-settings"] = w.Settings
	}
	var r Row
	for _, name := range w.Written {
		r.Set(name, values[name])
	}
	for _, name := range []string{"pp", "dcp-size", "pcp-size"} {
		if _, ok := r.Get(name); !ok {
			r.Set(name, 1)
		}
	}
	return r
}

// SequenceName is the short name of a pair of lengths: 1k1k, 8k1k, else isl_osl.
func SequenceName(isl, osl int) string {
	switch {
	case isl == 1024 && osl == 1024:
		return "1k1k"
	case isl == 8192 && osl == 1024:
		return "8k1k"
	}
	return strconv.Itoa(isl) + "_" + strconv.Itoa(osl)
}
