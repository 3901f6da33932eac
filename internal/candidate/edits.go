package candidate

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/recipe"
)

// edited are the files of the base that the candidate changes: the family's
// image in its master, and the recipe script's flags. Everything else of both
// files is preserved byte for byte.
func (w *work) edited(ctx context.Context) (map[string][]byte, error) {
	v, err := w.view(ctx, w.c.Base)
	if err != nil {
		return nil, err
	}
	master, err := fs.ReadFile(v.FS, w.c.File())
	if err != nil {
		return nil, err
	}
	moved, err := recipe.SetImage(master, w.c.File(), w.c.Key(), w.c.NewImage)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{w.c.File(): moved}
	in, err := evidence[Inspected](w, "inspect")
	if err != nil {
		return nil, err
	}
	for file, edits := range byFile(in.Edits) {
		if err := w.unshared(v, file); err != nil {
			return nil, err
		}
		src, err := fs.ReadFile(v.FS, file)
		if err != nil {
			return nil, err
		}
		if files[file], err = recipe.Splice(src, edits); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return files, nil
}

func byFile(all []engine.FileEdit) map[string][]recipe.Edit {
	files := map[string][]recipe.Edit{}
	for _, e := range all {
		files[e.File] = append(files[e.File], e.Edit)
	}
	return files
}

// unshared refuses to edit a script that another family runs too: its image
// stays, so the flag must stay as well.
func (w *work) unshared(v treeView, file string) error {
	catalogue, err := recipe.Load(v.FS, w.Paths.Masters, w.Paths.Runners)
	if err != nil {
		return err
	}
	var others []string
	for _, f := range catalogue.Families {
		if f.ID == w.c.Family {
			continue
		}
		for _, scenario := range []string{"fixed-seq-len", "agentic-coding"} {
			script, _, err := recipe.ScriptPath(v.FS, f.Entry, scenario, "none")
			if err == nil && script == file && !slices.Contains(others, f.Key) {
				others = append(others, f.Key)
			}
		}
	}
	if len(others) > 0 {
		return &End{Outcome: Uncertain, Phase: Resolve, Reason: fmt.Sprintf("%s is shared with %v: give this family its own script, or move them together", file, others)}
	}
	return nil
}
