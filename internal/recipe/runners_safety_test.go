package recipe

import (
	"strings"
	"testing"
)

func FuzzParseRunners(f *testing.F) {
	for _, s := range []string{"labels:\n  box:\n  - box_00\n", "labels: {}\n", "labels: [a]\n", "a: b\n", "", "labels:\n  box: [1, null]\n", "labels: &a\n  x: *a\n",
		"labels: {x: []}\n", "labels: {a: [b]}\nhardware: {a: {available-cpu-dram-mib: 0, gpus-per-node: 8}}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := ParseRunners(src, "runners.yaml")
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "runners.yaml:") {
					t.Errorf("ParseRunners(%q): an error without a place: %v", src, err)
				}
			}
			return
		}
		for label, runners := range r.Labels {
			if len(runners) == 0 {
				t.Errorf("ParseRunners(%q): label %q has no runner", src, label)
			}
		}
		for name, h := range r.Hardware {
			if h.MemoryMiB < 1 || h.GPUsPerNode < 1 {
				t.Errorf("ParseRunners(%q): hardware %q is %+v", src, name, h)
			}
		}
	})
}
