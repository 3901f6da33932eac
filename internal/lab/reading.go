package lab

import (
	"cmp"
	"context"
	"slices"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/store"
)

// Reading is one measured point of a run: what the client read, whether it can
// be trusted, and how its clock compares with the server's own.
type Reading struct {
	Image     string                 `json:"image"`
	RunID     int64                  `json:"run"`
	Conc      int                    `json:"conc"`
	Values    result.Values          `json:"values"`
	Health    string                 `json:"health"`
	Agreement *bench.ServerAgreement `json:"agreement"` // nil = the server keeps no clock
}

// readings are the points that a family's upgrade compared, run after run in
// the order of concurrency, smoke runs left out.
func readings(ctx context.Context, p *server.Parts, family string, images ...string) ([]Reading, error) {
	var out []Reading
	for _, image := range images {
		rows, err := p.Store.Points(ctx, store.Query{Family: family, Image: image})
		if err != nil {
			return nil, err
		}
		runs := map[int64]int{}
		for _, r := range rows {
			runs[r.Provenance.RunID]++
		}
		whole := 0
		for _, n := range runs {
			whole = max(whole, n)
		}
		var measured []Reading
		for _, r := range rows {
			if runs[r.Provenance.RunID] == whole && r.Result == result.Passed {
				measured = append(measured, Reading{r.Image, r.Provenance.RunID, r.Conc, r.Values(), r.Health.Verdict, r.Health.Agreement})
			}
		}
		slices.SortStableFunc(measured, func(a, b Reading) int {
			return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Conc, b.Conc))
		})
		out = append(out, measured...)
	}
	return out, nil
}
