package candidate

import (
	"context"
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

// Resolved is what resolve leaves behind: both images by tag and by digest.
type Resolved struct {
	OldImage  string `json:"old-image"`
	OldDigest string `json:"old-digest"`
	NewImage  string `json:"new-image"`
	NewDigest string `json:"new-digest"`
	Lane      string `json:"lane,omitempty"`
}

func (r Resolved) String() string {
	return fmt.Sprintf("%s (%.19s) -> %s (%.19s)", r.OldImage, r.OldDigest, r.NewImage, r.NewDigest)
}

func byFamilyAndBase(_ context.Context, w *work) (string, error) {
	return workspace.Identity([]string{w.c.Family, w.c.Base, w.c.OldImage, w.c.NewImage}), nil
}

// resolve turns both tags into digests and refuses a move that is already
// made, crosses lanes or changes nothing.
func (w *work) resolve(ctx context.Context) (any, error) {
	v, err := w.view(ctx, w.c.Base)
	if err != nil {
		return nil, err
	}
	if v.Family.Entry.Image != w.c.OldImage {
		return nil, &End{Outcome: AlreadyUpdated, Phase: Resolve, Reason: fmt.Sprintf("the family is at %s, not at %s", v.Family.Entry.Image, w.c.OldImage)}
	}
	old, err := w.digest(ctx, w.c.OldImage)
	if err != nil {
		return nil, fmt.Errorf("old image: %w", err)
	}
	new, err := w.digest(ctx, w.c.NewImage)
	if err != nil {
		return nil, fmt.Errorf("new image: %w", err)
	}
	if old.Digest == new.Digest {
		return nil, &End{Outcome: AlreadyUpdated, Phase: Resolve, Reason: fmt.Sprintf("%s and %s are the same image %s", w.c.OldImage, w.c.NewImage, old.Digest)}
	}
	r := Resolved{OldImage: w.c.OldImage, OldDigest: old.Digest, NewImage: w.c.NewImage, NewDigest: new.Digest}
	_, oldLane, okOld := image.Lane(old.Ref.Tag)
	_, newLane, okNew := image.Lane(new.Ref.Tag)
	if okOld && okNew && oldLane != newLane && w.c.Release != "" {
		return nil, fmt.Errorf("lane %s is not lane %s: name the image with --to to cross lanes", newLane, oldLane)
	}
	r.Lane = newLane
	return r, roomForEdits(ctx, w)
}

func (w *work) digest(ctx context.Context, name string) (image.Image, error) {
	ref, err := image.Parse(name)
	if err != nil {
		return image.Image{}, err
	}
	img, err := w.Images.Resolve(ctx, ref)
	if err != nil {
		return image.Image{}, imageProblem(err)
	}
	if img.Digest == "" {
		return image.Image{}, errors.New("registry gave no digest for " + name)
	}
	return img, nil
}

// imageProblem tells a registry that does not answer from what is wrong with the
// image.
func imageProblem(err error) error {
	if image.Unreachable(err) {
		return blockedBy(BlockedRegistry, err)
	}
	return err
}
