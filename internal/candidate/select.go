package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	c := Candidate{Family: fam.ID, Base: base, OldImage: fam.Entry.Image, NewImage: target, Release: release, Parent: s.Holder.ID()}
	name := release
	if name == "" {
		name = target
	}
	c.ID = ID(c.Family, c.OldImage, name)
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
// repository. A release is known when the image comes from the lane's tags.
func (s *Shepherd) target(ctx context.Context, current, to string) (string, string, error) {
	cur, err := image.Parse(current)
	if err != nil {
		return "", "", fmt.Errorf("current image: %w", err)
	}
	if to != "" {
		if ref, err := image.Parse(to); err == nil {
			return ref.String(), "", nil
		}
		cur.Tag, cur.Digest = to, ""
		ref, err := image.Parse(cur.String())
		if err != nil {
			return "", "", fmt.Errorf("--to %s: %w", to, err)
		}
		return ref.String(), "", nil
	}
	tags, err := s.Images.Tags(ctx, cur.Repository)
	if err != nil {
		return "", "", fmt.Errorf("tags of %s: %w", cur.Repository, err)
	}
	newest, ok := image.Newest(tags, cur.Tag)
	if !ok || newest == cur.Tag {
		return "", "", fmt.Errorf("%s: %w", current, ErrNothingNewer)
	}
	release, _, _ := image.Lane(newest)
	cur.Tag, cur.Digest = newest, ""
	return cur.String(), release, nil
}

func sameTarget(image, to string) bool {
	return image == to || len(image) > len(to) && image[len(image)-len(to)-1] == ':' && image[len(image)-len(to):] == to
}

// remembered returns the ended candidate of the same identity, if there is one.
func (s *Shepherd) remembered(ctx context.Context, c Candidate) (Candidate, error) {
	all, err := s.Ledger.Candidates(ctx)
	if err != nil {
		return c, fmt.Errorf("list candidates: %w", err)
	}
	for _, old := range all {
		if old.ID == c.ID && old.Outcome != "" {
			return old.Candidate, nil
		}
	}
	return c, nil
}

// claim is the message of the commit that a claim ref points at.
type claim struct {
	Candidates []Candidate `json:"candidates"`
	RunID      string      `json:"run-id"`
}

// Claimed returns the candidate that holds the claim of a family. A claim that
// cannot be read blocks its family: the error says so.
func (s *Shepherd) Claimed(ctx context.Context, family string) (Candidate, bool, error) {
	ref := ClaimRef(s.prefix(), family)
	sha, ok, err := s.Forge.Ref(ctx, ref)
	if err != nil || !ok {
		return Candidate{}, false, err
	}
	message, err := s.Forge.Message(ctx, sha)
	if err != nil {
		return Candidate{}, false, fmt.Errorf("claim %s: %w", ref, err)
	}
	var p claim
	if err := json.Unmarshal([]byte(message), &p); err != nil {
		return Candidate{}, false, fmt.Errorf("claim %s is unreadable and blocks the family: %w", ref, err)
	}
	for _, c := range p.Candidates {
		if c.Family == family {
			return c, true, nil
		}
	}
	return Candidate{}, false, fmt.Errorf("claim %s names other families and blocks this one", ref)
}
