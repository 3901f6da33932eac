package matrix

import (
	"errors"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// nodesCatalogue has one multi-node entry: 3 prefill workers and 1 decode
// worker of 8 GPUs each, on a label, with settings.
func nodesCatalogue(runner string, settings ...string) *recipe.Catalogue {
	s := multiSearch(1, 4)
	s.Line = 7
	s.Prefill.Workers, s.Prefill.TP, s.Prefill.PP, s.Decode.TP, s.Decode.PCP = 3, 4, 2, 4, 2
	s.Prefill.Settings = settings
	c := multiCatalogue()
	c.Families[0].Entry.Runner = runner
	c.Families[0].Entry.Fixed[0].Search = []recipe.Search{s}
	c.Families[0].Entry.Agentic = nil
	c.Runners.Hardware = map[string]recipe.Hardware{
		"cluster:cpu-a": {GPUsPerNode: 8}, "cpu-b": {GPUsPerNode: 8}, "cluster:odd-a": {GPUsPerNode: 5},
		"mix-a": {GPUsPerNode: 4}, "cluster:mix-b": {GPUsPerNode: 8}, "mix-exact": {GPUsPerNode: 2},
	}
	return c
}

func TestNodeCount(t *testing.T) {
	checkedIn := func(file string) (int, bool, error) {
		switch file {
		case "recipes/a.yaml:variant":
			return 9, true, nil
		case "recipes/bad.yaml":
			return 0, true, errors.New("recipes/bad.yaml:3: no number of nodes")
		}
		return 0, false, nil
	}
	for _, o := range []struct {
		name     string
		runner   string
		settings []string
		want     int
		err      string
	}{
		{"exact-label", "cluster:cpu-a", nil, 4, ""},
		{"pools-rounded-up-one-by-one", "cluster:odd-a", nil, 5 + 2, ""},
		{"kind-of-gpu", "cpu-other", nil, 4, ""},
		{"kind-of-gpu-of-a-cluster", "cluster:cpu", nil, 4, ""},
		{"exact-before-kind", "mix-exact", nil, 16, ""},
		{"both-settings", "unknown", []string{"PREFILL_NODES=5", "DECODE_NODES=2"}, 7, ""},
		{"one-setting", "cpu-b", []string{"PREFILL_NODES=5"}, 6, ""},
		{"last-setting-counts", "cpu-b", []string{"PREFILL_NODES=5", "PREFILL_NODES=6"}, 7, ""},
		{"file-that-is-elsewhere", "cpu-b", []string{"CONFIG_FILE=recipes/b.yaml"}, 4, ""},
		{"file-before-settings", "unknown", []string{"PREFILL_NODES=5", "CONFIG_FILE=recipes/a.yaml:variant"}, 9, ""},
		{"file-without-total", "cpu-b", []string{"CONFIG_FILE=recipes/bad.yaml"}, 0, "recipes/bad.yaml:3: no number of nodes"},
		{"no-label", "unknown", nil, 0, `prefill: gpus-per-node of runner "unknown" is missing: describe it, or any unknown-... label, under hardware of the runners file; or write PREFILL_NODES=N into its additional-settings`},
		{"no-label-for-decode", "unknown", []string{"PREFILL_NODES=1"}, 0, `decode: gpus-per-node of runner "unknown" is missing: describe it, or any unknown-... label, under hardware of the runners file; or write DECODE_NODES=N into its additional-settings`},
		{"ambiguous", "mix-c", nil, 0, `prefill: gpus-per-node of runner "mix-c" is ambiguous (cluster:mix-b has 8, mix-a has 4, mix-exact has 2): describe it under hardware of the runners file; or write PREFILL_NODES=N into its additional-settings`},
		{"no-number", "cpu-b", []string{"DECODE_NODES=two"}, 0, "decode: DECODE_NODES=two: want a number of nodes"},
		{"negative", "cpu-b", []string{"DECODE_NODES=-1"}, 0, "decode: DECODE_NODES=-1: want a number of nodes"},
		{"none-at-all", "cpu-b", []string{"PREFILL_NODES=0", "DECODE_NODES=0"}, 0, "prefill and decode together take no node"},
	} {
		rows, _, err := FullSweep(nodesCatalogue(o.runner, o.settings...), DefaultEvals, Sweep{Filter: Filter{NodeCount: true, NodeTotal: checkedIn}, Mode: MarkEvals})
		if o.err != "" {
			if want := "m.yaml:7: lab-m: node-count: " + o.err; err == nil || err.Error() != want {
				t.Errorf("%s: got %v\nwant %s", o.name, err, want)
			}
			continue
		}
		if err != nil || len(rows) != 1 || rows[0].Int("node-count") != o.want {
			t.Errorf("%s: got %v, %v; want node-count %d", o.name, rows, err, o.want)
		}
	}
}

// A pool without workers takes no node, whatever its size; huge numbers are no
// overflow but an error.
func TestNodeCountOfUnusualPools(t *testing.T) {
	for workers, want := range map[int]int{0: 3, 1: 4} {
		c := nodesCatalogue("cpu-b")
		c.Families[0].Entry.Fixed[0].Search[0].Decode.Workers = workers
		rows := sweepOf(t, c, Sweep{Filter: Filter{NodeCount: true}, Mode: NoEvals})
		if got := rows[0].Int("node-count"); got != want {
			t.Errorf("%d decode workers: got %d nodes, want %d", workers, got, want)
		}
	}
	c := nodesCatalogue("cpu-b")
	w := c.Families[0].Entry.Fixed[0].Search[0].Prefill
	w.Workers, w.TP, w.PP = 1<<31-1, 1<<31-1, 1<<31-1
	if _, _, err := FullSweep(c, DefaultEvals, Sweep{Filter: Filter{NodeCount: true}, Mode: NoEvals}); err == nil {
		t.Error("a number of nodes that cannot be: got no error")
	}
}

// Every multi-node row of the published catalogue has a number of nodes; no
// other row has one, and nothing else of a row changes.
func TestNodeCountOfThePublishedCatalogue(t *testing.T) {
	c := catalogue(t, "inferencex")
	plain := sweepOf(t, c, Sweep{Mode: MarkEvals})
	rows := sweepOf(t, c, Sweep{Filter: Filter{NodeCount: true}, Mode: MarkEvals})
	for i, r := range rows {
		if got := r.Int("node-count") > 0; got != r.multinode() {
			t.Errorf("%s: node-count: got %v, multi-node %v", r.Str("exp-name"), got, r.multinode())
		}
		if !r.without("node-count").Equal(plain[i]) {
			t.Errorf("%s differs in more than node-count", r.Str("exp-name"))
		}
	}
}
