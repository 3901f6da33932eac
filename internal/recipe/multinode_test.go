package recipe

import (
	"testing"
)

const multinode = `name: x
model:
  path: m
  container: "lab/engine:v1" # pinned
identity:
  container: {image: lab/engine:v1}
backend:
  type: loom
  prefill_environment:
    LOOM_A: "1"   # a
    LOOM_B: '2'
  decode_environment: {LOOM_A: "1", LOOM_C: 3}
  loom_config:
    prefill:
      tp-size: 8
      # the list
      sizes:
      - 1
      - 2
      no_warmup: true
    decode:
      tp-size: 4
      tp_rank: {a: 1}
`

func TestSetContainer(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"both", multinode, replaced(multinode, `"lab/engine:v1" #`, `"lab/engine:v2" #`, "image: lab/engine:v1", "image: lab/engine:v2")},
		{"container-alone", "model: {container: lab/engine:v1}\n", "model: {container: lab/engine:v2}\n"},
		{"alias-stays", "model: {container: lab-engine}\nidentity: {container: {image: a/b:c}}\n", "model: {container: lab-engine}\nidentity: {container: {image: lab/engine:v2}}\n"},
		{"base", "base:\n  model:\n    container: a/b:c\noverride_x:\n  name: y\n", "base:\n  model:\n    container: lab/engine:v2\noverride_x:\n  name: y\n"},
	} {
		if got, err := SetContainer([]byte(c.src), "r.yaml", "lab/engine:v2"); err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ name, src, want string }{
		{"alias-alone", "model: {container: lab-engine}\n", `r.yaml: set container: model.container is the alias "lab-engine", which the cluster's file resolves, and no identity.container.image is written`},
		{"nothing", "model: {path: m}\n", "r.yaml: set container: neither model.container nor identity.container.image is written"},
		{"variant", "base: {model: {container: a/b:c}}\nzip_override_x: {model: {container: [a/b:c]}}\n", "r.yaml: zip_override_x.model.container: a variant has an image of its own; edit it by hand"},
		{"yaml-alias", "x: &x {container: a/b:c}\nmodel: *x\n", "r.yaml:2: model: it is the alias *x; edit the place it stands for by hand"},
		{"merge-key", "x: &x {container: a/b:c}\nmodel: {<<: *x}\n", `r.yaml:2: model: key "container" may come from a merge key, which an edit would not change here alone`},
		{"list", "model: {container: [a/b:c]}\n", "r.yaml:1: model.container: want a string, got a list"},
		{"no-map", "- 1\n", "r.yaml:1: want a mapping, got a list"},
	} {
		if got, err := SetContainer([]byte(c.src), "r.yaml", "lab/engine:v2"); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %q, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestMultinodeFlagsAndVariables(t *testing.T) {
	const variants = "base:\n  backend:\n    loom_config:\n      decode: {graph-max: 8, x: 1}\nzip_override_a:\n  backend:\n    loom_config:\n      decode:\n        graph-max: [1, 2]\n        y: 1\noverride_b:\n  name: b\n"
	checkEdits(t, []yamlCase{
		{"rename-flag", multinode, func(y *YAML) error { return y.RenameFlag("loom", "prefill", "--tp-size", "--width") }, replaced(multinode, "tp-size: 8", "width: 8")},
		{"underscores-stay", multinode, func(y *YAML) error { return y.RenameFlag("loom", "prefill", "--no-warmup", "--skip-warm-up") }, replaced(multinode, "no_warmup", "skip_warm_up")},
		{"drop-flag-with-its-list", multinode, func(y *YAML) error { return y.DropFlag("loom", "prefill", "sizes") }, replaced(multinode, "      sizes:\n      - 1\n      - 2\n", "")},
		{"drop-last-flag", multinode, func(y *YAML) error { return y.DropFlag("loom", "decode", "tp-rank") }, replaced(multinode, "      tp_rank: {a: 1}\n", "")},
		{"set-flag", multinode, func(y *YAML) error { return y.SetFlag("loom", "decode", "tp-size", "2") }, replaced(multinode, "tp-size: 4", "tp-size: 2")},
		{"rename-variable", multinode, func(y *YAML) error { return y.RenameVariable("prefill", "LOOM_A", "LOOM_Z") }, replaced(multinode, `LOOM_A: "1"   # a`, `LOOM_Z: "1"   # a`)},
		{"drop-variable", multinode, func(y *YAML) error { return y.DropVariable("decode", "LOOM_A") }, replaced(multinode, `{LOOM_A: "1", `, `{`)},
		{"set-variable", multinode, func(y *YAML) error { return y.SetVariable("prefill", "LOOM_B", "5") }, replaced(multinode, "'2'", "'5'")},
		{"variants-renamed-too", variants, func(y *YAML) error { return y.RenameFlag("loom", "decode", "graph-max", "graph-most") }, replaced(variants, "graph-max", "graph-most", "graph-max", "graph-most")},
		{"variants-dropped-too", variants, func(y *YAML) error { return y.DropFlag("loom", "decode", "graph-max") }, replaced(variants, "graph-max: 8, ", "", "        graph-max: [1, 2]\n", "")},
	})
	checkRefusals(t, []yamlCase{
		{"not-set", multinode, func(y *YAML) error { return y.DropFlag("loom", "decode", "--sizes") }, `r.yaml: backend.loom_config.decode: "sizes" is not set`},
		{"unknown-role", multinode, func(y *YAML) error { return y.DropFlag("loom", "decoder", "sizes") }, `r.yaml: unknown role "decoder" (did you mean "decode"?); known are prefill, decode, aggregated`},
		{"two-spellings", "backend: {loom_config: {decode: {a-b: 1, a_b: 2}}}\n", func(y *YAML) error { return y.DropFlag("loom", "decode", "a-b") }, "r.yaml: backend.loom_config.decode: a-b and a_b are two spellings of one flag"},
		{"shared-role", "backend: {loom_config: {prefill: &p {a: 1, b: 2}, decode: *p}}\n", func(y *YAML) error { return y.DropFlag("loom", "decode", "a") }, "r.yaml:1: backend.loom_config.decode: it is the alias *p; edit the place it stands for by hand"},
		{"merged-role", "x: &x {a: 1}\nbackend: {loom_config: {decode: {<<: *x}}}\n", func(y *YAML) error { return y.DropFlag("loom", "decode", "a") }, `r.yaml:2: backend.loom_config.decode: key "a" may come from a merge key, which an edit would not change here alone`},
		{"variants-differ", variants, func(y *YAML) error { return y.SetFlag("loom", "decode", "graph-max", "9") }, "r.yaml: base.backend.loom_config.decode.graph-max and zip_override_a.backend.loom_config.decode.graph-max: variants have values of their own; edit them by hand"},
		{"no-variable-name", multinode, func(y *YAML) error { return y.RenameVariable("prefill", "LOOM_A", "LOOM-Z") }, `r.yaml: "LOOM-Z" is no name of a variable`},
	})
}
