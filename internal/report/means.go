package report

import (
	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"
)

// means are a metric's means over usable runs, by point. A point without the
// figure is absent.
func means(runs [][]result.Row, m metric) map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, run := range compare.Usable(runs) {
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
