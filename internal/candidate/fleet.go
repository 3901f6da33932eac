package candidate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// Survey is what a look over all families needs. A nil field is a source that
// is not there.
type Survey struct {
	Catalogue *recipe.Catalogue
	Evals     matrix.EvalRule
	// ImageLine is the line of a family's image in its file.
	ImageLine func(f recipe.Family) int
	// Lines says which commits set lines of a file.
	Lines func(ctx context.Context, file string, lines []int) (map[int]workspace.LineCommit, error)
	// Built is when an image was built, false when nobody says.
	Built func(ctx context.Context, ref image.Ref) (time.Time, bool)
	// Tags are those of a repository; NoTags says why they are not asked for.
	// Wait is how long all repositories together may take; 0 is no limit.
	Tags   func(ctx context.Context, repository string) ([]string, error)
	NoTags string
	Wait   time.Duration
	// Candidates are the saved states of all candidates, newest first.
	Candidates []Summary
	Now        time.Time
}

// Fleet groups the families by image, the oldest image first. What a source
// cannot tell is unknown in the result, with a note, and no error.
func (s Survey) Fleet(ctx context.Context) (report.Fleet, error) {
	f := report.Fleet{At: s.Now.UTC(), Images: []report.FleetImage{}, Notes: []string{}}
	set, notes := s.commits(ctx)
	f.Notes = append(f.Notes, notes...)
	at := map[string]int{}
	for _, fam := range s.Catalogue.Families {
		name := canonicalImage(fam.Entry.Image)
		i, ok := at[name]
		if !ok {
			i = len(f.Images)
			at[name] = i
			f.Images = append(f.Images, report.FleetImage{Image: name})
		}
		row, err := s.family(fam, set[fam.ID])
		if err != nil {
			return f, err
		}
		f.Images[i].Families = append(f.Images[i].Families, row)
	}
	lanes := s.lanes(ctx, f.Images)
	for i := range f.Images {
		s.age(ctx, &f.Images[i], set)
		lanes.standing(&f.Images[i])
	}
	f.Notes = append(f.Notes, lanes.notes(f.Images)...)
	f.Notes = append(f.Notes, s.strays()...)
	slices.SortStableFunc(f.Images, olderFirst)
	f.Sum = fleetSum(f.Images)
	return f, nil
}

// canonicalImage is one spelling for the several of an image.
func canonicalImage(name string) string {
	if ref, err := image.Parse(name); err == nil {
		return ref.String()
	}
	return name
}

// commits asks for the lines of each file once: by family, who set its image.
func (s Survey) commits(ctx context.Context) (map[string]workspace.LineCommit, []string) {
	set := map[string]workspace.LineCommit{}
	if s.Lines == nil || s.ImageLine == nil {
		return set, nil
	}
	var files []string
	lines := map[string][]int{}
	for _, f := range s.Catalogue.Families {
		if lines[f.File] == nil {
			files = append(files, f.File)
		}
		lines[f.File] = append(lines[f.File], s.ImageLine(f))
	}
	var notes []string
	for _, file := range files {
		found, err := s.Lines(ctx, file, lines[file])
		if err != nil {
			notes = append(notes, fmt.Sprintf("no history of %s: %v", file, err))
			continue
		}
		for _, f := range s.Catalogue.Families {
			if c, ok := found[s.ImageLine(f)]; ok && f.File == file {
				set[f.ID] = c
			}
		}
	}
	return set, notes
}

// family is a family's row.
func (s Survey) family(f recipe.Family, set workspace.LineCommit) (report.FleetFamily, error) {
	points, _, err := matrix.Points(f, s.Catalogue.Runners, s.Evals)
	if err != nil {
		return report.FleetFamily{}, err
	}
	row := report.FleetFamily{Family: f.Key, File: f.File, Line: f.Line, Points: len(points), Commit: set.Commit}
	if s.ImageLine != nil {
		row.Line = s.ImageLine(f)
	}
	if !set.Time.IsZero() {
		row.Set = &set.Time
	}
	for _, c := range s.Candidates {
		if c.Family == f.ID && c.Outcome == "" {
			row.Open = append(row.Open, report.FleetCandidate{ID: c.ID, NewImage: c.NewImage, Step: c.Step, State: string(c.State), Pull: c.Pull})
		}
	}
	return row, nil
}

// strays are open candidates of families that the catalogue does not have.
func (s Survey) strays() []string {
	var notes []string
	for _, c := range s.Candidates {
		known := slices.ContainsFunc(s.Catalogue.Families, func(f recipe.Family) bool { return f.ID == c.Family })
		if c.Outcome == "" && !known {
			notes = append(notes, fmt.Sprintf("candidate %s is open, and its family %s is not in this catalogue", c.ID, c.Family))
		}
	}
	return notes
}

// age finds how old an image is, from the best source there is.
func (s Survey) age(ctx context.Context, img *report.FleetImage, set map[string]workspace.LineCommit) {
	img.AgeFrom = report.AgeUnknown
	since := time.Time{}
	ref, err := image.Parse(img.Image)
	if err == nil && s.Built != nil {
		if built, ok := s.Built(ctx, ref); ok {
			since, img.AgeFrom = built, report.AgeBuild
		}
	}
	if err == nil && since.IsZero() {
		if day, ok := tagDay(ref.Tag); ok {
			since, img.AgeFrom = day, report.AgeTag
		}
	}
	if since.IsZero() {
		since, img.AtLeast = firstSet(img.Families, set)
		if !since.IsZero() {
			img.AgeFrom = report.AgeRecipe
		}
	}
	if since.IsZero() {
		return
	}
	since = since.UTC()
	days := max(0, int(s.Now.Sub(since)/(24*time.Hour)))
	img.Since, img.AgeDays = &since, &days
}

// tagDay is the date in a tag.
func tagDay(tag string) (time.Time, bool) {
	v, ok := image.ParseVersion(tag)
	if !ok || v.Date == "" {
		return time.Time{}, false
	}
	day, err := time.Parse("200601021504"[:len(v.Date)], v.Date)
	return day, err == nil
}

// firstSet is the earliest commit that set the image in one of its families:
// the image is at least as old. It is zero when none is committed.
func firstSet(families []report.FleetFamily, set map[string]workspace.LineCommit) (first time.Time, atLeast bool) {
	for _, f := range families {
		c := set[f.File+":"+f.Family]
		if !c.Time.IsZero() && (first.IsZero() || c.Time.Before(first)) {
			first, atLeast = c.Time, c.Oldest
		}
	}
	return first, atLeast
}

// olderFirst puts the oldest image first and those of unknown age last.
func olderFirst(a, b report.FleetImage) int {
	switch {
	case a.Since == nil && b.Since == nil:
		return strings.Compare(a.Image, b.Image)
	case a.Since == nil:
		return 1
	case b.Since == nil:
		return -1
	}
	return cmp.Or(a.Since.Compare(*b.Since), strings.Compare(a.Image, b.Image))
}

func fleetSum(images []report.FleetImage) report.FleetSum {
	n := report.FleetSum{Images: len(images)}
	for _, img := range images {
		switch img.Lane {
		case report.LaneBehind:
			n.Behind++
		case report.LaneUnknown:
			n.Unknown++
		}
		for _, f := range img.Families {
			n.Families++
			n.Points += f.Points
			n.Open += len(f.Open)
		}
	}
	return n
}

// Stale keeps the images that are at least so many days old, as far as that is
// known.
func Stale(f report.Fleet, days int) report.Fleet {
	shown := []report.FleetImage{}
	unknown := 0
	for _, img := range f.Images {
		switch {
		case img.AgeDays == nil:
			unknown++
		case *img.AgeDays >= days:
			shown = append(shown, img)
		}
	}
	all := f.Sum.Families
	f.Images, f.Sum = shown, fleetSum(shown)
	f.Sum.Hidden = all - f.Sum.Families
	if unknown > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("images of unknown age, left out: %d", unknown))
	}
	return f
}
