package matrix

import (
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// Every entry of every family that cannot be expanded is told at once.
func TestEveryMistakeOfAnExpansionIsTold(t *testing.T) {
	family := func(key, runner string, entries ...recipe.Search) recipe.Family {
		f := recipe.Family{ID: "configs/a-master.yaml:" + key, File: "configs/a-master.yaml", Key: key}
		f.Entry = recipe.Entry{Image: "a/b:1", Model: "m", ModelPrefix: "m", Runner: runner, Precision: "fp8", Framework: "loom",
			Agentic: []recipe.AgenticBlock{{DRAMUtilization: "0.5", Search: entries}}}
		return f
	}
	entry := func(line, tp int) recipe.Search {
		return recipe.Search{Line: line, TP: tp, PP: 1, DCP: 1, PCP: 1, EP: 1, SpecDecoding: "none", Offload: "dram", Backend: &recipe.Component{Name: "tiers"}, List: []int{1}}
	}
	cat := &recipe.Catalogue{
		Families: []recipe.Family{family("one", "cluster:big", entry(4, 16), entry(5, 8), entry(6, 32)), family("two", "cluster:none", entry(9, 8))},
		Runners:  recipe.Runners{Hardware: map[string]recipe.Hardware{"cluster:big": {MemoryMiB: 1 << 20, GPUsPerNode: 8}}},
	}
	rows, _, err := FullSweep(cat, DefaultEvals, Sweep{Mode: NoEvals})
	const want = `configs/a-master.yaml:4: one: kv-offloading: 16 gpus do not fit on a node of 8
configs/a-master.yaml:6: one: kv-offloading: 32 gpus do not fit on a node of 8
configs/a-master.yaml:9: two: kv-offloading needs hardware of runner "cluster:none", which the runners file does not describe`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if rows != nil {
		t.Errorf("got %d rows beside the mistakes", len(rows))
	}
}
