package recipe

import (
	"slices"
	"testing"
	"testing/fstest"
)

// A worker belongs to the clusters whose own label lists it, else to the one
// that it is named after.
func TestClustersOfARunnerLabel(t *testing.T) {
	r := Runners{Labels: map[string][]string{
		"x9":              {"x9-east_00", "x9-east_01", "x9-west-slurm_3", "x9-old_0"},
		"x9-lone":         {"x9-old_0", "plain"},
		"cluster:x9-west": {"x9-west-slurm_3", "x9-west-slurm_4"},
		"cluster:x9-east": {"x9-east_00"},
	}}
	for label, want := range map[string][]string{
		"x9":              {"x9-east", "x9-old", "x9-west"},
		"x9-lone":         {"plain", "x9-old"},
		"cluster:x9-west": {"x9-west"},
		"cluster:unknown": {"unknown"},
		"x9-east":         {"x9-east"},
		"nosuch":          nil,
	} {
		if got := r.Clusters(label); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", label, got, want)
		}
	}
}

// A multi-node entry names its engine's recipes; those that are checked in count.
func TestEngineFilesOfAnEntry(t *testing.T) {
	pool := func(settings ...string) *Worker { return &Worker{Settings: settings} }
	e := Entry{Multinode: true, Fixed: []FixedBlock{{Search: []Search{
		{Prefill: pool("CONFIG_FILE=recipes/a/one.yaml:override_x", "PREFILL_NODES=1"), Decode: pool("DECODE_NODES=1")},
		{Prefill: pool("CONFIG_FILE=recipes/a/one.yaml"), Decode: pool("CONFIG_FILE=own/two.yaml")},
		{Prefill: pool("CONFIG_FILE=recipes/of-the-launcher.yaml"), Decode: pool("CONFIG_FILE=../outside.yaml")},
	}}}}
	tree := fstest.MapFS{
		"benchmarks/multi_node/srt-slurm-recipes/a/one.yaml": {}, "own/two.yaml": {}, "own/three.yaml": {},
	}
	want := []string{"benchmarks/multi_node/srt-slurm-recipes/a/one.yaml", "own/two.yaml"}
	if got := EngineFiles(tree, "benchmarks", e); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := EngineFiles(tree, "benchmarks", Entry{Fixed: []FixedBlock{{Search: []Search{{TP: 1}}}}}); len(got) != 0 {
		t.Errorf("one node: got %v, want none", got)
	}
}
