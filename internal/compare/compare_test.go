package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/result"
)

// run makes one run of two points whose output throughput is base and 2*base.
func run(base float64, change func(*result.Row)) []result.Row {
	var rows []result.Row
	for i, key := range []string{"a", "b"} {
		out := base * float64(i+1)
		r := result.Row{Key: key, Label: key, Conc: i + 1, Image: "old", Digest: "d", Fingerprint: "f", Result: result.Passed,
			Health:  bench.Health{Verdict: bench.Healthy},
			Metrics: map[string]float64{"tput_per_gpu": 5 * out, "output_tput_per_gpu": out, "mean_ttft": 0.1, "mean_tpot": 1 / out}}
		if change != nil {
			change(&r)
		}
		rows = append(rows, r)
	}
	return rows
}

var history = [][]result.Row{run(100, nil), run(100.1, nil), run(99.9, nil)}

func TestCompareSides(t *testing.T) {
	unhealthy := func(r *result.Row) { r.Health.Verdict = bench.Unhealthy }
	suspect := func(r *result.Row) { r.Health.Verdict = bench.Suspect }
	failed := func(r *result.Row) { r.Result = result.Failed }
	otherDigest := func(r *result.Row) { r.Digest = "e" }
	onlyA := func(r *result.Row) {
		if r.Key == "b" {
			r.Result = result.Failed
		}
	}
	tests := []struct {
		name             string
		old, new         [][]result.Row
		throughput, tpot Verdict
		warning          string
	}{
		{"equal", history, [][]result.Row{run(100, nil)}, NoChange, NoChange, ""},
		{"slower", history, [][]result.Row{run(80, nil)}, Worse, Worse, ""},
		{"faster", history, [][]result.Row{run(130, nil)}, Better, Better, ""},
		{"unhealthy-new", history, [][]result.Row{run(80, unhealthy)}, Inconclusive, Inconclusive, "new side: 2 rows not used: client health is not healthy"},
		{"suspect-new", history, [][]result.Row{run(80, suspect)}, Worse, Worse, "new side: 2 rows of a suspect client: their means stand"},
		{"unhealthy-old-run", append(slices.Clone(history), run(50, unhealthy)), [][]result.Row{run(100, nil)}, NoChange, NoChange, "old side: 2 rows"},
		{"older-image-in-history", append([][]result.Row{run(50, otherDigest)}, history...), [][]result.Row{run(100, nil)}, NoChange, NoChange, "old side: 2 rows not used: another image or fingerprint than the newest"},
		{"failed-point", history, [][]result.Row{run(100, onlyA)}, Inconclusive, Inconclusive, "new side: 1 rows not used: failed"},
		{"failed-run", history, [][]result.Row{run(100, failed)}, Inconclusive, Inconclusive, "failed"},
		{"one-old-run", history[:1], [][]result.Row{run(80, nil)}, Inconclusive, Inconclusive, ""},
		{"no-history", nil, [][]result.Row{run(80, nil)}, Inconclusive, Inconclusive, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Compare(tt.old, tt.new, nil, nil)
			if got := r.Overall("throughput"); got != tt.throughput {
				t.Errorf("throughput %s, want %s: %s", got, tt.throughput, r.Curves[0])
			}
			if got := r.Overall("tpot"); got != tt.tpot {
				t.Errorf("tpot %s, want %s: %s", got, tt.tpot, r.Curves[2])
			}
			if got := strings.Join(r.Warnings, "\n"); !strings.Contains(got, tt.warning) || (tt.warning == "" && got != "") {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if len(r.Curves) != 4 || r.Curves[1].Judged || r.Curves[3].Judged || !r.Curves[0].Judged || !r.Curves[2].Judged {
				t.Errorf("judged curves: %+v", r.Curves)
			}
		})
	}
}

func TestCompareEvals(t *testing.T) {
	old, now := answers(200, 12, 2, 0)
	row := func(key, suite string, a []eval.Answer) result.EvalRow {
		return result.EvalRow{Key: key, Label: key, Suite: suite, Metric: result.StrictMetric, Result: result.Passed, Answers: a}
	}
	same, _ := answers(200, 0, 0, 0)
	first := row("a", "gsm8k", now)
	r := Compare(nil, nil, []result.EvalRow{first, row("a", "gsm8k", old), row("b", "gsm8k", nil), row("c", "gsm8k", same)},
		[]result.EvalRow{row("a", "gsm8k", now), row("b", "gsm8k", now), row("d", "gsm8k", now)})
	want := map[string]Verdict{"a": Worse, "b": Inconclusive, "c": Inconclusive, "d": Inconclusive}
	if len(r.Accuracy) != len(want) || r.Overall("accuracy") != Worse {
		t.Fatalf("%+v", r.Accuracy)
	}
	for _, a := range r.Accuracy {
		if a.Verdict != want[a.Key] || a.Reason == "" {
			t.Errorf("%s: %s", a.Key, a)
		}
	}
	if v := (Result{}).Overall("accuracy"); v != Inconclusive {
		t.Errorf("no evals: %s", v)
	}
	if v := r.Overall("nonsense"); v != Inconclusive {
		t.Errorf("unknown dimension: %s", v)
	}
}
