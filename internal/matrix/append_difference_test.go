package matrix

import (
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// The same value written otherwise, in another place, is no difference; every
// other field is, and is named.
func TestDifference(t *testing.T) {
	entry := func(change func(*recipe.Entry)) recipe.Entry {
		e := recipe.Entry{Image: "i", Agentic: []recipe.AgenticBlock{{Line: 3, DRAMUtilization: "0.90", Search: []recipe.Search{{Line: 4, Column: 5, TP: 1}}}}}
		change(&e)
		return e
	}
	same := func(*recipe.Entry) {}
	for _, c := range []struct {
		want   string
		change func(*recipe.Entry)
	}{
		{"", same},
		{"", func(e *recipe.Entry) {
			e.Agentic[0].DRAMUtilization, e.Agentic[0].Line, e.Agentic[0].Search[0].Column = "0.9", 9, 9
		}},
		{"image", func(e *recipe.Entry) { e.Image = "j" }},
		{"router", func(e *recipe.Entry) { e.Router = &recipe.Component{Name: "r", Version: "1"} }},
		{"kv-p2p-transfer", func(e *recipe.Entry) { e.Transfer = "pipe" }},
		{"block 1 of agentic-coding", func(e *recipe.Entry) { e.Agentic[0].DRAMUtilization = "0.91" }},
		{"block 1 of agentic-coding", func(e *recipe.Entry) { e.Agentic[0].Search[0].TP = 2 }},
		{"the number of blocks of fixed-seq-len (1, 0 at the base)", func(e *recipe.Entry) { e.Fixed = []recipe.FixedBlock{{}} }},
	} {
		if got := difference(entry(same), entry(c.change)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
