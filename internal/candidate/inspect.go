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
	Judged     *Judged           `json:"judged,omitempty"` // when somebody reviewed it before anything was written
}

func (i Inspected) String() string {
	from := ""
	if i.Comparison.New.Read == engine.FromHelp {
		from = ", read from --help"
	}
	return fmt.Sprintf("%d flags read, %d findings, %d edits proposed%s", i.Comparison.FlagsRead, len(i.Comparison.Findings), len(i.Edits), from)
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
	before, after, err := w.Shepherd.sources(ctx, w.c.OldImage, w.c.NewImage, launch.Program)
	if err != nil {
		return nil, err
	}
	c := engine.Compare(before.model, after.model, launch)
	c.Old, c.New = before.side, after.side
	in := Inspected{Script: v.Script, Comparison: c, Edits: c.Edits()}
	left, err := remaining(before.model, after.model, script, in)
	if err != nil {
		return nil, err
	}
	if w.Judge != nil {
		if in, left, err = w.reviewed(ctx, reviewing{before: before.model, after: after.model, script: script, in: in, left: left}); err != nil {
			return nil, err
		}
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

// told is what an image tells about the arguments that its engine takes.
type told struct {
	model engine.Model
	side  engine.Side
}

// sources reads both images in the same way, because a help text shows less
// than a source has: by their Python source when both carry the label that
// says where it lies, else by what their programs print for --help.
func (s *Shepherd) sources(ctx context.Context, before, after string, program []string) (a, b told, err error) {
	var images []image.Image
	unlabelled := ""
	for _, name := range []string{before, after} {
		ref, err := image.Parse(name)
		if err != nil {
			return told{}, told{}, err
		}
		img, err := s.Images.Resolve(ctx, ref)
		if err != nil {
			return told{}, told{}, err
		}
		if img.Labels[SourceLabel] == "" && unlabelled == "" {
			unlabelled = name
		}
		images = append(images, img)
	}
	read := s.source
	if unlabelled != "" {
		if s.Help == nil {
			return told{}, told{}, fmt.Errorf("image %s has no label %s: cannot tell where its engine's source is, and no executor is here to ask it for --help",
				unlabelled, SourceLabel)
		}
		if len(program) == 0 {
			return told{}, told{}, fmt.Errorf("image %s has no label %s, and the recipe does not fix which program it starts: nothing can be asked for --help",
				unlabelled, SourceLabel)
		}
		read = func(ctx context.Context, name string, img image.Image) (told, error) {
			t, err := s.help(ctx, name, img, program)
			if err != nil {
				err = fmt.Errorf("image %s has no label %s, and its --help says nothing: %w", unlabelled, SourceLabel, err)
			}
			return t, err
		}
	}
	if a, err = read(ctx, before, images[0]); err == nil {
		b, err = read(ctx, after, images[1])
	}
	return a, b, err
}

// source unpacks an image and reads the arguments its engine declares. Nothing
// of the image is run.
func (s *Shepherd) source(ctx context.Context, name string, img image.Image) (told, error) {
	dir := img.Labels[SourceLabel]
	root, err := s.Cache.Root(ctx, img)
	if err != nil {
		return told{}, fmt.Errorf("image %s: %w", name, err)
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return told{}, fmt.Errorf("image %s: %w", name, err)
	}
	defer inside.Close()
	m, err := engine.Read(inside.FS(), strings.TrimPrefix(dir, "/"))
	if errors.Is(err, engine.ErrNoReader) {
		err = fmt.Errorf("%w: use a build with cgo for the source comparison", err)
	}
	return told{m, sideOf(name, img, engine.FromSource, dir)}, err
}

// help asks an image's program for its help text, through the executor.
func (s *Shepherd) help(ctx context.Context, name string, img image.Image, program []string) (told, error) {
	text, err := s.Help(ctx, img, program)
	if err != nil {
		return told{}, err
	}
	m, err := engine.ReadHelp(text, "--help")
	if err != nil {
		return told{}, fmt.Errorf("image %s: %w", name, err)
	}
	return told{m, sideOf(name, img, engine.FromHelp, strings.Join(program, " ")+" --help")}, nil
}

func sideOf(name string, img image.Image, read, from string) engine.Side {
	return engine.Side{
		Image: name, Digest: img.Digest, Read: read, From: from,
		Version: img.Labels["org.opencontainers.image.version"],
		Commit:  img.Labels["org.opencontainers.image.revision"],
	}
}
