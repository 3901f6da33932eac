package recipe

import (
	"reflect"
	"strings"
	"testing"
)

const clustersFile = `# facts
cpu-lab:
  kind: local
  models:
  - {model: org/tiny, path: ../models/tiny.gguf, sha256: ` + sum0 + `}
  - model: org/other
    path: /srv/models/other
`

const sum0 = "a000000000000000000000000000000000000000000000000000000000000000"

func TestParseClusters(t *testing.T) {
	got, err := ParseClusters([]byte(clustersFile), "clusters.yaml")
	want := Clusters{"cpu-lab": {Kind: "local", Models: []StagedModel{
		{"org/tiny", "../models/tiny.gguf", sum0, 5}, {"org/other", "/srv/models/other", "", 6}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := ParseClusters(nil, "clusters.yaml"); err != nil || len(got) != 0 {
		t.Errorf("empty file: got %v, %v", got, err)
	}
	if m, ok := got["cpu-lab"].Staged("org/other"); !ok || m.Path != "/srv/models/other" {
		t.Errorf("got %v, %v", m, ok)
	}
	if _, ok := got["nowhere"].Staged("org/other"); ok {
		t.Error("an unknown cluster stages a model")
	}
}

func TestParseClustersRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"cpu-lab: 1":                        "c.yaml:1:10: cpu-lab: want a mapping, got",
		"cpu-lab: {}":                       "c.yaml:1:10: cpu-lab: kind is missing",
		"cpu-lab: {kind: slurm}":            `c.yaml:1:17: cpu-lab.kind: "slurm" is not in this version, only local is`,
		"cpu-lab: {kind: local, model: []}": "model",
		"cpu-lab: {kind: local, models: [{model: a, path: b, sha256: abc}]}":         `c.yaml:1:61: cpu-lab.models[0].sha256: want 64 hexadecimal digits, got "abc"`,
		"cpu-lab: {kind: local, models: [{model: a}]}":                               "c.yaml:1:33: cpu-lab.models[0]: path is missing",
		"cpu-lab: {kind: local, models: [{model: a, path: b}, {model: a, path: c}]}": "c.yaml:1:54: cpu-lab.models[1]: a is staged twice",
		"cpu-lab: {kind: local}\ncpu-lab: {kind: local}":                             `c.yaml:2:1: key "cpu-lab" is written twice, first in line 1`,
	} {
		if _, err := ParseClusters([]byte(src), "c.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", src, err, want)
		}
	}
}

func TestRunnersCluster(t *testing.T) {
	r := Runners{Labels: map[string][]string{"cpu": {"cpu-lab_00"}, "x9": {"x9-west-1_03", "x9-west-1_04"}, "bare": {"bare"}, "none": {}}}
	for label, want := range map[string]string{"cpu": "cpu-lab", "x9": "x9-west-1", "cluster:x9-west": "x9-west", "bare": "bare", "none": "", "unknown": ""} {
		if got := r.Cluster(label); got != want {
			t.Errorf("%s: got %q, want %q", label, got, want)
		}
	}
}

func FuzzParseClusters(f *testing.F) {
	f.Add([]byte(clustersFile))
	f.Add([]byte("a: {kind: local, models: [{}]}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		all, err := ParseClusters(src, "clusters.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "clusters.yaml:") {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		for name, c := range all {
			for _, m := range c.Models {
				if got, ok := c.Staged(m.Model); c.Kind == "local" && m.Model != "" && (!ok || got != m) {
					t.Errorf("%s: %+v is not found again: %+v", name, m, got)
				}
			}
		}
	})
}
