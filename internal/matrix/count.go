package matrix

import "github.com/refit-bench/refit/internal/recipe"

// Counts is what a catalogue holds. Rows are jobs of a full sweep; points are
// what they measure, each once per family.
type Counts struct {
	Families int      `json:"families"`
	Rows     int      `json:"rows"`
	Points   int      `json:"points"`
	Evals    int      `json:"evals"`
	Warnings []string `json:"warnings"`
}

// Count expands everything once.
func Count(cat *recipe.Catalogue, ev EvalRule) (Counts, error) {
	rows, _, err := FullSweep(cat, ev, Sweep{Mode: NoEvals})
	if err != nil {
		return Counts{}, err
	}
	c := Counts{Families: len(cat.Families), Rows: len(rows), Warnings: []string{}}
	for _, f := range cat.Families {
		points, warnings, err := Points(f, cat.Runners, ev)
		if err != nil {
			return Counts{}, err
		}
		c.Points += len(points)
		for _, p := range points {
			if p.Eval {
				c.Evals++
			}
		}
		c.Warnings = append(c.Warnings, warnings...)
	}
	return c, nil
}
