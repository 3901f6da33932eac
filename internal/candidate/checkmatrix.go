package candidate

import (
	"context"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/matrix"
)

// CheckMatrix is CheckFinal, and in addition holds a matrix that somebody else
// generated, the JSON form of a plan, to what this program generates for the
// same head: made for this head, for exactly this family, with its points and
// evals and no others, each with the settings of its fingerprint.
func (s *Shepherd) CheckMatrix(ctx context.Context, c Candidate, src []byte) (gate.Verdict, error) {
	return s.check(ctx, c, func(v treeView) []gate.Verdict { return foreignMatrix(c, v, src) })
}

// foreignMatrix judges a matrix that was handed in. It is data: its rows give
// keys, and nothing that it says of itself is believed.
func foreignMatrix(c Candidate, v treeView, src []byte) []gate.Verdict {
	g, err := matrix.ParsePlan(src)
	if err != nil {
		return []gate.Verdict{fail("matrix", "%v", err)}
	}
	if g.Head != v.Commit {
		return []gate.Verdict{fail("matrix", "it was generated for head %.40q, the pull request is at %.12s", g.Head, v.Commit)}
	}
	if other := slices.DeleteFunc(slices.Clone(g.Keys), func(key string) bool { return key == c.Key() }); len(g.Keys) == 0 || len(other) > 0 {
		return []gate.Verdict{fail("matrix", "its changelog selects [%.200s], want exactly %s", strings.Join(g.Keys, " "), c.Key())}
	}
	got := matrix.Selection{Throughput: g.Throughput, Evals: g.Evals}
	for i, e := range got.Evals { // the row of an eval has no fingerprint; all else of it is compared
		if j := slices.IndexFunc(v.Points, func(p matrix.Point) bool { return p.Key == e.Key }); j >= 0 {
			got.Evals[i].Fingerprint = v.Points[j].Fingerprint
			got.Evals[i].Row.Set("recipe-fingerprint", v.Points[j].Fingerprint)
		}
	}
	return []gate.Verdict{gate.FinalMatrix(matrix.Full(v.Points), got)}
}
