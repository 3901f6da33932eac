package matrix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

const explainMaster = `one-fp8-box-loom:
  image: lab/loom:v1
  model: lab/one
  model-prefix: one
  runner: box
  precision: fp8
  framework: loom
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - { tp: 1, conc-start: 4, conc-end: 100 }
      - tp: 2
        ep: null
        dp-attn: true
        conc-list: [16, 8]
    - isl: 1024
      osl: 1024
      search-space:
      - { tp: 1, conc-list: [64] }
      - { tp: 1, pp: 1, conc-list: [64] }
two-fp8-box-loom-agentic:
  image: lab/loom:v1
  model: lab/two
  model-prefix: two
  runner: cluster:box-west
  precision: fp8
  framework: loom
  multinode: false
  router: { name: road, version: "1.0" }
  scenarios:
    agentic-coding:
    - dram-utilization: 0.8
      search-space:
      - { tp: 4, kv-offloading: dram, kv-offload-backend: { name: shelf }, conc-list: [8] }
      - { tp: 4, kv-offloading: none, spec-decoding: mtp, conc-list: [16] }
three-fp8-box-loom-agentic:
  image: lab/loom:v1
  model: lab/two
  model-prefix: three
  runner: cluster:box-west
  precision: fp8
  framework: loom
  multinode: false
  scenarios:
    agentic-coding:
    - search-space:
      - { tp: 4, kv-offloading: none, conc-list: [32] }
four-fp8-box-loom-disagg:
  image: lab/loom:v1
  model: lab/four
  model-prefix: four
  runner: box
  precision: fp8
  framework: loom
  multinode: true
  disagg: true
  kv-p2p-transfer: wire
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - conc-list: [8, 64, 32]
        prefill: { num-worker: 2, tp: 4, ep: 4, dp-attn: true, additional-settings: ["A=1"] }
        decode:
          num-worker: 1
          tp: 8
          ep: 8
          dp-attn: true
`

const explainRunners = `labels:
  box: [box_00, box_01]
  cluster:box-west: [box-west_00]
hardware:
  cluster:box-west:
    available-cpu-dram-mib: 1_000_000
    gpus-per-node: 8
`

// explained is the explanation of one point of the catalogue above.
func explained(t *testing.T, name string) Explanation {
	t.Helper()
	families, err := recipe.ParseMaster([]byte(explainMaster), "configs/x-master.yaml")
	if err != nil {
		t.Fatal(err)
	}
	runners, err := recipe.ParseRunners([]byte(explainRunners), "configs/runners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cat := &recipe.Catalogue{Families: families, Runners: runners}
	found, err := FindPoint(cat, DefaultEvals, name, 0)
	if err != nil {
		t.Fatal(err)
	}
	src := Sources{LengthsFrom: "default", FloorFrom: "refit.yaml:4"}
	for text, into := range map[string]*recipe.Places{explainMaster: &src.Master, explainRunners: &src.Runners} {
		file := "configs/x-master.yaml"
		if text == explainRunners {
			file = "configs/runners.yaml"
		}
		if *into, err = recipe.ReadPlaces([]byte(text), file); err != nil {
			t.Fatal(err)
		}
	}
	e, err := Explain(cat, found.Family, found.Point, DefaultEvals, src)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExplainValues(t *testing.T) {
	const master = "configs/x-master.yaml:"
	for _, c := range []struct {
		point, value string
		want         Value
	}{
		{"one-fp8-box-loom:100", "image", Value{Value: "lab/loom:v1", From: Written, At: master + "2"}},
		{"one-fp8-box-loom:100", "tp", Value{Value: int64(1), From: Written, At: master + "14"}},
		{"one-fp8-box-loom:100", "pp", Value{Value: int64(1), From: Default, How: "1 where the entry does not write it"}},
		{"one-fp8-box-loom:100", "conc", Value{Value: int64(100), From: Derived, At: master + "14",
			How: "conc-start 4 (line 14) doubled up to conc-end 100 (line 14), the end always included: 4 8 16 32 64 100"}},
		{"one-fp8-box-loom:100", "max-model-len", Value{Value: int64(9472), From: Derived, How: "isl + osl + 256 = 8192 + 1024 + 256"}},
		{"one-fp8-box-loom:100", "exp-name", Value{Value: "one_8k1k", From: Derived, How: "model-prefix, and the name 8k1k of lengths 8192 and 1024"}},
		{"one-fp8-box-loom:100", "disagg", Value{Value: false, From: Default, How: "false where the family does not write it"}},
		{"one-fp8-box-loom:" + key6(t, "one-fp8-box-loom", "8192/1024 c8 TP2 EP1"), "ep", Value{Value: int64(1), From: Default, At: master + "16",
			How: "1 where the entry does not write it or writes null"}},
		{"one-fp8-box-loom:" + key6(t, "one-fp8-box-loom", "8192/1024 c8 TP2 EP1"), "conc", Value{Value: int64(8), From: Written, At: master + "18",
			How: "number 2 of 2 of conc-list"}},
		{"two-fp8-box-loom-agentic:8", "total-cpu-dram-gb", Value{Value: int64(419), From: Derived, At: "configs/runners.yaml:5",
			How: "1000000 MiB x 1048576 x dram-utilization 0.8 (" + master + "35) x 4 of 8 gpus of a node / 1000000000, rounded down"}},
		{"two-fp8-box-loom-agentic:16", "total-cpu-dram-gb", Value{Value: int64(0), From: Derived, How: "0 where kv-offloading is not dram"}},
		{"two-fp8-box-loom-agentic:8", "exp-name", Value{Value: "two_tp4_conc8_kvdram-shelf", From: Derived,
			How: "model-prefix, tp, conc, the offloading and its back-end, and spec-decoding if there is any"}},
		{"two-fp8-box-loom-agentic:8", "scenario-type", Value{Value: "agentic-coding", From: Written, At: master + "34"}},
		{"two-fp8-box-loom-agentic:16", "spec-decoding", Value{Value: "mtp", From: Written, At: master + "38"}},
		{"two-fp8-box-loom-agentic:16", "duration", Value{Value: int64(3600), From: Derived, How: "a trace is always replayed for 3600 s"}},
		{"four-fp8-box-loom-disagg:64", "prefill.num-worker", Value{Value: int64(2), From: Written, At: master + "67"}},
		{"four-fp8-box-loom-disagg:64", "decode.tp", Value{Value: int64(8), From: Written, At: master + "70"}},
		{"four-fp8-box-loom-disagg:64", "decode.pp", Value{Value: int64(1), From: Default, How: "1 where the worker does not write it"}},
		{"four-fp8-box-loom-disagg:64", "kv-p2p-transfer", Value{Value: "wire", From: Written, At: master + "60",
			How: "the family's, for entries without one of their own"}},
		{"four-fp8-box-loom-disagg:64", "disagg", Value{Value: true, From: Written, At: master + "59"}},
	} {
		c.want.Name = c.value
		found := false
		for _, v := range explained(t, c.point).Values {
			if v.Name == c.value {
				found = true
				if fmt.Sprintf("%#v", v) != fmt.Sprintf("%#v", c.want) {
					t.Errorf("%s %s:\n got %#v\nwant %#v", c.point, c.value, v, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%s has no value %s", c.point, c.value)
		}
	}
}

// key6 is the end of the label that begins so.
func key6(t *testing.T, family, label string) string {
	t.Helper()
	families, err := recipe.ParseMaster([]byte(explainMaster), "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.Key != family {
			continue
		}
		points, _, err := Points(f, recipe.Runners{}, DefaultEvals)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			if strings.HasPrefix(p.Label(), label+" ") {
				return p.Key[:6]
			}
		}
	}
	t.Fatalf("no point %q", label)
	return ""
}

func TestExplainEvals(t *testing.T) {
	low := "one-fp8-box-loom:" + key6(t, "one-fp8-box-loom", "8192/1024 c8 TP1 EP1")
	for _, c := range []struct {
		point     string
		evaluated bool
		why       string
		group     int
	}{
		{low, false, "concurrency 8 is below the floor of 16 (evals.floor: refit.yaml:4)", 0},
		{"one-fp8-box-loom:100", true, "highest of the concurrencies of its group: 16 32 64 100", 4},
		{"one-fp8-box-loom:" + key6(t, "one-fp8-box-loom", "8192/1024 c64 TP1 EP1"), true,
			"upper median, number 3 of 4, of the concurrencies of its group: 16 32 64 100", 4},
		{"one-fp8-box-loom:32", false, "neither the highest (100) nor the upper median (64) of the concurrencies of its group: 16 32 64 100", 4},
		{"one-fp8-box-loom:" + key6(t, "one-fp8-box-loom", "8192/1024 c16 TP2 EP1"), true, // dp-attn parts the groups
			"highest and upper median of the concurrencies of its group: 16", 1},
		{"one-fp8-box-loom:" + key6(t, "one-fp8-box-loom", "1024/1024 c64 TP1 EP1"), false,
			"lengths 1024/1024 are not evaluated, 8192/1024 are (evals.lengths: default)", 0},
		{"two-fp8-box-loom-agentic:16", true, "highest of the concurrencies of its group: 8 16", 2},
		{"two-fp8-box-loom-agentic:8", false, "not the highest (16) of the concurrencies of its group: 8 16", 2},
		{"four-fp8-box-loom-disagg:64", true, "highest of the concurrencies of its group: 32 64", 2},
		{"four-fp8-box-loom-disagg:8", false, "concurrency 8 is below the floor of 16 (evals.floor: refit.yaml:4)", 0},
	} {
		e := explained(t, c.point).Eval
		if e.Evaluated != c.evaluated || e.Why != c.why || len(e.Group) != c.group {
			t.Errorf("%s: got %t %q with a group of %d, want %t %q of %d", c.point, e.Evaluated, e.Why, len(e.Group), c.evaluated, c.why, c.group)
		}
	}
	const want = "swept together with three-fp8-box-loom-agentic, whose concurrency 32 of the same group goes before it, it is not evaluated"
	if e := explained(t, "two-fp8-box-loom-agentic:16").Eval; e.Elsewhere != want {
		t.Errorf("elsewhere: got %q, want %q", e.Elsewhere, want)
	}
}

func TestExplainIdentity(t *testing.T) {
	e := explained(t, "one-fp8-box-loom:"+key6(t, "one-fp8-box-loom", "1024/1024 c64 TP1 EP1"))
	if len(e.Again) != 1 || e.Again[0] != "configs/x-master.yaml:23" {
		t.Errorf("listed again: got %q", e.Again)
	}
	if got := digest([]byte(e.KeyText)); got != e.Key {
		t.Errorf("the key %s is not the hash of its text, %s", e.Key, got)
	}
	if got := digest([]byte(e.FingerprintText)); got != e.Fingerprint {
		t.Errorf("the fingerprint %s is not the hash of its text, %s", e.Fingerprint, got)
	}
	if e.Runner.At != "configs/runners.yaml:2" || strings.Join(e.Runner.Machines, " ") != "box_00 box_01" {
		t.Errorf("runner: got %+v", e.Runner)
	}
	var b strings.Builder
	e.Text(&b, false)
	for _, want := range []string{"the same point is listed again at configs/x-master.yaml:23, and is measured once\n",
		"runner       box (configs/runners.yaml:2): box_00 box_01\n", "key          " + e.Key + "\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, b.String())
		}
	}
}

func TestFindPoint(t *testing.T) {
	families, err := recipe.ParseMaster([]byte(explainMaster), "configs/x-master.yaml")
	if err != nil {
		t.Fatal(err)
	}
	runners, err := recipe.ParseRunners([]byte(explainRunners), "r")
	if err != nil {
		t.Fatal(err)
	}
	cat := &recipe.Catalogue{Families: families, Runners: runners}
	six := key6(t, "one-fp8-box-loom", "8192/1024 c100 TP1 EP1")
	check := func(name string, conc int, label, message string) {
		t.Helper()
		found, err := FindPoint(cat, DefaultEvals, name, conc)
		if err != nil {
			if !strings.HasPrefix(err.Error(), message) || message == "" {
				t.Errorf("%s: got %q, want %q", name, err, message)
			}
			return
		}
		if got := found.Family.Key + " " + found.Point.Label(); !strings.HasPrefix(got, label) || label == "" {
			t.Errorf("%s: got %q, want %q %q", name, got, label, message)
		}
	}
	check(six, 0, "one-fp8-box-loom 8192/1024 c100 TP1", "")
	check(six, 8, "", `"`+six+`" has no point of concurrency 8; it has 100`)
	check("configs/x-master.yaml:one-fp8-box-loom:100", 0, "one-fp8-box-loom 8192/1024 c100", "")
	check("one-fp8-box-loom", 32, "one-fp8-box-loom 8192/1024 c32", "")
	check("two_tp4_conc8_kvdram-shelf", 0, "two-fp8-box-loom-agentic AgentX c8", "")
	check("one-fp8-box-loom:7", 0, "", `family one-fp8-box-loom has no point "7"; its concurrencies are 4 8 16 32 64 100`)
	check("one-fp8-box-loom:x", 0, "", `"x" behind one-fp8-box-loom: want a concurrency, or at least 6 digits of a key`)
	check("one-fp8-box-lom:4", 0, "", `no point "one-fp8-box-lom:4" (did you mean "one-fp8-box-loom"?)`)
	check("two_tp4_conc8_kvdram-self", 0, "", `no point "two_tp4_conc8_kvdram-self" (did you mean "two_tp4_conc8_kvdram-shelf"?)`)
	check("abcdef", 0, "", `no point "abcdef"; a point is named by`)
	check("one_8k1k", 0, "", `"one_8k1k" names 8 points; say which as FAMILY:KEY, KEY being the last word of its line:`+"\n  one-fp8-box-loom  8192/1024 c4 TP1 EP1 ")
	if _, err := FindPoint(cat, DefaultEvals, "one_8k1k", 0); !errors.As(err, new(Ambiguous)) {
		t.Errorf("got %T, want an Ambiguous", err)
	}
}

// The written values of every fourth point of each published family stand where
// the explanation says, and the reason for its eval agrees with its mark.
func TestExplainThePublishedCatalogue(t *testing.T) {
	cat := catalogue(t, "inferencex")
	dir := filepath.Join(shared(t), "data", "inferencex")
	lines, files := map[string][]string{}, map[string]recipe.Places{}
	for _, file := range []string{"configs/amd-master.yaml", "configs/nvidia-master.yaml", "configs/runners.yaml"} {
		src, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		lines[file] = strings.Split(string(src), "\n")
		if files[file], err = recipe.ReadPlaces(src, file); err != nil {
			t.Fatal(err)
		}
	}
	values, evaluated := 0, 0
	for _, f := range cat.Families {
		points, _, err := Points(f, cat.Runners, DefaultEvals)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range points {
			if i%4 != 0 {
				continue
			}
			e, err := Explain(cat, f, p, DefaultEvals, Sources{Master: files[f.File], Runners: files["configs/runners.yaml"]})
			if err != nil {
				t.Fatal(err)
			}
			values += checkPlaces(t, e, lines)
			because := strings.HasPrefix(e.Eval.Why, "highest ") || strings.HasPrefix(e.Eval.Why, "upper median,")
			if e.Eval.Evaluated != p.Eval || because != p.Eval {
				t.Errorf("%s %s: marked %t, but %q", f.Key, p.Label(), p.Eval, e.Eval.Why)
			}
			if p.Eval {
				evaluated++
			}
		}
	}
	if values < 10000 || evaluated < 100 {
		t.Errorf("%d values and %d evaluated points were seen, want at least 10000 and 100", values, evaluated)
	}
}

// checkPlaces holds the values that stand in a file against its lines.
func checkPlaces(t *testing.T, e Explanation, lines map[string][]string) int {
	t.Helper()
	for _, v := range e.Values {
		if v.From != Written {
			if v.How == "" {
				t.Errorf("%s %s: %s has neither place nor rule", e.Family, e.Label, v.Name)
			}
			continue
		}
		file, number, _ := strings.Cut(v.At, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n > len(lines[file]) {
			t.Errorf("%s %s: %s is written at %q", e.Family, e.Label, v.Name, v.At)
			continue
		}
		want := v.Name[strings.LastIndexByte(v.Name, '.')+1:] + ":"
		switch v.Name {
		case "conc":
			want = strconv.Itoa(conc(v.Value))
		case "scenario-type":
			want = "agentic-coding:"
		}
		if line := lines[file][n-1]; !strings.Contains(line, want) {
			t.Errorf("%s %s: %s is said to stand at %s, which is %q", e.Family, e.Label, v.Name, v.At, line)
		}
	}
	return len(e.Values)
}

func conc(v any) int {
	if list, ok := v.([]any); ok {
		v = list[0]
	}
	n, _ := v.(int64)
	return int(n)
}
