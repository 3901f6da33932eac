package run

import (
	"context"
	"fmt"
)

// Decision is what a workflow run would measure.
type Decision struct {
	Head     string   `json:"head"` // 40 hex
	Mode     string   `json:"mode"`
	Families []string `json:"families"`
	Points   int      `json:"points"`
	Evals    int      `json:"evals"`
}

func (d Decision) String() string {
	return fmt.Sprintf("%s at %.12s: %d families, %d points, %d evals", d.Mode, d.Head, len(d.Families), d.Points, d.Evals)
}

// Decide says what the event asks for and measures nothing. It needs neither
// images nor accelerators. The error is around ErrSkipped when the event asks for
// no sweep.
func (c CI) Decide(ctx context.Context) (Decision, error) {
	if c.Repo.Dir == "" {
		c.Repo.Dir = c.Checkout
	}
	in, err := c.intend(ctx)
	if err != nil {
		return Decision{}, fmt.Errorf("ci %s: %w", c.Name, err)
	}
	d := Decision{Head: in.Head, Mode: in.Mode}
	for _, f := range in.Plan.Families {
		d.Families = append(d.Families, f.Family.ID)
		d.Points += len(f.Selection.Throughput)
		d.Evals += len(f.Selection.Evals)
	}
	return d, nil
}
