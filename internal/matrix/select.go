package matrix

import (
	"maps"
	"slices"
)

// Selection is what one sweep measures. An eval names the same point as its
// throughput; a point may stand in one list, the other, or both.
type Selection struct {
	Throughput []Point
	Evals      []Point
}

// Full selects every point, and an eval of every marked one.
func Full(points []Point) Selection {
	s := Selection{Throughput: points}
	for _, p := range points {
		if p.Eval {
			s.Evals = append(s.Evals, p)
		}
	}
	return s
}

// Smoke selects, for every deployment shape, the point with the lowest
// concurrency, and of its marked points the one with the lowest, which is the
// median where median and highest are marked.
func Smoke(points []Point) Selection {
	full := Full(points)
	return Selection{Throughput: lowest(full.Throughput), Evals: lowest(full.Evals)}
}

// lowest keeps one point per deployment shape, in order; the first on ties.
func lowest(points []Point) []Point {
	best := map[string]int{} // shape -> index in points
	for i, p := range points {
		shape := p.Family + "\n" + topology(p.Row)
		if j, ok := best[shape]; !ok || p.Conc() < points[j].Conc() {
			best[shape] = i
		}
	}
	var out []Point
	for _, i := range slices.Sorted(maps.Values(best)) {
		out = append(out, points[i])
	}
	return out
}
