package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

const fleetMaster = `one-fp8-box-loom:
  image: lab/loom:v1.0-box
  model: lab/one
  model-prefix: one
  runner: box
  precision: fp8
  framework: loom
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 16
      osl: 8
      search-space:
      - { tp: 1, conc-list: [1, 2] }
`

// fleetWorkspace is a workspace of one family, with a layout at images.
func fleetWorkspace(t *testing.T, config string) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"configs/x-master.yaml": fleetMaster, "configs/runners.yaml": "labels:\n  box: [box_00]\n", workspace.ConfigName: config} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []string{"v1.0", "v2.0"} {
		ref, err := image.Parse("lab/loom:" + v + "-box")
		if err != nil {
			t.Fatal(err)
		}
		spec := image.Spec{Ref: ref, Created: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
		if _, err := image.Build(filepath.Join(dir, "images"), spec); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestFleetReadsLayoutAndStore(t *testing.T) {
	w := fleetWorkspace(t, "version: 1\nimages: {kind: layout, path: images}\n")
	now := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	st, err := OpenStore(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	open := candidate.Summary{Candidate: candidate.Candidate{ID: "c-1", Family: "configs/x-master.yaml:one-fp8-box-loom", NewImage: "lab/loom:v2.0-box"},
		Step: "sweep", State: candidate.Waits, Pull: 12, Created: now}
	if err := st.SaveCandidate(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Fleet(t.Context(), w, FleetOptions{Offline: true, Wait: time.Second}, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Images) != 1 || len(f.Images[0].Families) != 1 {
		t.Fatalf("got %+v, want one family on one image", f)
	}
	img := f.Images[0]
	if img.AgeDays == nil || *img.AgeDays != 30 || img.AgeFrom != "build" || img.Newest != "v2.0-box" {
		t.Errorf("image: got %+v", img)
	}
	if got := img.Families[0]; len(got.Open) != 1 || got.Open[0].Pull != 12 || got.Points != 2 || got.Line != 2 {
		t.Errorf("family: got %+v", got)
	}
	if len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0], "no history of configs/x-master.yaml: git blame: ") {
		t.Errorf("a folder without git: got the notes %q", f.Notes)
	}
}

// Nothing is made for the sake of looking, and candidates that are kept where
// this version cannot read are said to be unknown.
func TestFleetOnlyReads(t *testing.T) {
	w := fleetWorkspace(t, "version: 1\nimages: {kind: layout, path: images}\n")
	if _, err := Fleet(t.Context(), w, FleetOptions{Offline: true, Wait: time.Second}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.State()); !os.IsNotExist(err) {
		t.Errorf("a look made %s (%v)", w.State(), err)
	}
	w = fleetWorkspace(t, "version: 1\nresults: {kind: postgres, dsn-file: dsn}\nimages: {kind: registry, path: reg.example}\n")
	f, err := Fleet(t.Context(), w, FleetOptions{Offline: true, Wait: time.Second}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(f.Notes, "\n")
	for _, want := range []string{"candidates unknown: refit.yaml:2: results.kind: postgres is not in this version (only local is)",
		"newest in lane unknown for 1 of 1 images: no registry was asked (--offline)"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}
