package gate

import (
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
)

// Roster judges whether today's family covers every point of the frozen
// baseline, by key: a point that the family lost can never be compared again.
// Points that the baseline never had are welcome. Evals of the baseline must
// lie on points that are still there and are evaluated.
func Roster(b result.Baseline, points []matrix.Point) Verdict {
	const gate = "roster"
	if len(b.Points) == 0 {
		return Verdict{gate, Unknown, "the baseline has no points"}
	}
	has, evaluated := map[string]bool{}, map[string]bool{}
	for _, p := range points {
		if p.Family != b.Family {
			return Verdict{gate, Fail, fmt.Sprintf("point %s is of family %s, the baseline of %s", p.Label(), p.Family, b.Family)}
		}
		has[p.Key], evaluated[p.Key] = true, p.Eval
	}
	var lost, lostEvals []string
	for _, p := range b.Points {
		if !has[p.Key] {
			lost = append(lost, p.Label)
		}
	}
	for _, e := range b.Evals {
		if !evaluated[e.Key] {
			lostEvals = append(lostEvals, e.Suite+"/"+e.Metric+" "+e.Label)
		}
	}
	switch {
	case len(lost) > 0:
		return Verdict{gate, Fail, "baseline points that the family lost: " + named(lost)}
	case len(lostEvals) > 0:
		return Verdict{gate, Fail, "baseline evals that the family lost: " + named(lostEvals)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("all %d baseline points and %d evals are covered by %d points", len(b.Points), len(b.Evals), len(points))}
}

// FinalMatrix judges whether the matrix that will run (or ran) is the
// canonical one: equal sets of points and of evals by key and fingerprint, with
// equal settings, nothing twice. The fingerprint carries the image and the
// concurrency set; it may be a copy, so the settings are compared as well.
func FinalMatrix(want, got matrix.Selection) Verdict {
	const gate = "final-matrix"
	if len(want.Throughput) == 0 {
		return Verdict{gate, Unknown, "the canonical matrix has no points"}
	}
	bad := judge("point", wanted(want.Throughput), wanted(got.Throughput))
	bad = append(bad, judge("eval", wanted(want.Evals), wanted(got.Evals))...)
	if other := otherSettings(want.Throughput, slices.Concat(got.Throughput, got.Evals)); len(other) > 0 {
		bad = append(bad, "point with other settings: "+named(other))
	}
	if len(bad) > 0 {
		return Verdict{gate, Fail, join(bad)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%d points and %d evals, as generated", len(want.Throughput), len(want.Evals))}
}
