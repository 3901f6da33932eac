package run

import (
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// Explained is a point with all that a workspace knows of it.
type Explained struct {
	matrix.Explanation
	Reproduction Reproduction `json:"reproduction"`
}

// Explain finds the point that a name means in the workspace's files as they
// lie there, and explains it. conc is 0 or the concurrency it must have. A name
// of several points is a matrix.Ambiguous error. Explain only reads.
func Explain(w *workspace.Workspace, name string, conc int) (Explained, error) {
	tree := os.DirFS(w.Root)
	cat, err := recipe.Load(tree, w.Paths.Masters, w.Paths.Runners)
	if err != nil {
		return Explained{}, err
	}
	rule, err := matrix.ParseEvalRule(w.Config.Evals.Lengths, w.Config.Evals.Floor)
	if err != nil {
		return Explained{}, err
	}
	found, err := matrix.FindPoint(cat, rule, name, conc)
	if err != nil {
		return Explained{}, err
	}
	src := matrix.Sources{LengthsFrom: w.Origin("evals.lengths"), FloorFrom: w.Origin("evals.floor")}
	if src.Master, err = places(w, found.Family.File); err != nil {
		return Explained{}, err
	}
	if src.Runners, err = places(w, w.Paths.Runners); err != nil {
		return Explained{}, err
	}
	var x Explained
	if x.Explanation, err = matrix.Explain(cat, found.Family, found.Point, rule, src); err != nil {
		return Explained{}, err
	}
	points, _, err := matrix.Points(found.Family, cat.Runners, rule)
	if err != nil {
		return Explained{}, err
	}
	site, err := ReadSite(w.Root, w.Config.Clusters)
	if err != nil {
		return Explained{}, err
	}
	weights, _ := site.staged(cat.Runners, found.Family.Entry)
	x.Reproduction = Reproduce(tree, w.Root, found.Family, found.Point, points, weights)
	return x, nil
}

// maxMaster bounds a file that is read for its lines, in bytes.
const maxMaster = 64 << 20

func places(w *workspace.Workspace, name string) (recipe.Places, error) {
	src, err := workspace.ReadFile(filepath.Join(w.Root, filepath.FromSlash(name)), maxMaster)
	if err != nil {
		return recipe.Places{}, err
	}
	return recipe.ReadPlaces(src, name)
}
