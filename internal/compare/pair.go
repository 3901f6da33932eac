package compare

import (
	"maps"
	"slices"

	"github.com/refit-bench/refit/internal/result"
)

// unusable says why a row cannot be compared, or nothing.
func unusable(r result.Row) string {
	switch {
	case r.Result != result.Passed:
		return r.Result
	case !r.Health.Usable():
		return "client health is not healthy"
	}
	return ""
}

// sameWork says whether two rows measured the same.
func sameWork(a, b result.Row) bool {
	return a.Digest == b.Digest && a.Image == b.Image && a.Fingerprint == b.Fingerprint
}

// alike keeps the rows that measured what the newest row measured.
func alike(rows []result.Row) []result.Row {
	if len(rows) == 0 {
		return nil
	}
	newest := rows[len(rows)-1]
	var kept []result.Row
	for _, r := range rows {
		if sameWork(r, newest) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Usable keeps of each run the rows that verdicts rest on: passed, measured by
// a sound client, and of the image and fingerprint that the newest such row of
// their point has.
func Usable(runs [][]result.Row) [][]result.Row {
	s := gather("", runs, new([]string))
	out := make([][]result.Row, len(runs))
	for i, run := range runs {
		for _, row := range run {
			if unusable(row) == "" && sameWork(row, s.rows[row.Key][0]) {
				out[i] = append(out[i], row)
			}
		}
	}
	return out
}

// pair makes the points of a curve, ordered by concurrency as the rows came.
func pair(before, after side, value func(result.Values) *float64) []Point {
	var points []Point
	keys := slices.Clone(before.keys)
	for _, k := range after.keys {
		if _, ok := before.rows[k]; !ok {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		p := Point{Key: k, Old: figures(before.rows[k], value), New: figures(after.rows[k], value)}
		for _, rows := range [][]result.Row{before.rows[k], after.rows[k]} {
			if len(rows) > 0 {
				p.Label, p.Conc = rows[0].Label, rows[0].Conc
			}
		}
		if p.Label == "" {
			p.Label = k[:min(len(k), 6)]
		}
		points = append(points, p)
	}
	slices.SortStableFunc(points, func(a, b Point) int { return a.Conc - b.Conc })
	return points
}

func figures(rows []result.Row, value func(result.Values) *float64) []float64 {
	var out []float64
	for _, r := range rows {
		if v := value(r.Values()); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

type evalSide struct {
	keys []string
	rows map[string]result.EvalRow
}

// newestEvals keeps the last passed row of every eval.
func newestEvals(rows []result.EvalRow) evalSide {
	s := evalSide{rows: map[string]result.EvalRow{}}
	for _, e := range rows {
		if e.Result != result.Passed {
			continue
		}
		id := e.Key + " " + e.Suite + " " + e.Metric
		if _, ok := s.rows[id]; !ok {
			s.keys = append(s.keys, id)
		}
		s.rows[id] = e
	}
	return s
}

func sorted(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
