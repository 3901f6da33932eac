package candidate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawn is a wave of two families of which one may move, with a pull request.
func drawn(t *testing.T) (Wave, Capacity) {
	t.Helper()
	w := waving(t, kin{model: "toy"}, kin{model: "new", image: newImage})
	w.propose("topic", map[string][]byte{"NOTES.md": []byte("x\n")})
	newer := publishedFeed("new")
	newer.Image = newImage
	from := sources(publishedFeed("toy"), newer)
	from.Capacity = nodes(map[string]int64{"box": 3, "crate": 9})
	got := w.plan(from)
	if got.moving() != "toy" || len(got.Left) != 1 || len(got.Pulls) != 1 {
		t.Fatalf("drawn is %+v", got)
	}
	return got, from.Capacity
}

func TestPlanIsWrittenAndReadAgain(t *testing.T) {
	w, room := drawn(t)
	dir := filepath.Join(t.TempDir(), "some", "plan")
	for range 2 { // the second one replaces the first
		if err := WriteWave(dir, w, room); err != nil {
			t.Fatal(err)
		}
		got, err := ReadWave(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("read again (-written +read):\n%s", diff)
		}
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the plan: %v, %v", left, err)
	}
	src, err := os.ReadFile(filepath.Join(dir, "open-prs.json"))
	var pulls []OpenPull
	if err != nil || json.Unmarshal(src, &pulls) != nil || !slices.Equal(pulls[0].Files, []string{"NOTES.md"}) {
		t.Errorf("open pull requests alone: %v\n%s", err, src)
	}
}

// capacity.json is for this user alone, and holds ids and eligibility only.
func TestCapacityFileIsPrivateAndHoldsNoFigures(t *testing.T) {
	w, room := drawn(t)
	dir := filepath.Join(t.TempDir(), "plan")
	if err := WriteWave(dir, w, room); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"capacity.json": 0o600, "candidates.json": 0o644, "open-prs.json": 0o644, ".": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v, want %o", name, info.Mode(), err, mode)
		}
	}
	src, err := os.ReadFile(filepath.Join(dir, "capacity.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(src, &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "at")
	want := map[string]any{"clusters": []any{
		map[string]any{"cluster": "box", "eligible": true}, map[string]any{"cluster": "crate", "eligible": false}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("capacity (-want +got):\n%s", diff)
	}
}

// A folder that holds anything else is left alone.
func TestPlanDoesNotReplaceOtherFiles(t *testing.T) {
	w, room := drawn(t)
	dir := t.TempDir()
	mine := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{dir: "notes.txt is in it, which is no file of a plan", mine: "not a directory", "..": "a folder of its own", "/": "a folder of its own"} {
		if err := WriteWave(folder, w, room); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", folder, err, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	if src, err := os.ReadFile(mine); err != nil || string(src) != "mine" {
		t.Errorf("the other file: %q, %v", src, err)
	}
}

// What was edited, or is of two plans, is refused: nothing of it is believed.
func TestAnEditedPlanIsRefused(t *testing.T) {
	w, room := drawn(t)
	for name, c := range map[string]struct{ file, old, new, want string }{
		"id":          {"candidates.json", `"id": "`, `"id": "0`, "candidates.json was edited"},
		"image":       {"candidates.json", `"old-image": "toy/loom:v1`, `"old-image": "toy/loom:v0`, "candidates.json was edited"},
		"base":        {"candidates.json", `"base": "` + w.Base, `"base": "` + strings.Repeat("0", 40), "the wave of"},
		"no-base":     {"candidates.json", `"base": "` + w.Base[:1], `"base": "x`, "names no base"},
		"clusters":    {"candidates.json", `"clusters": [` + "\n        \"box\"\n      ]", `"clusters": []`, "names no cluster"},
		"unknown-key": {"candidates.json", `"seed": 1`, `"sed": 1`, `unknown field "sed"`},
		"two-waves":   {"open-prs.json", "NOTES.md", "OTHER.md", "are of two waves: plan again"},
		"pull-gone":   {"candidates.json", "NOTES.md", "OTHER.md", "are of two waves: plan again"},
		"no-json":     {"open-prs.json", "[", "", "open-prs.json"},
	} {
		dir := filepath.Join(t.TempDir(), "plan")
		if err := WriteWave(dir, w, room); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		src, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(src), c.old) {
			t.Fatalf("%s: %v: %q is not in\n%s", name, err, c.old, src)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(src), c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadWave(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := ReadWave(filepath.Join(t.TempDir(), "none")); err == nil || !strings.HasSuffix(err.Error(), "/none writes it") {
		t.Errorf("no plan: got %v", err)
	}
}

func TestWaveForPeople(t *testing.T) {
	w, _ := drawn(t)
	w.Base = strings.Repeat("0123456789", 4)
	w.SetAside = []SetAside{{"isl: want an integer of at least 1, or null", 2}}
	w.Pulls[0].Incomplete = true
	w.Left = append(w.Left, LeftOut{"configs/toy-master.yaml:x", NotGenerated, "two\nlines"})
	var b strings.Builder
	w.Text(&b)
	want := `may move, in this order (seed 1):
  1  configs/toy-master.yaml:toy-fp8-box-loom
     toy/loom:v1.0.0-box -> toy/loom:v2.0.0-box
     published 2026-11-02, needs review: release-string-mismatch
     room on box

left out:
  configs/toy-master.yaml:new-fp8-box-loom  already-newest  toy/loom:v2.0.0-box is the newest of its lane
  configs/toy-master.yaml:x                 not-generated   two lines

note: rows set aside: 2: isl: want an integer of at least 1, or null
note: open pull requests whose list of files may lack some: 1 of 1
1 of 3 families may move; base 012345678901; open pull requests: 1
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	Wave{Base: w.Base}.Text(&b)
	if want := "no family may move now\n\n0 of 0 families may move; base 012345678901; open pull requests: 0\n"; b.String() != want {
		t.Errorf("an empty wave: got %q, want %q", b.String(), want)
	}
}
