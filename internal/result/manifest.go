package result

import (
	"errors"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/workspace"
)

// The modes of a run.
const (
	ModeSmoke = "smoke"
	ModeFull  = "full"
	ModePush  = "push"
)

// ManifestVersion is the version written by this program.
const ManifestVersion = 1

// Manifest says what a workflow run was expected to measure, written before
// the first job starts.
type Manifest struct {
	Version  int              `json:"version"`
	RunID    int64            `json:"run-id"`
	Attempt  int              `json:"run-attempt"`
	Head     string           `json:"head"`
	Base     string           `json:"base,omitempty"`
	Mode     string           `json:"mode"`
	Families []ManifestFamily `json:"families"`
}

// ManifestFamily is the part of one family: the image its points were to run
// on, by reference and by digest, the throughput points and the eval points.
type ManifestFamily struct {
	Family string          `json:"family"`
	Image  string          `json:"image"`
	Digest string          `json:"digest"`
	Points []ManifestPoint `json:"points"`
	Evals  []ManifestPoint `json:"evals"`
}

// ManifestPoint names one expected point.
type ManifestPoint struct {
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"`
	Conc        int    `json:"conc"`
	Label       string `json:"label"`
}

// ParseManifest reads manifest.json strictly: unknown keys, an unknown version
// or mode, and a family or point named twice are errors.
func ParseManifest(src []byte) (Manifest, error) {
	var m Manifest
	if err := workspace.DecodeStrict(src, &m); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}

func (m Manifest) check() error {
	if m.Version != ManifestVersion {
		return fmt.Errorf("version %d, this program reads %d", m.Version, ManifestVersion)
	}
	if !slices.Contains([]string{ModeSmoke, ModeFull, ModePush}, m.Mode) {
		return fmt.Errorf("unknown mode %q", m.Mode)
	}
	if m.RunID < 0 || m.Attempt < 0 || !hex40.MatchString(m.Head) {
		return errors.New("run-id, run-attempt and head do not name a run")
	}
	seen := map[string]bool{}
	for _, f := range m.Families {
		if seen[f.Family] {
			return fmt.Errorf("family %s: named twice", f.Family)
		}
		seen[f.Family] = true
		for _, list := range [][]ManifestPoint{f.Points, f.Evals} {
			if err := f.checkPoints(list); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f ManifestFamily) checkPoints(list []ManifestPoint) error {
	seen := map[string]bool{}
	for _, p := range list {
		if err := checkIdentity(f.Family, p.Key, p.Fingerprint, f.Digest, f.Image); err != nil {
			return err
		}
		if seen[p.Key] {
			return fmt.Errorf("family %s: point %s: named twice", f.Family, p.Label)
		}
		seen[p.Key] = true
	}
	return nil
}

// family returns the part of a family.
func (m Manifest) family(name string) (ManifestFamily, bool) {
	for _, f := range m.Families {
		if f.Family == name {
			return f, true
		}
	}
	return ManifestFamily{}, false
}
