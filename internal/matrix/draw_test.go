package matrix

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/refit-bench/refit/internal/recipe"
)

// drawCatalogue draws families of both node kinds and scenarios, with sizes
// and concurrencies so few that deployments meet. Models belong to one family
// where alone is true, so that no group of eval marking spans families.
func drawCatalogue(t *rapid.T, alone bool) *recipe.Catalogue {
	c := &recipe.Catalogue{Runners: recipe.Runners{
		Labels:   map[string][]string{"cluster:cpu-a": {"cpu-a_0", "cpu-a_1"}, "gpu": {"gpu_0"}},
		Hardware: map[string]recipe.Hardware{"cluster:cpu-a": {MemoryMiB: 1 << 20, GPUsPerNode: 8}},
	}}
	for i := range rapid.IntRange(1, 4).Draw(t, "families") {
		key := fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"laba", "labb"}).Draw(t, "key"), i)
		model := "lab/tiny"
		if alone {
			model = key
		}
		e := recipe.Entry{
			Image: "lab/engine:v1", Model: model, ModelPrefix: "lab", Runner: "cluster:cpu-a", Precision: "fp8", Framework: "sim",
			Multinode: rapid.Bool().Draw(t, "multinode"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "fixed") {
			b := recipe.FixedBlock{ISL: rapid.SampledFrom([]int{1024, 8192}).Draw(t, "isl"), OSL: 1024}
			b.Search = drawSearches(t, e.Multinode, false)
			e.Fixed = append(e.Fixed, b)
		}
		for range rapid.IntRange(0, 2).Draw(t, "agentic") {
			e.Agentic = append(e.Agentic, recipe.AgenticBlock{DRAMUtilization: "0.5", Search: drawSearches(t, e.Multinode, true)})
		}
		c.Families = append(c.Families, recipe.Family{ID: "m.yaml:" + key, File: "m.yaml", Key: key, Line: i + 1, Entry: e})
	}
	return c
}

func drawSearches(t *rapid.T, multi, agentic bool) []recipe.Search {
	var out []recipe.Search
	for i := range rapid.IntRange(1, 3).Draw(t, "entries") {
		s := recipe.Search{Line: i + 1, SpecDecoding: rapid.SampledFrom([]string{"none", "mtp"}).Draw(t, "spec")}
		if multi {
			s.Prefill, s.Decode = drawWorker(t), drawWorker(t)
		} else {
			s.TP, s.EP, s.PP, s.DCP, s.PCP = rapid.IntRange(1, 2).Draw(t, "tp"), rapid.IntRange(1, 2).Draw(t, "ep"), 1, 1, 1
			s.DPAttention = rapid.Bool().Draw(t, "dp-attn")
		}
		if agentic {
			s.Offload = "none"
			if rapid.Bool().Draw(t, "dram") {
				s.Offload, s.Backend = "dram", &recipe.Component{Name: "cache"}
			}
		}
		if rapid.Bool().Draw(t, "range") {
			s.Start = rapid.IntRange(1, 32).Draw(t, "start")
			s.End = s.Start + rapid.IntRange(0, 64).Draw(t, "end")
		} else {
			s.List = rapid.SliceOfN(rapid.SampledFrom([]int{1, 4, 16, 17, 64}), 1, 4).Draw(t, "list")
		}
		out = append(out, s)
	}
	return out
}

func drawWorker(t *rapid.T) *recipe.Worker {
	w := &recipe.Worker{Workers: rapid.IntRange(1, 2).Draw(t, "workers"), TP: 2, PP: 1, DCP: 1, PCP: 1, EP: 1}
	w.Written = []string{"num-worker", "tp", "ep", "dp-attn"}
	return w
}

// drawMode draws what a run does about evals.
func drawMode(t *rapid.T) Mode {
	return rapid.SampledFrom([]Mode{MarkEvals, NoEvals, EvalsOnly, AllEvals, SmokeTest}).Draw(t, "mode")
}
