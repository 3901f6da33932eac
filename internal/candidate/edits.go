package candidate

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/recipe"
)

// edited are the files of the base that the candidate changes.
func (w *work) edited(ctx context.Context) (map[string][]byte, error) {
	v, err := w.view(ctx, w.c.Base)
	if err != nil {
		return nil, err
	}
	return w.editedOn(ctx, v)
}

// editedOn are the files of a tree that the candidate changes: the family's
// image in its master, and the recipe script's flags. Everything else of both
// files is preserved byte for byte.
func (w *work) editedOn(ctx context.Context, v treeView) (map[string][]byte, error) {
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
	base, err := w.view(ctx, w.c.Base)
	if err != nil {
		return nil, err
	}
	for file, edits := range byFile(in.Edits) {
		if err := w.unshared(v, file); err != nil {
			return nil, err
		}
		before, err := fs.ReadFile(base.FS, file)
		if err != nil {
			return nil, err
		}
		src, err := fs.ReadFile(v.FS, file)
		if err != nil {
			return nil, fmt.Errorf("%s at %.12s: %w", file, v.Commit, err)
		}
		if edits, err = carry(before, src, edits); err != nil {
			return nil, &End{Outcome: Uncertain, Phase: Unknown, Reason: fmt.Sprintf("%s changed on the main branch (%.12s) where the candidate edits it: %v; a later upgrade begins from there", file, v.Commit, err)}
		}
		if files[file], err = recipe.Splice(src, edits); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return files, nil
}

// carry moves edits of one text to a later one: every edit goes where the
// whole lines around it stand now. They must stand there exactly once.
func carry(before, now []byte, edits []recipe.Edit) ([]recipe.Edit, error) {
	if bytes.Equal(before, now) {
		return edits, nil
	}
	before, now = append(bytes.Clone(before), '\n'), append(bytes.Clone(now), '\n') // every line ends
	var moved []recipe.Edit
	for _, e := range edits {
		from := bytes.LastIndexByte(before[:e.Start], '\n') + 1
		to := e.End + bytes.IndexByte(before[e.End:], '\n') + 1
		lines := before[from:to]
		if n, m := lineCount(before, lines), lineCount(now, lines); n != 1 || m != 1 {
			return nil, fmt.Errorf("the lines of %q stood there %d times and now stand %d times", e.Old, n, m)
		}
		shift := lineIndex(now, lines) - from
		moved = append(moved, recipe.Edit{Start: e.Start + shift, End: e.End + shift, Old: e.Old, New: e.New})
	}
	return moved, nil
}

// lineIndex is where whole lines stand in a text, -1 when they do not.
func lineIndex(text, lines []byte) int {
	if bytes.HasPrefix(text, lines) {
		return 0
	}
	if i := bytes.Index(text, append([]byte{'\n'}, lines...)); i >= 0 {
		return i + 1
	}
	return -1
}

func lineCount(text, lines []byte) (n int) {
	for at := 0; ; n++ {
		i := lineIndex(text[at:], lines)
		if i < 0 {
			return n
		}
		at += i + len(lines)
	}
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
