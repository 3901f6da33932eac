package candidate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

// Proposed is what propose leaves behind.
type Proposed struct {
	Branch string `json:"branch"`
	Head   string `json:"head"` // the commit of the edits
	Pull   int    `json:"pull"`
	URL    string `json:"url"`
}

func (p Proposed) String() string {
	return fmt.Sprintf("draft pull request #%d on %s", p.Pull, p.Branch)
}

func byCandidate(_ context.Context, w *work) (string, error) { return w.c.ID, nil }

// hasCapacity ends the candidate while nothing is written yet.
func hasCapacity(ctx context.Context, w *work) error {
	v, err := w.view(ctx, w.c.Base)
	if err != nil {
		return err
	}
	if c := w.Capacity(ctx, v.Family.Entry.Runner); c.Answer != gate.Pass {
		return &End{Outcome: CapacityDeferred, Phase: Resolve, Reason: c.Reason}
	}
	return nil
}

// roomForEdits is hasCapacity before anything is prepared. A rehearsal prepares
// all the same, and what has been proposed is not ended by it.
func roomForEdits(ctx context.Context, w *work) error {
	if w.dry || w.claimed {
		return nil
	}
	return hasCapacity(ctx, w)
}

// propose claims the family, commits the edits through the forge's git data
// (never through somebody's work tree) and opens the draft.
func (w *work) propose(ctx context.Context) (any, error) {
	if err := w.claim(ctx); err != nil {
		return nil, err
	}
	files, err := w.edited(ctx)
	if err != nil {
		return nil, err
	}
	head, err := w.ensureBranch(ctx, files)
	if err != nil {
		return nil, err
	}
	pull, err := w.ensurePull(ctx)
	if err != nil {
		return nil, err
	}
	w.pull = &pull
	return Proposed{w.c.Branch(w.prefix()), head, pull.Number, pull.URL}, nil
}

// claim creates the family's claim ref, or finds that it is ours already. One
// that a wave made before anything was looked at gets its receipts now.
func (w *work) claim(ctx context.Context) error {
	held, ok, err := w.claimOf(ctx, w.c.Family)
	if err != nil {
		return err
	}
	if ok {
		if err := w.sameClaim(held.Candidates[0]); err != nil || held.Receipts != nil {
			return err
		}
		return w.completeClaim(ctx, held)
	}
	message, files, err := w.claimText(w.claimant(w.c))
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	commit, err := w.Forge.Commit(ctx, w.c.Base, message, files)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	err = w.Forge.CreateRef(ctx, ClaimRef(w.prefix(), w.c.Family), commit)
	if errors.Is(err, forge.ErrExists) { // somebody was faster, or our own answer was lost
		if held, ok, err = w.claimOf(ctx, w.c.Family); err == nil && !ok {
			err = Waiting{"a fresh look: the family's claim has just been released"}
		} else if err == nil {
			err = w.sameClaim(held.Candidates[0])
		}
	}
	return err
}

// claimIsOurs says whether the family's claim names exactly this candidate.
func (w *work) claimIsOurs(ctx context.Context) (bool, error) {
	held, ok, err := w.Shepherd.Claimed(ctx, w.c.Family)
	return ok && held == w.c, err
}

func (w *work) sameClaim(held Candidate) error {
	if held != w.c {
		return fmt.Errorf("family %s is claimed by candidate %s of %s", w.c.Family, held.ID, held.Parent)
	}
	return nil
}

// ensureBranch creates the branch at a commit that holds the edits, or finds
// that it is there with exactly these bytes.
func (w *work) ensureBranch(ctx context.Context, files map[string][]byte) (string, error) {
	name := "heads/" + w.c.Branch(w.prefix())
	head, ok, err := w.Forge.Ref(ctx, name)
	if err != nil {
		return "", fmt.Errorf("branch: %w", err)
	}
	if ok {
		if err := w.headIsSigned(ctx, head); err != nil {
			return "", err
		}
		return head, w.sameFiles(ctx, head, files)
	}
	s, err := w.sentences()
	if err != nil {
		return "", err
	}
	head, err = w.Forge.Commit(ctx, w.c.Base, s.commit, files)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	if err := w.Forge.CreateRef(ctx, name, head); err != nil {
		return "", fmt.Errorf("branch: %w", err)
	}
	return head, nil
}

// headIsSigned refuses a branch that somebody else has pushed to.
func (w *work) headIsSigned(ctx context.Context, head string) error {
	message, err := w.Forge.Message(ctx, head)
	if err != nil {
		return fmt.Errorf("branch at %.12s: %w", head, err)
	}
	if !w.signed(message) {
		return &End{Outcome: Handoff, Phase: Resolve, Reason: fmt.Sprintf("branch %s is at %.12s, which is not ours", w.c.Branch(w.prefix()), head)}
	}
	return nil
}

func (w *work) sameFiles(ctx context.Context, head string, files map[string][]byte) error {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		got, err := w.Forge.File(ctx, head, path)
		if err != nil {
			return fmt.Errorf("branch at %.12s: %w", head, err)
		}
		if !bytes.Equal(got, files[path]) {
			return fmt.Errorf("branch %s exists and its %s is not what the candidate would write", w.c.Branch(w.prefix()), path)
		}
	}
	return nil
}

// ensurePull opens the draft, or finds the one that is open.
func (w *work) ensurePull(ctx context.Context) (forge.Pull, error) {
	branch := w.c.Branch(w.prefix())
	pulls, err := w.Forge.PullsByHead(ctx, branch)
	if err != nil {
		return forge.Pull{}, fmt.Errorf("pull requests of %s: %w", branch, err)
	}
	open := slices.DeleteFunc(pulls, func(p forge.Pull) bool { return p.State != "open" })
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
	default:
		return forge.Pull{}, fmt.Errorf("ambiguous: %d open pull requests of %s", len(open), branch)
	}
	body, err := w.body()
	if err != nil {
		return forge.Pull{}, err
	}
	main, err := w.mainBranch(ctx)
	if err != nil {
		return forge.Pull{}, err
	}
	p, err := w.Forge.OpenPull(ctx, w.title(), body, branch, main, true)
	if err != nil {
		return forge.Pull{}, fmt.Errorf("open pull request: %w", err)
	}
	return p, nil
}
