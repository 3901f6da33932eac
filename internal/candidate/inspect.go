package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// SourceLabel is the image label that says where inside the image the engine's
// Python source lies, relative to its root.
const SourceLabel = "io.refit.engine.source"

// Inspected is what inspect leaves behind.
type Inspected struct {
	Script     string            `json:"script"`
	Comparison engine.Comparison `json:"comparison"`
	Edits      []engine.FileEdit `json:"edits"`
}

func (i Inspected) String() string {
	return fmt.Sprintf("%d flags read, %d findings, %d edits proposed", i.Comparison.FlagsRead, len(i.Comparison.Findings), len(i.Edits))
}

func byDigestsAndRecipe(ctx context.Context, w *work) (string, error) {
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return "", err
	}
	v, err := w.view(ctx, w.c.Base)
	if err != nil {
		return "", err
	}
	files, err := digestOf(v.FS, w.depends(v)...)
	if err != nil {
		return "", err
	}
	return workspace.Identity([]string{r.OldDigest, r.NewDigest, files}), nil
}

// inspect compares what the recipe's launch line means to both engines.
func (w *work) inspect(ctx context.Context) (any, error) {
	v, err := w.view(ctx, w.c.Base)
	if err != nil {
		return nil, err
	}
	script, err := fs.ReadFile(v.FS, v.Script)
	if err != nil {
		return nil, err
	}
	launch, err := engine.ReadLaunch(script, v.Script)
	if err != nil {
		return nil, err
	}
	oldModel, oldSide, err := w.Shepherd.source(ctx, w.c.OldImage)
	if err != nil {
		return nil, err
	}
	newModel, newSide, err := w.Shepherd.source(ctx, w.c.NewImage)
	if err != nil {
		return nil, err
	}
	c := engine.Compare(oldModel, newModel, launch)
	c.Old, c.New = oldSide, newSide
	in := Inspected{Script: v.Script, Comparison: c, Edits: c.Edits()}
	left, err := remaining(oldModel, newModel, script, in)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, &End{Outcome: Incompatible, Phase: Resolve, Reason: "the new engine rejects the launch line and no edit keeps its meaning: " + strings.Join(left, "; ")}
	}
	return in, nil
}

// remaining compares once more with the proposed edits made: what is still
// certainly rejected needs a person.
func remaining(before, after engine.Model, script []byte, in Inspected) ([]string, error) {
	edited, err := recipe.Splice(script, byFile(in.Edits)[in.Script])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Script, err)
	}
	launch, err := engine.ReadLaunch(edited, in.Script)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, f := range engine.Compare(before, after, launch).Findings {
		if f.Refused() {
			left = append(left, f.Message)
		}
	}
	return left, nil
}

// source unpacks an image and reads the arguments its engine declares. Nothing
// of the image is run.
func (s *Shepherd) source(ctx context.Context, name string) (engine.Model, engine.Side, error) {
	ref, err := image.Parse(name)
	if err != nil {
		return engine.Model{}, engine.Side{}, err
	}
	img, err := s.Images.Resolve(ctx, ref)
	if err != nil {
		return engine.Model{}, engine.Side{}, err
	}
	dir := img.Labels[SourceLabel]
	if dir == "" {
		return engine.Model{}, engine.Side{}, fmt.Errorf("image %s has no label %s: cannot tell where its engine's source is", name, SourceLabel)
	}
	root, err := s.Cache.Root(ctx, img)
	if err != nil {
		return engine.Model{}, engine.Side{}, fmt.Errorf("image %s: %w", name, err)
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return engine.Model{}, engine.Side{}, fmt.Errorf("image %s: %w", name, err)
	}
	defer inside.Close()
	m, err := engine.Read(inside.FS(), strings.TrimPrefix(dir, "/"))
	if errors.Is(err, engine.ErrNoReader) {
		return m, engine.Side{}, fmt.Errorf("%w: use a build with cgo for the source comparison", err)
	}
	side := engine.Side{
		Image: name, Digest: img.Digest,
		Version: img.Labels["org.opencontainers.image.version"],
		Commit:  img.Labels["org.opencontainers.image.revision"],
	}
	return m, side, err
}
