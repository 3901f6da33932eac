package candidate

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/result/api"
)

// sharedTree is a published catalogue.
func sharedTree(t *testing.T, name string) fs.FS {
	t.Helper()
	root := os.Getenv("REFIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(root, "data", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("shared data not present: %v", err)
	}
	return os.DirFS(dir)
}

// publishedSources are the samples of both feeds and of the status document.
func publishedSources(t *testing.T, now time.Time) WaveSources {
	t.Helper()
	images, releases := sharedFeed(t, "latest-images.json"), sharedFeed(t, "framework-releases.json")
	return WaveSources{
		Images:   func(context.Context) (api.ImageFeed, error) { return api.ParseImageFeed(images) },
		Releases: func(context.Context) (api.FrameworkReleases, error) { return api.ParseReleaseFeed(releases) },
		Capacity: StatusCapacity(sharedFeed(t, "status-clusters.json"), now),
	}
}

// The published samples against the catalogue that they were published from:
// the candidate of the public upgrade, with its public id.
func TestWaveOfThePublishedSamples(t *testing.T) {
	now := statusMade.Add(time.Minute)
	from := publishedSources(t, now)
	tree := sharedTree(t, "seed-workspace")
	w := newWorld(t)
	s := w.shepherd("bot-token")
	s.Now = func() time.Time { return now }
	s.Tree = func(context.Context, string) (fs.FS, error) { return tree, nil }
	s.Images = layout(t, "lmsysorg/sglang:v0.5.19-rocm700-mi30x", "lmsysorg/sglang:v0.5.20-rocm700-mi30x", "lmsysorg/sglang:v0.5.21-rocm700-mi35x", "lmsysorg/sglang:v0.5.21")
	got, err := s.PlanWave(t.Context(), from)
	w.must(err)
	if len(got.Candidates) != 1 || len(got.Left)+len(got.SetAside) != 0 {
		t.Fatalf("got %+v", got)
	}
	p := got.Candidates[0]
	if p.ID != "9d94bebbcc742ac8-af00168b432f68fb" || p.NewImage != "lmsysorg/sglang:v0.5.20-rocm700-mi30x" || p.Release != "v0.5.20" ||
		p.Observation != (Observation{"lmsysorg/sglang:v0.5.19-rocm700-mi30x", "2026-09-10"}) || !p.Review ||
		!slices.Equal(p.Signals, []Signal{ReleaseStringMismatch}) || !slices.Equal(p.Clusters, []string{"mi325x-amds"}) ||
		!slices.Equal(p.Files, []string{"configs/amd-master.yaml", "configs/runners.yaml"}) {
		t.Errorf("got %+v", p)
	}
	s.Now = func() time.Time { return now.Add(time.Hour) }
	from.Capacity = StatusCapacity(sharedFeed(t, "status-clusters.json"), s.Now())
	got, err = s.PlanWave(t.Context(), from)
	w.must(err)
	got.wants(t, "configs/amd-master.yaml:dsr1-fp8-mi325x-sglang", NoCluster, "the answer is more than 120 s old")
}

// The whole published catalogue of a later day: the samples' images are none of
// its own, so every family is told with a reason and none moves.
func TestWaveOfThePublishedCatalogue(t *testing.T) {
	from := publishedSources(t, statusMade)
	tree := sharedTree(t, "inferencex")
	w := newWorld(t)
	s := w.shepherd("bot-token")
	s.Tree = func(context.Context, string) (fs.FS, error) { return tree, nil }
	got, err := s.PlanWave(t.Context(), from)
	w.must(err)
	reasons := map[string]int{}
	for _, l := range got.Left {
		reasons[l.Reason]++
	}
	if len(got.Candidates) != 0 || len(got.Left) != 208 || reasons[NoObservation] != 208 {
		t.Errorf("%d may move, left out %v; want none and 208 without observation", len(got.Candidates), reasons)
	}

	// With what they run published today, every family is joined to its own rows.
	p := &planner{Shepherd: s, tree: tree, base: got.Base}
	families, left, err := p.live()
	w.must(err)
	var rows []api.LatestImage
	for _, f := range families {
		for s := range f.shapes {
			isl, osl := s.isl, s.osl
			row := api.LatestImage{Model: s.model, Hardware: s.hardware, Framework: s.framework, Precision: s.precision, SpecMethod: s.spec, Disagg: s.disagg,
				BenchmarkType: s.kind, Image: f.Entry.Image, Date: "2026-09-18"}
			if isl > 0 {
				row.ISL, row.OSL = &isl, &osl
			}
			rows = append(rows, row)
		}
	}
	from.Images = func(context.Context) (api.ImageFeed, error) { return api.ImageFeed{Rows: rows}, nil }
	from.Capacity = AlwaysRoom("nobody is asked")
	got, err = s.PlanWave(t.Context(), from)
	w.must(err)
	reasons = map[string]int{}
	for _, l := range got.Left {
		reasons[l.Reason]++
	}
	if len(left) != 0 || len(got.Candidates) != 0 || reasons[TagsUnknown] != 208 {
		t.Errorf("not generated %v, left out %v; want all 208 to wait for tags alone", left, reasons)
	}
}
