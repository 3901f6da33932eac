package candidate

import (
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// dependencies are the files of a tree that a family's measurements depend on,
// sorted: its master, the runner file when that holds its label, the recipes of
// its points, the engine recipes that a multi-node entry names, and the library
// that all recipes source. What is not in the tree is left out.
func dependencies(tree fs.FS, paths workspace.Paths, f live, runners recipe.Runners) []string {
	files := append([]string{f.File}, recipe.EngineFiles(tree, paths.Scripts, f.Entry)...)
	if len(runners.Labels[f.Entry.Runner]) > 0 {
		files = append(files, paths.Runners)
	}
	for _, p := range f.points {
		script, _, err := recipe.ScriptPath(tree, f.Entry, p.Settings().Scenario, p.Row.Str("spec-decoding"))
		if err == nil {
			files = append(files, script)
		}
	}
	if info, err := fs.Stat(tree, paths.Library()); err == nil && info.Mode().IsRegular() {
		files = append(files, paths.Library())
	}
	slices.Sort(files)
	return slices.Compact(files)
}
