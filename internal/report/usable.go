package report

import (
	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/result"
)

// usable keeps the rows that stand behind verdicts, run by run: passed, with a
// sound client, and of what the newest such row of the point measured. It
// leaves out what compare.Compare leaves out.
func usable(runs [][]result.Row) [][]result.Row {
	sound := func(r result.Row) bool { return r.Result == result.Passed && r.Health.Verdict == bench.Healthy }
	newest := map[string]result.Row{}
	for _, run := range runs {
		for _, r := range run {
			if sound(r) {
				newest[r.Key] = r
			}
		}
	}
	var out [][]result.Row
	for _, run := range runs {
		var kept []result.Row
		for _, r := range run {
			n := newest[r.Key]
			if sound(r) && r.Digest == n.Digest && r.Image == n.Image && r.Fingerprint == n.Fingerprint {
				kept = append(kept, r)
			}
		}
		out = append(out, kept)
	}
	return out
}

// means are a metric's means over usable runs, by point. A point without the
// figure is absent.
func means(runs [][]result.Row, m metric) map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, run := range usable(runs) {
		for _, r := range run {
			if v := m.of(values(r.Values(), nil)); v != nil {
				sum[r.Key] += *v
				n[r.Key]++
			}
		}
	}
	for k := range sum {
		sum[k] /= n[k]
	}
	return sum
}

// metricOf finds a column by the name that comparisons use.
func metricOf(name string) (metric, bool) {
	for _, m := range baselineMetrics() {
		if string(m.name) == name {
			return m, true
		}
	}
	return metric{}, false
}

// lookup is a map's value, or nil.
func lookup(m map[string]float64, key string) *float64 {
	if v, ok := m[key]; ok {
		return &v
	}
	return nil
}
