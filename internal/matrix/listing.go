package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// listing remembers which points a family has listed so far, and in which
// lines. It compares deployments as Key does, without hashing rows.
type listing map[deployment][]place

// place is where one concurrency of a deployment is listed first.
type place struct{ conc, line int }

// deployment is all of a point but its concurrency, in a form that can be a
// map's key.
type deployment struct {
	lengths              [2]int
	tp, pp, dcp, pcp, ep int
	attention            bool
	prefill, decode      pool
	spec, transfer       string
	router, backend      recipe.Component
	offload              string
	dram                 int
	agentic              bool
}

// pool is a recipe.Worker in such a form; settings are joined.
type pool struct {
	workers, tp, pp, dcp, pcp, ep int
	attention                     bool
	hardware, settings            string
}

// add enters a span's points. It returns those that are new, and a warning
// for each that is not; dropped says what becomes of these.
func (l listing) add(f recipe.Family, p span, dropped bool) ([]int, []string) {
	var warnings []string
	d := deploymentOf(f.Entry, p)
	places := l[d]
	fresh := make([]int, 0, len(p.concs))
	for _, c := range p.concs {
		i := slices.IndexFunc(places, func(o place) bool { return o.conc == c })
		if i < 0 {
			places = append(places, place{c, p.search.Line})
			fresh = append(fresh, c)
			continue
		}
		what := "it is measured again (--unique leaves it out)"
		if dropped {
			what = "it is left out"
		}
		warnings = append(warnings, fmt.Sprintf("%s:%d: %s: concurrency %d of this deployment comes from line %d already; %s",
			f.File, p.search.Line, f.Key, c, places[i].line, what))
	}
	l[d] = places
	return fresh, warnings
}

func deploymentOf(e recipe.Entry, p span) deployment {
	s := p.search
	router, transfer := e.Router, e.Transfer
	if s.RouterSet {
		router = s.Router
	}
	if s.Transfer != "" {
		transfer = s.Transfer
	}
	d := deployment{
		tp: s.TP, pp: s.PP, dcp: s.DCP, pcp: s.PCP, ep: s.EP, attention: s.DPAttention,
		prefill: poolOf(s.Prefill), decode: poolOf(s.Decode),
		spec: s.SpecDecoding, transfer: transfer, offload: s.Offload, dram: p.dram, agentic: p.fixed == nil,
	}
	if p.fixed != nil {
		d.lengths = [2]int{p.fixed.ISL, p.fixed.OSL}
	}
	if router != nil {
		d.router = *router
	}
	if s.Backend != nil {
		d.backend = *s.Backend
	}
	return d
}

func poolOf(w *recipe.Worker) pool {
	if w == nil {
		return pool{}
	}
	return pool{w.Workers, w.TP, w.PP, w.DCP, w.PCP, w.EP, w.DPAttention, w.Hardware, strings.Join(w.Settings, "\x00")}
}
