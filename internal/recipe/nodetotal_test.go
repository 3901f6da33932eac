package recipe

import (
	"testing"
	"testing/fstest"
)

func TestNodeTotals(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"recipes/own.yaml":      "resources: {prefill_nodes: 2, decode_nodes: 5, gpus_per_node: 4}\n",
		"recipes/agg.yaml":      "name: x\nresources:\n  agg_nodes: 3\n",
		"recipes/second.yaml":   "schema: 2\nroles:\n  prefill: {nodes: 1, workers: 2}\n  decode: {nodes: 4}\n",
		"recipes/many.yaml":     "base:\n  resources: {agg_nodes: 2}\noverride_more:\n  resources: {agg_nodes: 4}\noverride_tokens:\n  benchmark: {isl: 1}\nzip_override_all:\n  resources: {agg_nodes: [5, 6]}\n",
		"recipes/shared.yaml":   "x: &x {agg_nodes: 4}\ny: &y {agg_nodes: 9}\nresources: {<<: [*x, *y]}\n",
		"recipes/alias.yaml":    "x: &x {agg_nodes: 4}\nresources: *x\n",
		"recipes/own-wins.yaml": "x: &x {agg_nodes: 4}\nresources: {<<: *x, agg_nodes: 6}\n",
		"recipes/round.yaml":    "base: &b {<<: *b, resources: {agg_nodes: 2}}\nresources: {<<: [*b, *b], agg_nodes: 3}\n",
		"recipes/none.yaml":     "# a comment\nname: x\n",
		"recipes/word.yaml":     "resources: {agg_nodes: three}\n",
		"recipes/broken.yaml":   "a: [\n",
		"recipes/list.yaml":     "- a\n",
		"scripts/multi_node/srt-slurm-recipes/sim/over.yaml": "resources: {agg_nodes: 7}\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	total := NodeTotals(files, "scripts")
	for _, c := range []struct {
		setting string
		nodes   int
		found   bool
		err     string
	}{
		{"recipes/own.yaml", 7, true, ""},
		{"./recipes/own.yaml", 7, true, ""},
		{"recipes/agg.yaml", 3, true, ""},
		{"recipes/second.yaml", 5, true, ""},
		{"recipes/sim/over.yaml", 7, true, ""},
		{"recipes/many.yaml", 2, true, ""},
		{"recipes/many.yaml:override_tokens", 2, true, ""},
		{"recipes/many.yaml:override_more", 4, true, ""},
		{"recipes/many.yaml:zip_override_all[0]", 5, true, ""},
		{"recipes/many.yaml:zip_override_all[1]", 6, true, ""},
		{"recipes/many.yaml:override_other", 0, true, `recipes/many.yaml:1: no variant "override_other" in the file`},
		{"recipes/shared.yaml", 4, true, ""},
		{"recipes/alias.yaml", 4, true, ""},
		{"recipes/own-wins.yaml", 6, true, ""},
		{"recipes/round.yaml", 2, true, ""},
		{"recipes/elsewhere.yaml", 0, false, ""},
		{"../recipes/own.yaml", 0, false, ""},
		{"/etc/hostname", 0, false, ""},
		{"", 0, false, ""},
		{"recipes/none.yaml", 0, true, "recipes/none.yaml:2: no number of nodes: want resources.prefill_nodes and decode_nodes, resources.agg_nodes, or roles.*.nodes"},
		{"recipes/word.yaml", 0, true, `recipes/word.yaml:1:24: resources.agg_nodes: want an integer, got "three"`},
		{"recipes/broken.yaml", 0, true, "recipes/broken.yaml:2: did not find expected node content"},
		{"recipes/list.yaml", 0, true, "recipes/list.yaml:1: want a mapping"},
	} {
		nodes, found, err := total(c.setting)
		if nodes != c.nodes || found != c.found || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%q: got %d, %v, %v; want %d, %v, %s", c.setting, nodes, found, err, c.nodes, c.found, c.err)
		}
	}
}
