package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// errClaimed says that a family is somebody else's.
var errClaimed = errors.New("claimed by another candidate")

// parent is who makes this session's claims.
func (s *Shepherd) parent() string { return cmp.Or(s.Parent, s.Holder.ID()) }

// claimant is the holder that a claim of a candidate names: this process, when
// it is the candidate's parent.
func (s *Shepherd) claimant(c Candidate) string {
	if c.Parent == s.Holder.ID() {
		return s.Holder.String()
	}
	return ""
}

// stake claims a candidate's family before anything was looked at: the claim
// carries no receipts yet, propose adds them. It returns the claim's commit,
// also when the claim was this candidate's already, and errClaimed when the
// family is somebody else's.
func (s *Shepherd) stake(ctx context.Context, c Candidate) (string, error) {
	commit, err := s.tryStake(ctx, c)
	if forge.Unanswered(err) && ctx.Err() == nil { // it may have been made
		commit, err = s.tryStake(ctx, c)
	}
	return commit, err
}

func (s *Shepherd) tryStake(ctx context.Context, c Candidate) (string, error) {
	held, ok, err := s.claimOf(ctx, c.Family)
	if err != nil {
		return "", err
	}
	if ok {
		return held.commit, heldFor(held, c)
	}
	message, err := workspace.Canonical(claim{Candidates: []Candidate{c}, Holder: s.claimant(c), RunID: c.Parent})
	if err != nil {
		return "", fmt.Errorf("claim: %w", err)
	}
	commit, err := s.Forge.Commit(ctx, c.Base, string(message), nil)
	if err != nil {
		return "", fmt.Errorf("claim: %w", err)
	}
	err = s.Forge.CreateRef(ctx, ClaimRef(s.prefix(), c.Family), commit)
	if errors.Is(err, forge.ErrExists) { // somebody was faster
		if held, ok, err = s.claimOf(ctx, c.Family); err == nil && ok {
			return held.commit, heldFor(held, c)
		}
		return "", errors.Join(errClaimed, err)
	}
	return commit, err
}

func heldFor(held claim, c Candidate) error {
	if h := held.Candidates[0]; h != c {
		return fmt.Errorf("%w: %s of %s", errClaimed, h.ID, h.Parent)
	}
	return nil
}

// completeClaim gives a claim without receipts those of the steps that looked,
// by compare-and-swap, so that the candidate outlives this machine's store.
func (w *work) completeClaim(ctx context.Context, held claim) error {
	message, files, err := w.claimText(held.Holder)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	commit, err := w.Forge.Commit(ctx, held.commit, message, files)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	err = w.Forge.MoveRef(ctx, held.ref, held.commit, commit)
	if errors.Is(err, forge.ErrMoved) {
		return Waiting{"a fresh look: the family's claim has just changed"}
	}
	return err
}
