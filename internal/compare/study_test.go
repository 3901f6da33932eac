package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// study plays the rule: five points, three old runs and one new, with a spread
// per run and a true change of every point. It returns the share of each verdict.
func study(seed uint64, rounds int, spread, change float64) map[Verdict]float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	count := map[Verdict]int{}
	for range rounds {
		var points []Point
		for i := range 5 {
			p := Point{Conc: i}
			for range 3 {
				p.Old = append(p.Old, 100*math.Exp(spread*r.NormFloat64()))
			}
			p.New = []float64{100 * (1 + change) * math.Exp(spread*r.NormFloat64())}
			points = append(points, p)
		}
		count[Judge(OutputTPS, true, points).Verdict]++
	}
	share := map[Verdict]float64{}
	for v, n := range count {
		share[v] = float64(n) / float64(rounds)
	}
	return share
}

// The rule keeps its promises: an equal image is called unchanged where the
// spread allows it, a slow one is found, and a change at the limit is called
// worse no more often than the level says.
func TestStudy(t *testing.T) {
	const rounds = 400
	check := func(name string, got map[Verdict]float64, v Verdict, least, most float64) {
		t.Helper()
		t.Logf("%s: %v", name, got)
		if got[v] < least || got[v] > most {
			t.Errorf("%s: %s in %.3f of cases, want %v to %v (%v)", name, v, got[v], least, most, got)
		}
	}
	equal := study(1, rounds, 0.005, 0)
	check("equal, 0.5 %", equal, NoChange, 0.90, 1)
	check("equal, 0.5 %", equal, Worse, 0, 0.01)
	check("15 % slower, 0.5 %", study(2, rounds, 0.005, -0.15), Worse, 1, 1)
	check("equal, 1 %", study(3, rounds, 0.01, 0), Inconclusive, 0.5, 1)
	check("at the limit, 0.5 %", study(4, rounds, 0.005, -0.03), Worse, 0, 0.05)
	check("20 % faster, 0.5 %", study(5, rounds, 0.005, 0.20), Better, 1, 1)
}
