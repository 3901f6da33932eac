package gate

import (
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// scheduling are the fields of a plan row that say when it runs, not what.
var scheduling = []string{"priority", "queue-token", "skip-queue-pr"}

// Settings judges whether every row was measured with the settings of the
// canonical point that it names: a fingerprint may be copied, and cannot be
// made again out of a plan row. Rows of points that are not wanted are for
// Coverage to name; an evaluation without a plan stands beside the point's row.
func Settings(rows []result.Row, evals []result.EvalRow, want []matrix.Point) Verdict {
	const gate = "settings"
	wants := map[string]matrix.Point{}
	for _, p := range want {
		wants[p.Family+" "+p.Key] = p
	}
	var other []string
	for _, r := range rows {
		p, ok := wants[r.Family+" "+r.Key]
		s := p.Settings()
		if ok && (!sameSettings(p.Row, r.Plan) || r.Conc != p.Conc() || r.ISL != s.ISL || r.OSL != s.OSL || r.Scenario != s.Scenario) {
			other = append(other, p.Label())
		}
	}
	for _, e := range evals {
		p, ok := wants[e.Family+" "+e.Key]
		if ok && (len(e.Plan.Names()) > 0 && !sameSettings(p.Row, e.Plan) || e.Conc != p.Conc()) {
			other = append(other, e.Suite+" "+p.Label())
		}
	}
	if len(other) > 0 {
		return Verdict{gate, Fail, "measured with other settings than the recipe's: " + named(other)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%d rows and %d evals have the recipe's settings", len(rows), len(evals))}
}

// sameSettings compares what two plan rows run, in whatever order they say it.
func sameSettings(a, b matrix.Row) bool {
	x, errX := settingsText(a)
	y, errY := settingsText(b)
	return errX == nil && errY == nil && x == y
}

func settingsText(r matrix.Row) (string, error) {
	r = r.Clone()
	r.Delete(scheduling...)
	text, err := workspace.Canonical(r)
	return string(text), err
}

// otherSettings names the points of got whose settings differ from those of the
// point of want with the same key.
func otherSettings(want, got []matrix.Point) []string {
	var out []string
	for _, g := range got {
		i := slices.IndexFunc(want, func(w matrix.Point) bool { return w.Key == g.Key })
		if i >= 0 && !sameSettings(want[i].Row, g.Row) {
			out = append(out, want[i].Label())
		}
	}
	return out
}
