package matrix

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/refit-bench/refit/internal/recipe"
)

// difference names the first thing in which two entries differ, "" when they
// are the same. Places in the file, and values written out that are the default,
// make no difference.
func difference(a, b recipe.Entry) string {
	for _, what := range []string{fieldDifference(a, b), scenarioDifference(a, b, Fixed), scenarioDifference(a, b, Agentic)} {
		if what != "" {
			return what
		}
	}
	return ""
}

// fieldDifference is difference outside of the scenarios.
func fieldDifference(a, b recipe.Entry) string {
	for _, f := range []struct {
		name   string
		differ bool
	}{
		{"image", a.Image != b.Image}, {"model", a.Model != b.Model}, {"model-prefix", a.ModelPrefix != b.ModelPrefix},
		{"runner", a.Runner != b.Runner}, {"precision", a.Precision != b.Precision}, {"framework", a.Framework != b.Framework},
		{"multinode", a.Multinode != b.Multinode}, {"disagg", a.Disagg != b.Disagg},
		{"router", !reflect.DeepEqual(a.Router, b.Router)}, {"kv-p2p-transfer", a.Transfer != b.Transfer},
	} {
		if f.differ {
			return f.name
		}
	}
	a.Fixed, a.Agentic, b.Fixed, b.Agentic = nil, nil, nil, nil
	if !reflect.DeepEqual(a, b) { // a field that has no name above
		return "a field outside of its scenarios"
	}
	return ""
}

// scenarioDifference is difference inside one scenario.
func scenarioDifference(a, b recipe.Entry, scenario string) string {
	if n, m := blocks(a, scenario), blocks(b, scenario); n != m {
		return fmt.Sprintf("the number of blocks of %s (%d, %d at the base)", scenario, m, n)
	}
	for i := range blocks(a, scenario) {
		same := false
		if scenario == Agentic {
			same = reflect.DeepEqual(settledAgentic(a.Agentic[i]), settledAgentic(b.Agentic[i]))
		} else {
			same = reflect.DeepEqual(settledFixed(a.Fixed[i]), settledFixed(b.Fixed[i]))
		}
		if !same {
			return fmt.Sprintf("block %d of %s", i+1, scenario)
		}
	}
	return ""
}

func settledFixed(b recipe.FixedBlock) recipe.FixedBlock {
	b.Line, b.Search = 0, settled(b.Search)
	return b
}

func settledAgentic(b recipe.AgenticBlock) recipe.AgenticBlock {
	b.Line, b.Search = 0, settled(b.Search)
	if share, ok := new(big.Rat).SetString(b.DRAMUtilization); ok {
		b.DRAMUtilization = share.RatString()
	}
	return b
}

// settled are search-space entries without where and how they were written.
func settled(searches []recipe.Search) []recipe.Search {
	out := slices.Clone(searches)
	for i := range out {
		s := &out[i]
		s.Line, s.Column = 0, 0
		s.Prefill, s.Decode = settledWorker(s.Prefill), settledWorker(s.Decode)
	}
	return out
}

func settledWorker(w *recipe.Worker) *recipe.Worker {
	if w == nil {
		return nil
	}
	c := *w
	c.Written = nil
	return &c
}
