package result

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result/api"
)

// shared returns a path below the shared test data, or skips.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	root := os.Getenv("REFIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	p := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("shared data not present: %v", err)
	}
	return p
}

func sample[T any](t *testing.T, name string) T {
	t.Helper()
	src, err := os.ReadFile(shared(t, "data", "api", name))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(src, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// seed is the founding family with what was published about it.
type seed struct {
	points []matrix.Point
	rows   []api.BenchmarkRow
	info   api.WorkflowInfo
	evals  []api.EvaluationRow
}

const seedImage = "lmsysorg/sglang:v0.5.19-rocm700-mi30x"

func loadSeed(t *testing.T) seed {
	t.Helper()
	cat, err := recipe.Load(os.DirFS(shared(t, "data", "seed-workspace")), []string{"configs/*-master.yaml"}, "configs/runners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := cat.Family("dsr1-fp8-mi325x-sglang")
	if err != nil {
		t.Fatal(err)
	}
	points, _, err := matrix.Points(f, cat.Runners, matrix.DefaultEvals)
	if err != nil {
		t.Fatal(err)
	}
	return seed{points, sample[[]api.BenchmarkRow](t, "benchmarks.json"), sample[api.WorkflowInfo](t, "workflow-info.json"), sample[[]api.EvaluationRow](t, "evaluations.json")}
}

func (s seed) build() (Baseline, error) {
	return BuildBaseline(s.points, seedImage, s.rows, s.info, s.evals, []string{"https://example.invalid/api"})
}

func TestSeedBaseline(t *testing.T) {
	s := loadSeed(t)
	b, err := s.build()
	if err != nil {
		t.Fatal(err)
	}
	if b.Date != "2026-09-10" || b.RunID != 34429203486 || !strings.HasPrefix(b.Head, "453890e61466") || b.Image != seedImage {
		t.Errorf("baseline of %s run %d head %s image %s", b.Date, b.RunID, b.Head, b.Image)
	}
	want := []struct {
		conc                      int
		total, output, ttft, tpot float64
	}{
		{4, 223.94, 24.91, 1025.49, 18.53}, {8, 385.84, 43.38, 1026.66, 21.56}, {16, 626.19, 69.39, 1163.49, 26.75},
		{32, 854.62, 95.57, 1363.26, 39.45}, {64, 1035.63, 114.89, 1917.85, 66.55},
	}
	if len(b.Points) != len(want) {
		t.Fatalf("%d points, want %d", len(b.Points), len(want))
	}
	for i, w := range want {
		p := b.Points[i]
		if p.Conc != w.conc || p.Result != Passed || p.Attempt != 1 || p.RunID != b.RunID || p.Head != b.Head {
			t.Errorf("point %d: %+v", i, p)
			continue
		}
		v := p.Values
		if *v.TotalTPSGPU != w.total || *v.OutputTPSGPU != w.output || *v.TTFTms != w.ttft || *v.TPOTms != w.tpot {
			t.Errorf("c%d: %v %v %v %v, want %+v", w.conc, *v.TotalTPSGPU, *v.OutputTPSGPU, *v.TTFTms, *v.TPOTms, w)
		}
	}
	if len(b.Evals) != 2 {
		t.Fatalf("%d evals, want 2: %+v", len(b.Evals), b.Evals)
	}
	for i, w := range []struct {
		conc  int
		score float64
	}{{32, 0.956}, {64, 0.9538}} {
		e := b.Evals[i]
		if e.Conc != w.conc || e.Score == nil || *e.Score != w.score || e.Samples == nil || *e.Samples != 1319 ||
			e.Suite != "gsm8k" || e.Metric != "em_strict" || e.Result != Passed || e.Attempt != 1 {
			t.Errorf("eval %d: %+v, want c%d %v of 1319", i, e, w.conc, w.score)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestBaselineGapsAndRefusals(t *testing.T) {
	tests := []struct {
		name        string
		change      func(*seed)
		unavailable []int // concurrencies
		err         string
	}{
		{"missing-row", func(s *seed) { s.rows = s.rows[1:] }, []int{4}, ""},
		{"other-image", func(s *seed) { s.rows[2].Image = ptr("lmsysorg/sglang:v0.5.20-rocm720-mi30x") }, []int{16}, ""},
		{"no-image", func(s *seed) { s.rows[2].Image = nil }, []int{16}, ""},
		{"other-fingerprint", func(s *seed) { s.rows[1].RecipeFingerprint = ptr(strings.Repeat("0", 64)) }, []int{8}, ""},
		{"no-fingerprint-selected", func(s *seed) { s.rows[1].RecipeFingerprint = nil }, nil, ""},
		{"no-fingerprint-not-selected", func(s *seed) { s.rows[1].RecipeFingerprint = nil; s.info.Changelogs[0].ConfigKeys = []string{"other"} }, []int{8}, ""},
		{"no-fingerprint-wildcard", func(s *seed) { s.rows[1].RecipeFingerprint = nil; s.info.Changelogs[0].ConfigKeys = []string{"dsr1-*"} }, nil, ""},
		{"other-topology", func(s *seed) { s.rows[0].DecodeEP = 8 }, []int{4}, ""},
		{"other-length", func(s *seed) { s.rows[0].ISL = ptr(1024) }, []int{4}, ""},
		{"wrong-gpu-count-is-no-identity", func(s *seed) { s.rows[0].NumDecodeGPU = 16 }, nil, ""},
		{"our-own-key-of-another-point", func(s *seed) { s.rows[0].PointKey = strings.Repeat("1", 64) }, []int{4}, ""},
		{"two-rows", func(s *seed) { s.rows = append(s.rows, s.rows[3]) }, nil, "c32"},
		{"ambiguous", func(s *seed) { s.rows = append(s.rows, s.rows[3]) }, nil, "ambiguous: 2 published rows (ids 441804, 441804)"},
		{"unknown-run", func(s *seed) { s.info.RunConfigs = nil }, nil, "producer run 34429203486 is not known to workflow-info"},
		{"two-heads", func(s *seed) {
			c := s.info.RunConfigs[0]
			c.HeadSHA = strings.Repeat("a", 40)
			s.info.RunConfigs = append(s.info.RunConfigs, c)
		}, nil, "two heads"},
		{"same-head-twice", func(s *seed) { s.info.RunConfigs = append(s.info.RunConfigs, s.info.RunConfigs[0]) }, nil, ""},
		{"no-run-url", func(s *seed) { s.rows[0].RunURL = nil }, nil, "names no run"},
		{"two-scores", func(s *seed) { s.evals = append(s.evals, s.evals[0]) }, nil, "ambiguous: two published scores of gsm8k"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := loadSeed(t)
			tt.change(&s)
			b, err := s.build()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, p := range b.Points {
				if p.Result == Unavailable {
					got = append(got, p.Conc)
					if p.Values != (Values{}) || p.RunID != 0 {
						t.Errorf("unavailable point carries values: %+v", p)
					}
				}
			}
			if len(b.Points) != 5 || !equalInts(got, tt.unavailable) {
				t.Errorf("unavailable %v of %d points, want %v of 5", got, len(b.Points), tt.unavailable)
			}
		})
	}
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestBaselineEvalUnavailable(t *testing.T) {
	for name, change := range map[string]func(*seed){
		"none":        func(s *seed) { s.evals = nil },
		"other-day":   func(s *seed) { s.evals[1].Date = "2026-09-09" },
		"other-run":   func(s *seed) { s.evals[1].RunURL = ptr("https://github.com/o/r/actions/runs/7") },
		"other-image": func(s *seed) { s.evals[1].Image = ptr("a/b:v1") },
		"no-conc":     func(s *seed) { s.evals[1].Conc = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := loadSeed(t)
			change(&s)
			b, err := s.build()
			if err != nil {
				t.Fatal(err)
			}
			last := b.Evals[len(b.Evals)-1]
			if len(b.Evals) != 2 || last.Conc != 64 || last.Result != Unavailable || last.Score != nil || last.Samples != nil || last.Suite != "gsm8k" {
				t.Errorf("evals %+v, want c64 unavailable", b.Evals)
			}
		})
	}
}

// Points may come from two runs of a day; the baseline says so.
func TestBaselineOfTwoRuns(t *testing.T) {
	s := loadSeed(t)
	s.rows[0].RunURL = ptr("https://github.com/o/r/actions/runs/7/attempts/2")
	c := s.info.RunConfigs[0]
	c.GitHubRunID, c.HeadSHA = 7, strings.Repeat("a", 40)
	s.info.RunConfigs = append(s.info.RunConfigs, c)
	b, err := s.build()
	if err != nil || len(b.Warnings) != 1 || b.Warnings[0] != "points come from 2 runs" || b.Points[0].RunID != 7 || b.Points[0].Attempt != 2 || b.Points[0].Head != c.HeadSHA {
		t.Errorf("baseline %+v (%v)", b, err)
	}
}

// An older evaluation row says nothing of the prefill role.
func TestBaselineOldEvaluationShape(t *testing.T) {
	s := loadSeed(t)
	for i := range s.evals {
		c := &s.evals[i].Config
		*c = api.Config{Hardware: c.Hardware, Framework: c.Framework, Model: c.Model, Precision: c.Precision, SpecMethod: c.SpecMethod, DecodeTP: c.DecodeTP, DecodeEP: c.DecodeEP}
	}
	b, err := s.build()
	if err != nil || len(b.Evals) != 2 || b.Evals[0].Result != Passed {
		t.Errorf("evals %+v (%v), want both", b.Evals, err)
	}
}
