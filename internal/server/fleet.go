package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// FleetOptions are what a look over the families may cost.
type FleetOptions struct {
	Offline bool          // no registry is asked
	Wait    time.Duration // for all registries together, and for each answer of a forge elsewhere
}

// Fleet looks over the families of a workspace as its files lie there: image
// ages, tags of lanes, points, open candidates. It writes nothing, and works in
// a plain checkout.
func Fleet(ctx context.Context, w *workspace.Workspace, o FleetOptions, now time.Time) (report.Fleet, error) {
	cat, err := recipe.Load(os.DirFS(w.Root), w.Paths.Masters, w.Paths.Runners)
	if err != nil {
		return report.Fleet{}, err
	}
	rule, err := matrix.ParseEvalRule(w.Config.Evals.Lengths, w.Config.Evals.Floor)
	if err != nil {
		return report.Fleet{}, err
	}
	s := candidate.Survey{Catalogue: cat, Evals: rule, Now: now, Wait: o.Wait, Lines: workspace.Repo{Dir: w.Root}.Lines}
	if s.ImageLine, err = imageLines(w, cat); err != nil {
		return report.Fleet{}, err
	}
	note := ""
	if s.Candidates, err = saved(ctx, w, o.Wait); err != nil {
		note = fmt.Sprintf("candidates unknown: %v", err)
	}
	images(&s, w, o)
	f, err := s.Fleet(ctx)
	if note != "" {
		f.Notes = append(f.Notes, note)
	}
	return f, err
}

// imageLines finds the lines of all images, each file read once.
func imageLines(w *workspace.Workspace, cat *recipe.Catalogue) (func(recipe.Family) int, error) {
	files := map[string]recipe.Places{}
	lines := map[string]int{}
	for _, f := range cat.Families {
		if _, ok := files[f.File]; !ok {
			src, err := workspace.ReadFile(filepath.Join(w.Root, filepath.FromSlash(f.File)), maxMaster)
			if err != nil {
				return nil, err
			}
			if files[f.File], err = recipe.ReadPlaces(src, f.File); err != nil {
				return nil, err
			}
		}
		at, ok := files[f.File].Find(f.Key, "image")
		if !ok {
			return nil, fmt.Errorf("%s: %s changed while it was read: try again", f.File, f.Key)
		}
		lines[f.ID] = at.Line
	}
	return func(f recipe.Family) int { return lines[f.ID] }, nil
}

// maxMaster bounds a master file, in bytes.
const maxMaster = 64 << 20

// saved lists the candidates of a workspace that has any: neither a store nor a
// forge is made for the sake of looking. A forge elsewhere may take some time for
// each of its answers.
func saved(ctx context.Context, w *workspace.Workspace, patience time.Duration) ([]candidate.Summary, error) {
	if err := only(w, choice{"results.kind", w.Config.Results.Kind, "local"}); err != nil {
		return nil, err
	}
	if inComments(w) {
		return commented(ctx, w, patience)
	}
	return seenHere(ctx, w)
}

// images says where build times and tags come from: the workspace's layout,
// or the registries that the images name.
func images(s *candidate.Survey, w *workspace.Workspace, o FleetOptions) {
	layout := imageDir(w)
	_, err := os.Stat(filepath.Join(layout, "index.json"))
	configured := w.Config.Images.Kind == "layout" && (err == nil || w.Origin("images.path") != "default")
	if configured {
		library := image.Library{Layout: layout}
		s.Tags = library.Tags
		s.Built = func(ctx context.Context, ref image.Ref) (time.Time, bool) {
			img, err := library.Resolve(ctx, ref)
			return img.Created, err == nil && img.Created.Unix() > 0
		}
		return
	}
	if o.Offline {
		s.NoTags = "no registry was asked (--offline)"
		return
	}
	library := image.Library{}
	if w.Config.Images.Kind == "registry" && w.Origin("images.path") != "default" {
		library.Registry = w.Config.Images.Path
	}
	s.Tags = library.Tags // build times would be pulls, which registries count
}
