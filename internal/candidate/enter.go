package candidate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// Entered is what enter leaves behind.
type Entered struct {
	Head string `json:"head"`
	Base string `json:"base"`           // SHA-256 of main's changelog under the entry
	Main string `json:"main,omitempty"` // the commit of main that the entry merged
}

func (e Entered) String() string { return fmt.Sprintf("entry appended at %.12s", e.Head) }

// byChangelog binds the entry to main's changelog: when main's grows under it,
// the entry is redone, and only the entry.
func byChangelog(ctx context.Context, w *work) (string, error) {
	log, err := w.mainLog(ctx)
	if err != nil {
		return "", err
	}
	return workspace.Identity([]string{w.c.ID, sum(log)}), nil
}

func (w *work) mainLog(ctx context.Context) ([]byte, error) {
	main, err := w.mainBranch(ctx)
	if err != nil {
		return nil, err
	}
	return w.logAt(ctx, main)
}

func (w *work) logAt(ctx context.Context, ref string) ([]byte, error) {
	log, err := w.Forge.File(ctx, ref, w.Paths.Changelog)
	if err != nil {
		return nil, fmt.Errorf("%s at %.40s: %w", w.Paths.Changelog, ref, err)
	}
	return log, nil
}

// mainBranch is the name of the default branch, asked for once.
func (w *work) mainBranch(ctx context.Context) (string, error) {
	if w.main != "" {
		return w.main, nil
	}
	var err error
	w.main, err = w.Forge.DefaultBranch(ctx)
	return w.main, err
}

// mainTip is the commit that the default branch points at.
func (w *work) mainTip(ctx context.Context) (string, error) {
	main, err := w.mainBranch(ctx)
	if err != nil {
		return "", err
	}
	tip, ok, err := w.Forge.Ref(ctx, "heads/"+main)
	if err != nil || !ok {
		return "", fmt.Errorf("tip of %s: %w", main, errors.Join(err, missing(ok)))
	}
	return tip, nil
}

// enter appends the changelog entry: main's bytes, then exactly this family.
// Where main's changelog has grown since the branch left it, the entry is a
// merge of main, because two ends of one file would conflict.
func (w *work) enter(ctx context.Context) (any, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	main, err := w.mainTip(ctx)
	if err != nil {
		return nil, err
	}
	log, err := w.logAt(ctx, main)
	if err != nil {
		return nil, err
	}
	want, err := recipe.AppendEntry(log, w.entry(p.Number))
	if err != nil {
		return nil, err
	}
	have, err := w.logAt(ctx, p.HeadSHA)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(have, want):
		return Entered{Head: p.HeadSHA, Base: sum(log)}, nil
	case !bytes.Equal(have, log):
		return w.mergeMain(ctx, p, main, want)
	}
	message := fmt.Sprintf("Add the changelog entry of %s\n\n%s\n", w.c.Key(), w.trailer())
	head, err := w.Forge.Commit(ctx, p.HeadSHA, message, map[string][]byte{w.Paths.Changelog: want})
	if err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	return Entered{Head: head, Base: sum(log)}, w.pushEntry(ctx, p, head)
}

// pushEntry moves the branch from where it was looked at.
func (w *work) pushEntry(ctx context.Context, p forge.Pull, head string) error {
	if err := w.Forge.MoveRef(ctx, "heads/"+w.c.Branch(w.prefix()), p.HeadSHA, head); err != nil {
		return fmt.Errorf("push: %w", errors.Join(err, w.looked(ctx)))
	}
	w.pull = nil
	return nil
}

// mergeMain redoes the entry on top of main: the tree is main's with our edits
// made again on main's own bytes, the parents are our head and main. The pull
// request then merges without conflict and shows only our change.
func (w *work) mergeMain(ctx context.Context, p forge.Pull, main string, log []byte) (any, error) {
	v, err := w.view(ctx, main)
	if err != nil {
		return nil, err
	}
	if at := v.Family.Entry.Image; at != w.c.OldImage {
		return nil, &End{Outcome: AlreadyUpdated, Phase: Unknown, Reason: fmt.Sprintf("main (%.12s) moved the family to %s, away from %s", main, at, w.c.OldImage)}
	}
	files, err := w.editedOn(ctx, v)
	if err != nil {
		return nil, err
	}
	files[w.Paths.Changelog] = log
	stands, err := w.standsWith(ctx, overlay{v.FS, files})
	if err != nil {
		return nil, fmt.Errorf("on top of main (%.12s): %w", main, err)
	}
	message := fmt.Sprintf("Add the changelog entry of %s on top of main\n\n%s\n", w.c.Key(), w.trailer())
	if stands {
		message = skipSweep + message
	}
	if slices.Contains(p.Labels, w.Config.Policy.SweepLabel) { // no sweep may start from this push
		if err := w.Forge.RemoveLabel(ctx, p.Number, w.Config.Policy.SweepLabel); err != nil {
			return nil, fmt.Errorf("take the sweep label off: %w", err)
		}
		w.pull = nil
	}
	head, err := w.Forge.Merge(ctx, p.HeadSHA, main, message, files)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	if err := w.pushEntry(ctx, p, head); err != nil {
		return nil, err
	}
	if !stands { // what the family depends on has changed: from the smoke run on, everything is looked at again
		return nil, Waiting{"a fresh look: the entry was redone on top of main"}
	}
	return Entered{head, sum(log), main}, nil
}

// skipSweep begins the message of a head whose push and labels start no sweep.
const skipSweep = "[skip-sweep] "

// standsWith says whether a sweep of our present head also measured what a new
// tree holds: equal image, points and bytes of every file the family depends on.
func (w *work) standsWith(ctx context.Context, fsys fs.FS) (bool, error) {
	after, err := w.readFS(fsys)
	if err != nil {
		return false, err
	}
	v, err := w.head(ctx)
	if err != nil {
		return false, err
	}
	runs, err := w.sweepRuns(ctx, v)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	before, err := w.workSubject(v, matrix.Full(v.Points))
	if err != nil {
		return false, err
	}
	now, err := w.workSubject(after, matrix.Full(after.Points))
	return before == now, err
}

// looked adds to a failed push what the branch is now.
func (w *work) looked(ctx context.Context) error {
	sha, ok, err := w.Forge.Ref(ctx, "heads/"+w.c.Branch(w.prefix()))
	if err != nil || !ok {
		return err
	}
	return fmt.Errorf("the branch is at %.12s", sha)
}
