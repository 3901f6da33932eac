package recipe

import (
	"strings"
	"testing"
	"testing/fstest"
)

const goodMaster = `key-a:
  image: lab/engine:v1
  model: lab/tiny
  model-prefix: tiny
  runner: cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 256
      osl: 64
      search-space:
      - { tp: 1, conc-start: 1, conc-end: 16 }
`

func TestParseMaster(t *testing.T) {
	got, err := ParseMaster([]byte(goodMaster), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := got[0]
	if f.ID != "m.yaml:key-a" || f.Line != 1 || f.Entry.Runner != "cpu" || f.Entry.Fixed[0].ISL != 256 {
		t.Errorf("family: got %+v", f)
	}
	s := f.Entry.Fixed[0].Search[0]
	if s.TP != 1 || s.PP != 1 || s.EP != 1 || s.SpecDecoding != "none" || s.Start != 1 || s.End != 16 || s.Line != 14 {
		t.Errorf("search-space entry: got %+v", s)
	}
}

// Each case changes one thing of the good file.
func TestMasterMistakes(t *testing.T) {
	entry := "{ tp: 1, conc-start: 1, conc-end: 16 }"
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown-field", "precision: fp8", "precision: fp8\n  modl: x", `m.yaml:7:3: key-a: unknown field "modl" (did you mean "model"?)`},
		{"misspelt-field", "model-prefix", "model-perfix", "m.yaml:2:3: key-a: model-prefix is missing\n" + `m.yaml:4:3: key-a: unknown field "model-perfix" (did you mean "model-prefix"?)`},
		{"missing-multinode", "  multinode: false\n", "", "m.yaml:2:3: key-a: multinode is missing"},
		{"multinode-text", "multinode: false", `multinode: "true"`, `m.yaml:8:14: key-a.multinode: want true or false, got "true"`},
		{"number-for-image", "image: lab/engine:v1", "image: 12", `m.yaml:2:10: key-a.image: want a string, got "12" without quotes`},
		{"disagg-single-node", "multinode: false", "multinode: false\n  disagg: true", "m.yaml:9:11: key-a.disagg: must be false when multinode is false"},
		{"transfer-single-node", "multinode: false", "multinode: false\n  kv-p2p-transfer: x", `m.yaml:9:3: key-a: unknown field "kv-p2p-transfer"`},
		{"range-and-list", entry, "{ tp: 1, conc-start: 1, conc-end: 16, conc-list: [1] }", "m.yaml:14:58: key-a.scenarios.fixed-seq-len.search-space.conc-list: not allowed beside conc-start and conc-end"},
		{"half-a-range", entry, "{ tp: 1, conc-start: 1 }", "m.yaml:14:9: key-a.scenarios.fixed-seq-len.search-space: needs conc-start and conc-end, or conc-list"},
		{"range-backwards", entry, "{ tp: 1, conc-start: 8, conc-end: 4 }", "m.yaml:14:30: key-a.scenarios.fixed-seq-len.search-space.conc-start: 8 is greater than conc-end 4"},
		{"empty-list", entry, "{ tp: 1, conc-list: [] }", "m.yaml:14:29: key-a.scenarios.fixed-seq-len.search-space.conc-list: must not be empty"},
		{"zero-concurrency", entry, "{ tp: 1, conc-list: [0] }", "m.yaml:14:30: key-a.scenarios.fixed-seq-len.search-space.conc-list: must be greater than 0, got 0"},
		{"text-for-tp", entry, `{ tp: "8", conc-list: [1] }`, `m.yaml:14:15: key-a.scenarios.fixed-seq-len.search-space.tp: want an integer, got "8"`},
		{"dcp-does-not-divide", entry, "{ tp: 4, dcp-size: 3, conc-list: [1] }", "m.yaml:14:9: key-a.scenarios.fixed-seq-len.search-space: tp 4 is not divisible by dcp-size 3"},
		{"spec-decoding", entry, "{ tp: 1, spec-decoding: mpt, conc-list: [1] }", `m.yaml:14:33: key-a.scenarios.fixed-seq-len.search-space.spec-decoding: want none or mtp or draft_model, got "mpt" (did you mean "mtp"?)`},
		{"router-without-version", entry, "{ tp: 1, router: {name: r}, conc-list: [1] }", "m.yaml:14:26: key-a.scenarios.fixed-seq-len.search-space.router: version is missing"},
		{"router-image", entry, "{ tp: 1, router: {name: r, version: 'image:x'}, conc-list: [1] }", "m.yaml:14:45: key-a.scenarios.fixed-seq-len.search-space.router.version: must be a version, not an image"},
		{"no-scenario", "fixed-seq-len", "fixed-seq-lne", `m.yaml:10:5: key-a.scenarios: unknown field "fixed-seq-lne" (did you mean "fixed-seq-len"?)` + "\nm.yaml:10:5: key-a.scenarios: needs a fixed-seq-len or an agentic-coding block"},
		{"repeated-field", "precision: fp8", "precision: fp8\n  precision: fp4", `m.yaml:7:3: key-a: key "precision" is written twice, first in line 6`},
		{"wildcard-key", "key-a:", "key-*:", "m.yaml:1:1: key-*: a key must not contain *, which is a wildcard"},
		{"alias", "isl: 256\n      osl: 64", "isl: &n 256\n      osl: *n", "m.yaml:12:12: key-a.scenarios.fixed-seq-len.osl: want an integer, got an alias (anchors and aliases are not supported)"},
		{"octal", "isl: 256", "isl: 0256", `m.yaml:11:12: key-a.scenarios.fixed-seq-len.isl: want a decimal integer, got "0256"`},
		{"huge", "isl: 256", "isl: 99999999999", `m.yaml:11:12: key-a.scenarios.fixed-seq-len.isl: integer "99999999999" is out of range`},
		{"broken-yaml", "image: lab/engine:v1", "image: [", "m.yaml:2: did not find expected ',' or ']'"},
	} {
		src := strings.Replace(goodMaster, c.old, c.new, 1)
		if src == goodMaster {
			t.Fatalf("%s: the case changes nothing", c.name)
		}
		_, err := ParseMaster([]byte(src), "m.yaml")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestMasterRulesOfOtherShapes(t *testing.T) {
	head := "k:\n  image: i\n  model: m\n  model-prefix: p\n  runner: cluster:x\n  precision: fp8\n  framework: f\n"
	worker := "{ num-worker: 1, tp: 8, ep: 1, dp-attn: false }"
	for _, c := range []struct{ name, rest, want string }{
		{"agentic", "  multinode: false\n  scenarios: {agentic-coding: [{dram-utilization: 0.8, search-space: [{tp: 8, kv-offloading: dram, kv-offload-backend: {name: b}, conc-list: [4]}]}]}\n", ""},
		{"agentic-without-utilization", "  multinode: false\n  scenarios: {agentic-coding: [{search-space: [{tp: 8, kv-offloading: dram, kv-offload-backend: {name: b}, conc-list: [4]}]}]}\n", "dram-utilization is needed where kv-offloading is dram"},
		{"agentic-utilization-above-one", "  multinode: false\n  scenarios: {agentic-coding: [{dram-utilization: 1.5, search-space: [{tp: 8, kv-offloading: none, conc-list: [4]}]}]}\n", `want a decimal number greater than 0 and at most 1, got "1.5"`},
		{"agentic-duration", "  multinode: false\n  scenarios: {agentic-coding: [{duration: 60, search-space: [{tp: 8, kv-offloading: none, conc-list: [4]}]}]}\n", `unknown field "duration"`},
		{"agentic-without-offloading", "  multinode: false\n  scenarios: {agentic-coding: [{search-space: [{tp: 8, conc-list: [4]}]}]}\n", "kv-offloading is missing"},
		{"backend-without-offloading", "  multinode: false\n  scenarios: {agentic-coding: [{search-space: [{tp: 8, kv-offloading: none, kv-offload-backend: {name: b}, conc-list: [4]}]}]}\n", "not allowed without kv-offloading: dram"},
		{"workers-in-single-node", "  multinode: false\n  scenarios: {agentic-coding: [{search-space: [{prefill: " + worker + ", decode: " + worker + ", conc-list: [4]}]}]}\n", "prefill and decode are the shape of multinode: true, but multinode is false: write tp"},
		{"disagg", "  multinode: true\n  disagg: true\n  kv-p2p-transfer: t\n  scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: [{prefill: " + worker + ", decode: " + worker + ", conc-list: [4]}]}]}\n", ""},
		{"disagg-without-transfer", "  multinode: true\n  disagg: true\n  scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: [{prefill: " + worker + ", decode: " + worker + ", conc-list: [4]}]}]}\n", "needs kv-p2p-transfer for the entry or in every search-space entry"},
		{"transfer-twice", "  multinode: true\n  kv-p2p-transfer: t\n  scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: [{kv-p2p-transfer: u, prefill: " + worker + ", decode: " + worker + ", conc-list: [4]}]}]}\n", "kv-p2p-transfer is set both for the entry and in its search-space"},
		{"router-twice", "  multinode: true\n  router: {name: r, version: '1'}\n  scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: [{router: {name: r, version: '1'}, prefill: " + worker + ", decode: " + worker + ", conc-list: [4]}]}]}\n", "router is set both for the entry and in its search-space"},
		{"one-hardware", "  multinode: true\n  scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: [{prefill: { num-worker: 1, tp: 8, ep: 1, dp-attn: false, hardware: h }, decode: " + worker + ", conc-list: [4]}]}]}\n", "hardware must be set for both prefill and decode or for neither"},
		{"worker-without-ep", "  multinode: true\n  scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: [{prefill: { num-worker: 1, tp: 8, dp-attn: false }, decode: " + worker + ", conc-list: [4]}]}]}\n", "ep is missing"},
	} {
		_, err := ParseMaster([]byte(head+c.rest), "m.yaml")
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)):
			t.Errorf("%s: got %v, want ... %s", c.name, err, c.want)
		}
	}
	if _, err := ParseMaster([]byte(strings.Replace(head, "cluster:x", "x", 1)+"  multinode: false\n  scenarios: {agentic-coding: [{search-space: [{tp: 8, kv-offloading: none, conc-list: [4]}]}]}\n"), "m.yaml"); err == nil {
		t.Error("an agentic entry on a runner without cluster: was accepted")
	}
}

func TestLoadReportsEverything(t *testing.T) {
	fsys := fstest.MapFS{
		"configs/a-master.yaml": {Data: []byte(strings.Replace(goodMaster, "tp: 1", "tpp: 1", 1))},
		"configs/b-master.yaml": {Data: []byte(strings.Replace(goodMaster, "isl: 256", "isl: x", 1))},
		"configs/runners.yaml":  {Data: []byte("labels: {cpu: []}\nhardware: {cpu: {gpus-per-node: 0}}\nextra: 1\n")},
	}
	_, err := Load(fsys, []string{"configs/*-master.yaml"}, "configs/runners.yaml")
	want := `configs/a-master.yaml:14:9: key-a.scenarios.fixed-seq-len.search-space: tp is missing
configs/a-master.yaml:14:11: key-a.scenarios.fixed-seq-len.search-space: unknown field "tpp" (did you mean "tp"?)
configs/b-master.yaml:11:12: key-a.scenarios.fixed-seq-len.isl: want an integer, got "x"
configs/b-master.yaml:1: key-a: key is also in configs/a-master.yaml:1
configs/runners.yaml:1:15: labels.cpu: must list at least one runner
configs/runners.yaml:2:17: hardware.cpu: available-cpu-dram-mib is missing
configs/runners.yaml:2:33: hardware.cpu.gpus-per-node: must be greater than 0, got 0
configs/runners.yaml:3:1: unknown field "extra"`
	if err == nil || err.Error() != want {
		t.Errorf("Load:\n got %v\nwant %s", err, want)
	}
	_, err = Load(fsys, []string{"conf/*.yaml", "configs/[.yaml", "configs/none.yaml"}, "runners.yaml")
	want = `master files "conf/*.yaml": file does not exist
master files "configs/[.yaml": syntax error in pattern
master files "configs/none.yaml": file does not exist
read runners.yaml: file does not exist`
	if err == nil || err.Error() != want {
		t.Errorf("files that are not there:\n got %v\nwant %s", err, want)
	}
	if _, err := Load(fstest.MapFS{"runners.yaml": {Data: []byte("labels: {}\n")}}, nil, "runners.yaml"); err == nil || err.Error() != "no master file is named" {
		t.Errorf("no master: got %v", err)
	}
}

func FuzzParseMaster(f *testing.F) {
	f.Add([]byte(goodMaster))
	f.Add([]byte("a: &x [*x]\n"))
	f.Add([]byte("? {a: b}\n: c\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		families, err := ParseMaster(src, "m.yaml")
		if err != nil && !strings.HasPrefix(err.Error(), "m.yaml:") {
			t.Errorf("error without a place: %v", err)
		}
		for _, s := range families {
			_ = s.Entry.searches()
		}
	})
}
