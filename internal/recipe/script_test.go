package recipe

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestScriptPath(t *testing.T) {
	dir := "benchmarks/single_node/fixed_seq_len/"
	fsys := fstest.MapFS{}
	for _, name := range []string{"tiny_fp8_cpu_sim.sh", "tiny_fp8_cpu.sh", "dsr1_fp8_mi325x.sh", "dsr1_fp8_mi325x_mtp.sh", "dsr1_fp8_b200_trt.sh"} {
		fsys[dir+name] = &fstest.MapFile{}
	}
	for _, c := range []struct {
		name, prefix, runner, framework, spec, want string
		tried                                       []string
	}{
		{"long-form-first", "tiny", "cpu", "sim", "none", "tiny_fp8_cpu_sim.sh", []string{"tiny_fp8_cpu_sim.sh", "tiny_fp8_cpu.sh"}},
		{"short-form", "dsr1", "mi325x", "sglang", "none", "dsr1_fp8_mi325x.sh", []string{"dsr1_fp8_mi325x_sglang.sh", "dsr1_fp8_mi325x.sh"}},
		{"mtp", "dsr1", "cluster:mi325x-west", "sglang", "mtp", "dsr1_fp8_mi325x_mtp.sh", []string{"dsr1_fp8_mi325x_sglang_mtp.sh", "dsr1_fp8_mi325x_mtp.sh"}},
		{"engine-suffix", "dsr1", "b200", "trt", "none", "dsr1_fp8_b200_trt.sh", []string{"dsr1_fp8_b200_trt.sh"}},
		{"missing", "dsr1", "b200", "vllm", "none", "", []string{"dsr1_fp8_b200_vllm.sh", "dsr1_fp8_b200.sh"}},
	} {
		e := Entry{ModelPrefix: c.prefix, Precision: "fp8", Runner: c.runner, Framework: c.framework}
		got, tried, err := ScriptPath(fsys, e, "fixed-seq-len", c.spec)
		if c.want == "" != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if c.want != "" && got != dir+c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		var want []string
		for _, name := range c.tried {
			want = append(want, dir+name, dir+strings.TrimSuffix(name, ".sh")+".yaml")
		}
		if !slices.Equal(tried, want) {
			t.Errorf("%s: tried %v, want %v", c.name, tried, want)
		}
	}
	if _, _, err := ScriptPath(fsys, Entry{ModelPrefix: "../x", Precision: "fp8", Runner: "cpu", Framework: "sim"}, "fixed-seq-len", "none"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("climbing name: got %v", err)
	}
	if _, _, err := ScriptPath(fsys, Entry{}, "fixed", "none"); err == nil {
		t.Error("unknown scenario was accepted")
	}
}

func TestSplice(t *testing.T) {
	src := []byte("--graph-max 16 --port 1")
	got, err := Splice(src, []Edit{{22, 23, "1", "2"}, {0, 11, "--graph-max", "--graph-max-decode"}})
	if err != nil || string(got) != "--graph-max-decode 16 --port 2" {
		t.Errorf("Splice: got %q, %v", got, err)
	}
	for _, c := range []struct {
		name, want string
		edits      []Edit
	}{
		{"stale", `edit of bytes 0 to 2: found "--", want "xx"`, []Edit{{0, 2, "xx", ""}}},
		{"outside", "edit of bytes 20 to 99: outside a text of 23", []Edit{{20, 99, "", ""}}},
		{"backwards", "edit of bytes 3 to 2: outside a text of 23", []Edit{{3, 2, "", ""}}},
		{"overlap", "edit of bytes 1 to 3: overlaps the one before it", []Edit{{0, 2, "--", ""}, {1, 3, "-g", ""}}},
	} {
		if _, err := Splice(src, c.edits); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}
