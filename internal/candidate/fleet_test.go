package candidate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// surveyed is a catalogue of families a, b, ... with these images, one family
// of two points each.
func surveyed(images ...string) Survey {
	cat := &recipe.Catalogue{}
	for i, img := range images {
		key := string(rune('a' + i))
		cat.Families = append(cat.Families, recipe.Family{ID: "configs/x-master.yaml:" + key, File: "configs/x-master.yaml", Key: key, Line: 10 * i,
			Entry: recipe.Entry{Image: img, Model: "lab/one", ModelPrefix: "one", Runner: "box", Precision: "fp8", Framework: "loom",
				Fixed: []recipe.FixedBlock{{ISL: 16, OSL: 8, Search: []recipe.Search{{TP: 1, PP: 1, DCP: 1, PCP: 1, EP: 1, SpecDecoding: "none", List: []int{1, 2}}}}}}})
	}
	return Survey{Catalogue: cat, Evals: matrix.DefaultEvals, Now: date("2026-11-30"),
		ImageLine: func(f recipe.Family) int { return f.Line + 1 }}
}

func date(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

// brief form of a fleet: image, age, source, lane, families.
func glance(f report.Fleet) []string {
	var out []string
	for _, img := range f.Images {
		age := "?"
		if img.AgeDays != nil {
			age = fmt.Sprint(*img.AgeDays)
		}
		if img.AtLeast {
			age = ">" + age
		}
		var keys []string
		for _, fam := range img.Families {
			keys = append(keys, fam.Family)
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %s", img.Image, age, img.AgeFrom, img.Lane, img.Newest, strings.Join(keys, ","))))
	}
	return out
}

func TestFleetGroupsByImageOldestFirst(t *testing.T) {
	s := surveyed("reg.example#lab/loom:v1", "lab/loom:nightly-20261120-abc1234", "lab/built:v3", "reg.example/lab/loom:v1", "lab/new:v1", "lab/bare:one")
	s.Built = func(_ context.Context, ref image.Ref) (time.Time, bool) {
		return date("2026-11-01").Add(time.Hour), ref.Repository == "lab/built"
	}
	asked := 0
	s.Lines = func(_ context.Context, file string, lines []int) (map[int]workspace.LineCommit, error) {
		asked++
		if file != "configs/x-master.yaml" || !slices.Equal(lines, []int{1, 11, 21, 31, 41, 51}) {
			t.Errorf("asked for lines %v of %s", lines, file)
		}
		return map[int]workspace.LineCommit{
			1:  {Time: date("2026-10-01"), Commit: "c1"},
			11: {Time: date("2026-09-01"), Commit: "c0"}, // the tag knows better
			31: {Time: date("2026-09-21"), Commit: "c2", Oldest: true},
			41: {},                                                      // not committed
			51: {Time: date("2026-11-30").Add(time.Hour), Commit: "c3"}, // a clock that is ahead
		}, nil
	}
	f, err := s.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"reg.example/lab/loom:v1 >70 recipe unknown  a,d",
		"lab/built:v3 28 build unknown  c",
		"lab/loom:nightly-20261120-abc1234 10 tag unknown  b",
		"lab/bare:one 0 recipe unknown  f",
		"lab/new:v1 ? unknown unknown  e",
	}
	if got := glance(f); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if asked != 1 {
		t.Errorf("the history was asked %d times, want once for the file", asked)
	}
	if sum := (report.FleetSum{Families: 6, Images: 5, Points: 12, Unknown: 5}); f.Sum != sum {
		t.Errorf("sum: got %+v, want %+v", f.Sum, sum)
	}
	if set := f.Images[0].Families[0].Set; set == nil || !set.Equal(date("2026-10-01")) || f.Images[0].Families[0].Commit != "c1" {
		t.Errorf("family a: got %+v", f.Images[0].Families[0])
	}

	old := Stale(f, 28)
	if got := glance(old); !slices.Equal(got, want[:2]) || old.Sum.Hidden != 3 || old.Sum.Families != 3 {
		t.Errorf("28 days and more: got %q and %+v", got, old.Sum)
	}
	if note := "images of unknown age, left out: 1"; !slices.Contains(old.Notes, note) {
		t.Errorf("notes %q lack %q", old.Notes, note)
	}
}

func TestFleetLanes(t *testing.T) {
	s := surveyed("lab/loom:v1.0-box", "lab/loom:v2.0-box", "lab/loom:v1.0-other", "lab/loom:kimi", "lab/gone:v1.0",
		"lab/loom@sha256:"+strings.Repeat("a", 64), "lab/far:v1.0", "lab/hash:nightly-abc1234")
	var asked []string
	s.Tags = func(_ context.Context, name string) ([]string, error) {
		switch name {
		case "lab/gone":
			return nil, fmt.Errorf("tags of lab/gone: %w", image.ErrNotFound)
		case "lab/far":
			return nil, fmt.Errorf("tags of lab/far: %w", &net.DNSError{Name: "reg.example", Err: "no such host"})
		case "lab/hash":
			return []string{"nightly-abc1234", "nightly-def5678"}, nil
		}
		asked = append(asked, name) // one goroutine asks for this name, once
		return []string{"v1.0-box", "v2.0-box", "v2.1rc1-box", "v1.0-other"}, nil
	}
	f, err := s.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, img := range f.Images {
		got[img.Families[0].Family] = strings.TrimSpace(string(img.Lane) + " " + img.Newest + img.Reason)
	}
	for key, want := range map[string]string{
		"a": "behind v2.0-box", "b": "newest", "c": "newest",
		"d": "unknown the tag names no release, date or commit",
		"e": "unknown tags of lab/gone: there are none",
		"f": "unknown the image has no tag",
		"g": "unknown reg.example cannot be reached: no such host",
		"h": "unknown the lane's tags are named by commit alone, which says no order",
	} {
		if got[key] != want {
			t.Errorf("%s: got %q, want %q", key, got[key], want)
		}
	}
	if !slices.Equal(asked, []string{"lab/loom"}) {
		t.Errorf("asked %q, want each repository once", asked)
	}
	if f.Sum.Behind != 1 || f.Sum.Unknown != 5 {
		t.Errorf("sum: got %+v", f.Sum)
	}
	if note := "newest in lane unknown for 1 of 8 images: reg.example cannot be reached: no such host"; !slices.Contains(f.Notes, note) {
		t.Errorf("notes %q lack %q", f.Notes, note)
	}
}

// A registry that never answers costs what was allowed and no more.
func TestFleetDoesNotWaitForRegistries(t *testing.T) {
	s := surveyed("lab/loom:v1.0")
	s.Wait = time.Millisecond
	s.Tags = func(ctx context.Context, _ string) ([]string, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f, err := s.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Images[0].Reason; got != "registries did not answer in time" {
		t.Errorf("got %q", got)
	}
}

func TestFleetCandidates(t *testing.T) {
	s := surveyed("lab/loom:v1.0")
	s.NoTags = "no registry was asked (--offline)"
	s.Lines = func(context.Context, string, []int) (map[int]workspace.LineCommit, error) {
		return nil, errors.New("not a repository")
	}
	for i, c := range []Summary{
		{Candidate: Candidate{ID: "open", Family: "configs/x-master.yaml:a", NewImage: "lab/loom:v2"}, Step: "smoke", State: Waits, Pull: 7},
		{Candidate: Candidate{ID: "done", Family: "configs/x-master.yaml:a", NewImage: "lab/loom:v2"}, Outcome: Validated, State: Done},
		{Candidate: Candidate{ID: "stray", Family: "configs/x-master.yaml:z"}, State: Waits},
	} {
		c.Created = date("2026-11-01").AddDate(0, 0, -i)
		s.Candidates = append(s.Candidates, c)
	}
	f, err := s.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := f.Images[0].Families[0].Open
	if want := (report.FleetCandidate{ID: "open", NewImage: "lab/loom:v2", Step: "smoke", State: "waiting", Pull: 7}); len(open) != 1 || open[0] != want {
		t.Errorf("open: got %+v, want %+v alone", open, want)
	}
	want := []string{
		"no history of configs/x-master.yaml: not a repository",
		"newest in lane unknown for 1 of 1 images: no registry was asked (--offline)",
		"candidate stray is open, and its family configs/x-master.yaml:z is not in this catalogue",
	}
	if !slices.Equal(f.Notes, want) || f.Sum.Open != 1 {
		t.Errorf("notes: got %q, want %q; sum %+v", f.Notes, want, f.Sum)
	}
}
