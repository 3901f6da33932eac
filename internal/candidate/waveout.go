package candidate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// The files of a plan's folder. The last one is private: it says which clusters
// have room.
const (
	waveFile     = "candidates.json"
	pullsFile    = "open-prs.json"
	capacityFile = "capacity.json"
)

const maxWaveFile = 256 << 20 // bytes: some hundred pull requests of thousands of files

// wavePart is one file of a plan.
type wavePart struct {
	name string
	mode fs.FileMode
	v    any
}

// rooms is what capacity.json holds: no figures.
type rooms struct {
	At       time.Time     `json:"at"`
	Clusters []clusterRoom `json:"clusters"`
}

type clusterRoom struct {
	Cluster  string `json:"cluster"`
	Eligible bool   `json:"eligible"`
}

// WriteWave writes a plan into a folder: the wave, its open pull requests alone
// for whoever reviews them, and, for this user only, which clusters have room.
// The folder is new or that of an earlier plan, which it replaces; a reader
// sees all of one plan or nothing of it.
func WriteWave(dir string, w Wave, c Capacity) (err error) {
	if err := WaveFolder(dir); err != nil {
		return err
	}
	parent, name := filepath.Split(filepath.Clean(dir))
	if err := os.MkdirAll(filepath.Clean(parent), 0o755); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	fresh, err := os.MkdirTemp(filepath.Clean(parent), "."+name+".tmp*")
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	for _, part := range []wavePart{{waveFile, 0o644, w}, {pullsFile, 0o644, w.Pulls}, {capacityFile, 0o600, roomsOf(w, c)}} {
		if err := part.write(fresh); err != nil {
			return fmt.Errorf("write plan: %w", err)
		}
	}
	if err := os.Chmod(fresh, 0o755); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	if err := exchange(fresh, filepath.Clean(dir)); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

// WaveFolder says what is wrong with a folder that a plan should go into: it
// must hold nothing but an earlier plan and what was selected of it.
func WaveFolder(dir string) error {
	if _, name := filepath.Split(filepath.Clean(dir)); name == "" || name == "." || name == ".." {
		return fmt.Errorf("%s: a plan has a folder of its own, name a new one", dir)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains([]string{waveFile, pullsFile, capacityFile, selectionFile}, e.Name()) && !(e.IsDir() && idForm.MatchString(e.Name())) {
			return fmt.Errorf("%s: %s is in it, which is no file of a plan: name another folder, or empty this one", dir, e.Name())
		}
	}
	return nil
}

func (p wavePart) write(dir string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p.v); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return workspace.WriteFile(filepath.Join(dir, p.name), b.Bytes(), p.mode)
}

// exchange puts a folder in the place of another, which is removed.
func exchange(fresh, dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(fresh, dir)
	}
	old := fresh + ".old"
	if err := os.Rename(dir, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}

// roomsOf are the clusters that the answer is about, and those that the
// wave's families were given.
func roomsOf(w Wave, c Capacity) rooms {
	ids := c.known()
	for _, p := range w.Candidates {
		ids = append(ids, p.Clusters...)
	}
	slices.Sort(ids)
	r := rooms{At: w.At, Clusters: []clusterRoom{}}
	for _, id := range slices.Compact(ids) {
		room, _ := c.split([]string{id})
		r.Clusters = append(r.Clusters, clusterRoom{id, len(room) == 1})
	}
	return r
}

// ReadWave reads the plan in a folder. Files of two plans, a candidate whose id
// does not follow from its family and images, and anything that a plan does not
// have are errors. What it says of capacity is not read: that is asked again.
func ReadWave(dir string) (Wave, error) {
	var w Wave
	var pulls []OpenPull
	for _, part := range []wavePart{{name: waveFile, v: &w}, {name: pullsFile, v: &pulls}} {
		src, err := workspace.ReadFile(filepath.Join(dir, part.name), maxWaveFile)
		if errors.Is(err, fs.ErrNotExist) {
			return Wave{}, fmt.Errorf("%w: refit wave plan --out %s writes it", err, dir)
		}
		if err != nil {
			return Wave{}, fmt.Errorf("plan: %w", err)
		}
		if err := workspace.DecodeStrict(src, part.v); err != nil {
			return Wave{}, fmt.Errorf("plan: %s: %w", filepath.Join(dir, part.name), err)
		}
	}
	if !reflect.DeepEqual(w.Pulls, pulls) {
		return Wave{}, fmt.Errorf("plan: %s and %s of %s are of two waves: plan again", waveFile, pullsFile, dir)
	}
	return w, w.check()
}

var baseForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// check holds a wave that was read against what PlanWave makes.
func (w Wave) check() error {
	if !baseForm.MatchString(w.Base) || w.At.IsZero() {
		return fmt.Errorf("plan: %s names no base or no time", waveFile)
	}
	seen := map[string]bool{}
	for _, p := range w.Candidates {
		switch {
		case p.ID != p.identity():
			return fmt.Errorf("plan: candidate %q of family %s should be %s: %s was edited", p.ID, p.Family, p.identity(), waveFile)
		case p.Base != w.Base:
			return fmt.Errorf("plan: candidate %s is of base %.12s, the wave of %.12s", p.ID, p.Base, w.Base)
		case seen[p.Family]:
			return fmt.Errorf("plan: family %s is there twice", p.Family)
		case len(p.Clusters) == 0 || !strings.Contains(p.Family, ":"):
			return fmt.Errorf("plan: candidate %s names no cluster or no family", p.ID)
		}
		seen[p.Family] = true
	}
	return nil
}
