package matrix

import (
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

func TestDRAMBudget(t *testing.T) {
	runners := recipe.Runners{Hardware: map[string]recipe.Hardware{
		"cluster:big": {MemoryMiB: 3_095_781, GPUsPerNode: 8}, "cluster:mid": {MemoryMiB: 2_964_436, GPUsPerNode: 8},
		"cluster:old": {MemoryMiB: 1_471_356, GPUsPerNode: 8}, "cluster:four": {MemoryMiB: 860_160, GPUsPerNode: 4},
	}}
	for _, c := range []struct {
		name, runner, share string
		multi               bool
		tp, pp              int
		want                int
		err                 string
	}{
		{"capped", "cluster:big", "0.95", false, 8, 1, 2849, ""},
		{"half-a-node", "cluster:mid", "0.683", false, 4, 1, 1024, ""},
		{"whole-share", "cluster:mid", "1.0", false, 2, 1, 749, ""},
		{"prefill", "cluster:old", "0.8", true, 8, 1, 1234, ""},
		{"prefill-over-nodes", "cluster:four", "0.8", true, 8, 2, 721, ""},
		{"prefill-part", "cluster:four", "0.9", true, 2, 1, 405, ""},
		{"unknown-runner", "cluster:none", "0.9", false, 8, 1, 0, `kv-offloading needs hardware of runner "cluster:none", which the runners file does not describe`},
		{"too-many", "cluster:big", "0.9", false, 16, 1, 0, "kv-offloading: 16 gpus do not fit on a node of 8"},
		{"does-not-tile", "cluster:big", "0.9", true, 6, 1, 0, "kv-offloading: a prefill worker of 6 gpus does not tile nodes of 8"},
		{"no-gpus", "cluster:big", "0.9", false, 0, 1, 0, "tp 0 x pp 1 x pcp-size 1 is not a number of gpus"},
	} {
		s := recipe.Search{TP: c.tp, PP: c.pp, PCP: 1, Offload: "dram"}
		if c.multi {
			s.Prefill = &recipe.Worker{Workers: 2, TP: c.tp, PP: c.pp, PCP: 1}
		}
		got, err := dramBudget(recipe.Entry{Runner: c.runner, Multinode: c.multi}, recipe.AgenticBlock{DRAMUtilization: c.share}, s, runners)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: got %d, %v; want %d, %s", c.name, got, err, c.want, c.err)
		}
	}
}
