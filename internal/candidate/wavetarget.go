package candidate

import (
	"context"
	"strings"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/result/api"
)

// tagList is a repository's answer, which all of its families share.
type tagList struct {
	tags []string
	err  error
}

// follower is the newest image of a lane, in the spelling of the image that it
// follows, and its release; "" when tags hold none that is surely newer.
func follower(of image.Ref, spelling string, tags []string) (newer, release string) {
	newest, ok := image.Newest(tags, of.Tag)
	if !ok || newest == of.Tag {
		return "", ""
	}
	release, _, _ = image.Lane(newest)
	of.Tag, of.Digest = newest, ""
	return of.Like(spelling), release
}

// newest is the image that a family moves to, and its release.
func (p *planner) newest(ctx context.Context, f live, rows []api.LatestImage) (newer, release string, err error) {
	ref, err := image.Parse(f.Entry.Image)
	if err != nil {
		return "", "", stay(TagsUnknown, "%v", err)
	}
	known, ok := p.tags[ref.Name()]
	if !ok {
		known.tags, known.err = p.Images.Tags(ctx, ref.Name())
		p.tags[ref.Name()] = known
	}
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if known.err != nil {
		return "", "", stay(TagsUnknown, "%s", brief(ctx, ref.Name(), known.err))
	}
	if newer, release = follower(ref, f.Entry.Image, known.tags); newer != "" {
		return newer, release, nil
	}
	return "", "", p.standing(ref, known.tags, rows[0])
}

// standing says why nothing follows an image in its lane.
func (p *planner) standing(ref image.Ref, tags []string, row api.LatestImage) error {
	_, _, ordered := image.Lane(ref.Tag)
	release, known := Release(row.Framework, p.releases)
	switch {
	case !ordered:
		return stay(NothingNewer, "the tag of %s names no release, date or commit", ref)
	case unordered(tags, ref.Tag):
		return stay(NothingNewer, "the tags in the lane of %s are named by commit alone, which says no order", ref)
	case known && !strings.Contains(ref.String(), release):
		return stay(NothingNewer, "%s is released, and the lane of %s has no image of it", release, ref)
	}
	return stay(AlreadyNewest, "%s is the newest of its lane", ref)
}

// attempt makes a candidate the next attempt after an end that may be retried.
// Any other end of the same move stands.
func (p *planner) attempt(ctx context.Context, c Candidate) (Candidate, error) {
	again, err := p.remembered(ctx, c)
	if err != nil {
		return c, err
	}
	for _, old := range p.saved {
		if old.ID == c.ID && old.Outcome != "" && old.Attempt == again.Attempt {
			return c, stay(TriedBefore, "candidate %s ended %s", old.ID, old.Outcome)
		}
	}
	c.Attempt = again.Attempt
	return c, nil
}
