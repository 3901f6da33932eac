package candidate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// Entered is what enter leaves behind.
type Entered struct {
	Head string `json:"head"`
	Base string `json:"base"` // SHA-256 of main's changelog under the entry
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
	main, err := w.Forge.DefaultBranch(ctx)
	if err != nil {
		return nil, err
	}
	log, err := w.Forge.File(ctx, main, w.Paths.Changelog)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", w.Paths.Changelog, main, err)
	}
	return log, nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// enter appends the changelog entry: main's bytes, then exactly this family.
func (w *work) enter(ctx context.Context) (any, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	log, err := w.mainLog(ctx)
	if err != nil {
		return nil, err
	}
	want, err := recipe.AppendEntry(log, w.entry(p.Number))
	if err != nil {
		return nil, err
	}
	have, err := w.Forge.File(ctx, p.HeadSHA, w.Paths.Changelog)
	if err != nil {
		return nil, fmt.Errorf("%s at %.12s: %w", w.Paths.Changelog, p.HeadSHA, err)
	}
	if bytes.Equal(have, want) {
		return Entered{p.HeadSHA, sum(log)}, nil
	}
	message := fmt.Sprintf("Add the changelog entry of %s\n\n%s\n", w.c.Key(), w.trailer())
	if _, again := w.receipts["enter"]; again {
		// Main moved under the entry: the measurements stand, so no sweep may
		// start from this push.
		if err := w.Forge.RemoveLabel(ctx, p.Number, w.Config.Policy.SweepLabel); err != nil {
			return nil, fmt.Errorf("take the sweep label off: %w", err)
		}
		message = "[skip-sweep] " + message
	}
	head, err := w.Forge.Commit(ctx, p.HeadSHA, message, map[string][]byte{w.Paths.Changelog: want})
	if err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	if err := w.Forge.MoveRef(ctx, "heads/"+w.c.Branch(w.prefix()), p.HeadSHA, head); err != nil {
		return nil, fmt.Errorf("push: %w", errors.Join(err, w.looked(ctx)))
	}
	w.pull = nil
	return Entered{head, sum(log)}, nil
}

// looked adds to a failed push what the branch is now.
func (w *work) looked(ctx context.Context) error {
	sha, ok, err := w.Forge.Ref(ctx, "heads/"+w.c.Branch(w.prefix()))
	if err != nil || !ok {
		return err
	}
	return fmt.Errorf("the branch is at %.12s", sha)
}
