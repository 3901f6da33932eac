package server

import (
	"context"
	"errors"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// Compared is two selections of stored measurements, and how they differ.
type Compared struct {
	Family string         `json:"family"`
	Old    store.Side     `json:"old"`
	New    store.Side     `json:"new"`
	Result compare.Result `json:"result"`
}

// Compare compares stored measurements of a family, "" for the only one that
// both have. The error says what cannot be compared; store.ErrAmbiguous wants
// the selection to be narrowed.
func Compare(ctx context.Context, w *workspace.Workspace, family string, older, newer store.Selection) (c Compared, err error) {
	s, err := OpenStore(ctx, w)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c.Old, c.New, err = s.Sides(ctx, family, older, newer); err != nil {
		return c, err
	}
	c.Family = c.New.Measured[0].Family
	c.Result = compare.Compare(compare.ByRun(c.Old.Rows), compare.ByRun(c.New.Rows), c.Old.Evals, c.New.Evals)
	return c, c.Result.Compared()
}
