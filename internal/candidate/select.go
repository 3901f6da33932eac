package candidate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/recipe"
)

// ErrNothingNewer says that the family already runs the newest image of its lane.
var ErrNothingNewer = errors.New("no newer image in its lane")

// Select finds the candidate that a request for a family means: the one that
// holds the family's claim, else one that already ended for the same images,
// else a new one at the tip of main. to is an image reference, a tag, or "" for
// the newest image in the family's lane.
func (s *Shepherd) Select(ctx context.Context, family, to string) (Candidate, error) {
	branch, err := s.Forge.DefaultBranch(ctx)
	if err != nil {
		return Candidate{}, fmt.Errorf("default branch: %w", err)
	}
	base, ok, err := s.Forge.Ref(ctx, "heads/"+branch)
	if err != nil || !ok {
		return Candidate{}, fmt.Errorf("tip of %s: %w", branch, errors.Join(err, missing(ok)))
	}
	fam, err := s.familyAt(ctx, base, family)
	if err != nil {
		return Candidate{}, err
	}
	if c, ok, err := s.Claimed(ctx, fam.ID); err != nil || ok {
		if err == nil && to != "" && !sameTarget(c.NewImage, to) {
			err = fmt.Errorf("family %s is claimed by candidate %s, which moves it to %s", fam.ID, c.ID, c.NewImage)
		}
		return c, err
	}
	target, release, err := s.target(ctx, fam.Entry.Image, to)
	if err != nil {
		return Candidate{}, fmt.Errorf("family %s: %w", fam.ID, err)
	}
	c := Candidate{Family: fam.ID, Base: base, OldImage: fam.Entry.Image, NewImage: target, Release: release, Parent: s.parent()}
	c.ID = c.identity()
	return s.remembered(ctx, c)
}

func missing(ok bool) error {
	if ok {
		return nil
	}
	return errors.New("no such ref")
}

func (s *Shepherd) familyAt(ctx context.Context, commit, name string) (recipe.Family, error) {
	fsys, err := s.Tree(ctx, commit)
	if err != nil {
		return recipe.Family{}, fmt.Errorf("commit %.12s: %w", commit, err)
	}
	catalogue, err := recipe.Load(fsys, s.Paths.Masters, s.Paths.Runners)
	if err != nil {
		return recipe.Family{}, err
	}
	return catalogue.Family(name)
}

// target resolves what the user asked for into an image reference of the same
// repository, in the recipe's spelling. A release is known when the image comes
// from the lane's tags.
func (s *Shepherd) target(ctx context.Context, current, to string) (string, string, error) {
	cur, err := image.Parse(current)
	if err != nil {
		return "", "", fmt.Errorf("current image: %w", err)
	}
	if to != "" {
		if ref, err := image.Parse(to); err == nil {
			return ref.Like(current), "", nil
		}
		cur.Tag, cur.Digest = to, ""
		ref, err := image.Parse(cur.String())
		if err != nil {
			return "", "", fmt.Errorf("--to %s: %w", to, err)
		}
		return ref.Like(current), "", nil
	}
	tags, err := s.Images.Tags(ctx, cur.Name())
	if err != nil {
		return "", "", err // names the repository
	}
	newer, release := follower(cur, current, tags)
	if newer == "" {
		return "", "", fmt.Errorf("%s: %w", current, ErrNothingNewer)
	}
	return newer, release, nil
}

func sameTarget(name, to string) bool {
	return image.Same(name, to) || strings.HasSuffix(name, ":"+to)
}

// remembered returns the ended candidate of the same identity, if there is one.
// After an end that a later upgrade may retry, or that a maintainer has released,
// it is the next attempt: the receipts of the earlier ones stay what they were.
func (s *Shepherd) remembered(ctx context.Context, c Candidate) (Candidate, error) {
	old, ok, err := Lookup(ctx, s.Ledger, c.ID)
	switch {
	case err != nil:
		return c, fmt.Errorf("list candidates: %w", err)
	case !ok || old.Outcome == "":
		return c, nil
	}
	again := old.Outcome.Retryable()
	if !again {
		if again, err = s.released(ctx, old.Candidate, old.Outcome); err != nil {
			return c, err
		}
	}
	if !again {
		return old.Candidate, nil
	}
	c.Attempt = old.Attempt + 1
	return c, nil
}

// Lookup is the last known state of one candidate; false when the ledger knows
// none of this id.
func Lookup(ctx context.Context, l Ledger, id string) (Summary, bool, error) {
	if one, ok := l.(interface {
		Candidate(context.Context, string) (Summary, bool, error)
	}); ok {
		return one.Candidate(ctx, id)
	}
	all, err := l.Candidates(ctx)
	if err != nil {
		return Summary{}, false, err
	}
	for _, s := range all {
		if s.ID == id {
			return s, true, nil
		}
	}
	return Summary{}, false, nil
}
