package store

import (
	"context"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/result/api"
)

// published fills a store: three runs of v1 on day 1, one of v2 on day 2, and
// a private run of v2.
func published(t *testing.T) *Store {
	t.Helper()
	s := fresh(t)
	for i := range 3 {
		run, r := made(t, int64(10+i), 1, day1.Add(time.Duration(i)*time.Hour), v1, float64(100+i))
		ingest(t, s, run, r, true)
	}
	run, r := made(t, 20, 1, day2, v2, 200)
	ingest(t, s, run, r, true)
	run, r = made(t, 30, 1, day2.Add(time.Hour), v2, 300)
	ingest(t, s, run, r, false)
	return s
}

func TestBenchmarks(t *testing.T) {
	s, ctx := published(t), context.Background()
	tests := []struct {
		name, model, date string
		exact             bool
		tput              float64 // 0: no rows
	}{
		{"current", "tiny-a", "", false, 200},
		{"exact-newest-of-the-day", "tiny-a", "2026-09-10", true, 102},
		{"as-of", "tiny-a", "2026-09-10", false, 102},
		{"as-of-later", "tiny-a", "2030-01-01", false, 200},
		{"exact-empty-day", "tiny-a", "2026-09-12", true, 0},
		{"before-all", "tiny-a", "2026-09-09", false, 0},
		{"other-model", "tiny-b", "", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := s.Benchmarks(ctx, tt.model, tt.date, tt.exact)
			if err != nil || rows == nil {
				t.Fatalf("rows %v (%v)", rows, err)
			}
			if tt.tput == 0 {
				if len(rows) != 0 {
					t.Errorf("%d rows, want none", len(rows))
				}
				return
			}
			if len(rows) != 2 || rows[0].Conc != 1 || rows[1].Conc != 2 || rows[0].Metrics["tput_per_gpu"] != tt.tput {
				t.Errorf("rows %+v, want conc 1 and 2 at %v", rows, tt.tput)
			}
		})
	}
	row := must(s.Benchmarks(ctx, "tiny-a", "2026-09-10", true))(t)[0]
	config := api.Config{Hardware: "cpu", Framework: "sim", Model: "laba", Precision: "fp8", SpecMethod: "none", PrefillTP: 1, PrefillEP: 1, DecodeTP: 1, DecodeEP: 1, NumPrefillGPU: 1, NumDecodeGPU: 1}
	if row.Config != config || row.BenchmarkType != "single_turn" || row.OffloadMode != "off" || *row.ISL != 256 || *row.OSL != 64 || *row.Image != v1 ||
		*row.RecipeFingerprint != digits('f', 64) || row.Date != "2026-09-10" || row.CurveDate != "2026-09-10" || *row.CurveRunStartedAt != "2026-09-10 08:12:44+00" ||
		*row.RunURL != "http://127.0.0.1:1/lab/recipes/actions/runs/12/attempts/1" || row.Family != family || row.PointKey != digits('1', 64) || row.WorkflowRunID != nil {
		t.Errorf("row %+v", row)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestHistory(t *testing.T) {
	rows := must(published(t).History(context.Background(), History{Model: "tiny-a", Type: "single_turn", ISL: 256, OSL: 64}))(t)
	if len(rows) != 4 || rows[0].Metrics["tput_per_gpu"] != 102 || rows[2].Metrics["tput_per_gpu"] != 200 {
		t.Fatalf("rows %+v", rows)
	}
	if _, ok := rows[0].Metrics["mean_ttft"]; ok || rows[0].Metrics["median_tpot"] != 0.004 {
		t.Errorf("metrics %v: means must be left out, medians kept", rows[0].Metrics)
	}
	if rows := must(published(t).History(context.Background(), History{Model: "tiny-a", Type: "single_turn", ISL: 1024, OSL: 64}))(t); len(rows) != 0 {
		t.Errorf("%d rows of another length", len(rows))
	}
}

func TestWorkflowInfo(t *testing.T) {
	s, ctx := published(t), context.Background()
	info := must(s.WorkflowInfo(ctx, "2026-09-10"))(t)
	if len(info.Runs) != 3 || info.Runs[0].GitHubRunID != 10 || info.Runs[0].CreatedAt != "2026-09-10T06:12:31Z" || info.Runs[0].Conclusion != "success" {
		t.Errorf("runs %+v", info.Runs)
	}
	if len(info.Changelogs) != 3 || info.Changelogs[0].WorkflowRunID != 10 || info.Changelogs[0].ConfigKeys[0] != "laba-fp8-cpu-sim" || info.Changelogs[0].BaseRef != digits('b', 40) {
		t.Errorf("changelogs %+v", info.Changelogs)
	}
	if len(info.Configs) != 1 || info.Configs[0].Model != "laba" || *info.Configs[0].ISL != 256 {
		t.Errorf("configs %+v", info.Configs)
	}
	if len(info.RunConfigs) != 3 || info.RunConfigs[0].HeadSHA != digits('c', 40) || info.RunConfigs[0].RunStartedAt != "2026-09-10T06:12:44Z" {
		t.Errorf("run configs %+v", info.RunConfigs)
	}
	empty := must(s.WorkflowInfo(ctx, "2026-01-01"))(t)
	if empty.Runs == nil || empty.Changelogs == nil || empty.Configs == nil || empty.RunConfigs == nil || len(empty.Runs) != 0 {
		t.Errorf("empty day %+v, want four empty lists", empty)
	}
}

// A run that goes on is not in the runs; its rows are served all the same.
func TestUnconcludedRun(t *testing.T) {
	s := fresh(t)
	run, r := made(t, 7, 1, day1, v1, 100)
	run.Conclusion, run.Started = "", time.Time{}
	ingest(t, s, run, r, true)
	if info := must(s.WorkflowInfo(context.Background(), "2026-09-10"))(t); len(info.Runs)+len(info.RunConfigs) != 0 {
		t.Errorf("info %+v", info)
	}
	rows := must(s.Benchmarks(context.Background(), "tiny-a", "", false))(t)
	if len(rows) != 2 || rows[0].CurveRunStartedAt != nil {
		t.Errorf("rows %+v", rows)
	}
}

func TestEvaluationsAndImages(t *testing.T) {
	s, ctx := published(t), context.Background()
	evals := must(s.Evaluations(ctx))(t)
	if len(evals) != 4 || evals[0].Date != "2026-09-11" || evals[3].Date != "2026-09-10" {
		t.Fatalf("evals %+v", evals)
	}
	e := evals[0]
	if e.Task != "gsm8k" || *e.Conc != 2 || e.Metrics["em_strict"] != 0.5 || e.Metrics["em_strict_se"] != 0.5 || e.Metrics["n_eff"] != 2 || e.Hardware != "cpu" ||
		*e.RunURL != "http://127.0.0.1:1/lab/recipes/actions/runs/20" || *e.Image != v2 || *e.ISL != 256 || e.Timestamp != "2026-09-11T06:12:31Z" {
		t.Errorf("eval %+v", e)
	}
	images := must(s.LatestImages(ctx))(t)
	if len(images) != 1 || images[0].Image != v2 || images[0].Date != "2026-09-11" || images[0].Disagg || *images[0].OSL != 64 {
		t.Errorf("images %+v", images)
	}
	if known := must(s.KnownModel(ctx, "tiny-a"))(t); !known {
		t.Error("tiny-a is not known")
	}
	if known := must(s.KnownModel(ctx, "laba"))(t); known {
		t.Error("a store key is taken for a name")
	}
}
