package candidate

import (
	"context"
	"slices"
	"testing"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/result"
)

// published lets the results feed know only so many runs of the old image.
func published(runs int, history func(context.Context, string, string) ([]result.Row, []result.EvalRow, error)) func(context.Context, string, string) ([]result.Row, []result.EvalRow, error) {
	return func(ctx context.Context, family, digest string) ([]result.Row, []result.EvalRow, error) {
		rows, evals, err := history(ctx, family, digest)
		if err != nil {
			return nil, nil, err
		}
		return rows[:len(rows)*runs/3], evals[:len(evals)*runs/3], nil
	}
}

// TestASinglePointIsNotEvidence: against one published run of the old image a
// new figure is never worse and never better, however far away it lies. The
// candidate ends with the mark that nothing was concluded.
func TestASinglePointIsNotEvidence(t *testing.T) {
	for name, factor := range map[string]float64{"slower-by-half": 0.5, "twice-as-fast": 2, "equal": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.slow = factor
			s := w.shepherd("bot-token")
			s.History = published(1, w.history)
			_, st := w.upgrade(s)
			if st.Outcome != Validated || st.Verdicts["throughput"] != "inconclusive" || st.Verdicts["tpot"] != "inconclusive" {
				t.Errorf("got %s (%s), throughput %s, tpot %s; want validated, both inconclusive", st.Outcome, st.Reason, st.Verdicts["throughput"], st.Verdicts["tpot"])
			}
			if !slices.Contains(st.Marks, "throughput inconclusive") {
				t.Errorf("marks %v, want that throughput is inconclusive", st.Marks)
			}
			for _, curve := range receiptOf[Certified](w, "certify").Result.Curves {
				for _, p := range curve.Points {
					if p.Verdict != compare.Inconclusive || p.Low != 0 || p.High != 0 {
						t.Errorf("%s at c%d: %s with an interval %v..%v, want inconclusive without one", curve.Metric, p.Conc, p.Verdict, p.Low, p.High)
					}
				}
			}
		})
	}
}

// TestOnePointOnANoisyNodeIsNotEvidence: one point some percent slower in one
// sweep, with a history as noisy as that, asks for further sweeps and does not
// fail the candidate.
func TestOnePointOnANoisyNodeIsNotEvidence(t *testing.T) {
	w := newWorld(t)
	sweeps := 0
	w.atSweep(func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		if sweeps++; sweeps == 1 {
			for _, l := range lines {
				if l.Row != nil && l.Row.Conc == 4 {
					l.Row.Metrics["output_tput_per_gpu"] *= 0.931
				}
			}
		}
		return usual(r, m, lines)
	})
	s := w.shepherd("bot-token")
	s.History = func(ctx context.Context, family, digest string) ([]result.Row, []result.EvalRow, error) {
		rows, evals, err := w.history(ctx, family, digest)
		for i := range rows { // three runs that lie some percent apart
			rows[i].Metrics["output_tput_per_gpu"] *= []float64{0.96, 1, 1.04}[i*3/len(rows)]
		}
		return rows, evals, err
	}
	_, st := w.upgrade(s)
	if st.Outcome != Validated || st.Verdicts["throughput"] == "worse" || sweeps < 2 {
		t.Errorf("got %s (%s) with throughput %s after %d sweeps; want validated after further sweeps, never worse", st.Outcome, st.Reason, st.Verdicts["throughput"], sweeps)
	}
}
