package result

import (
	"errors"
	"fmt"
	"slices"
)

// Where a run leaves its manifest and its rows.
const (
	ManifestArtifact = "refit-manifest"
	ManifestFile     = "manifest.json"
	RowsArtifact     = "refit-rows"
	RowsFile         = "rows.jsonl"
)

// ErrNoManifest says that the artifacts are not those of a run of this program.
var ErrNoManifest = errors.New("no " + ManifestArtifact + "/" + ManifestFile)

// ReadRun reads the artifacts of a finished workflow run (artifact name to
// file to bytes), one of each name. Rows must belong to the manifest's run, be
// expected by it and be distinct; rows that are missing are no error here,
// coverage is judged elsewhere.
func ReadRun(artifacts map[string]map[string][]byte) (Run, error) {
	src, ok := artifacts[ManifestArtifact][ManifestFile]
	if !ok {
		return Run{}, fmt.Errorf("read run: %w", ErrNoManifest)
	}
	return ReadAttempts(src, artifacts[RowsArtifact][RowsFile])
}

// Check says whether rows and evals fit the manifest and are distinct.
func (r Run) Check() error {
	seen := map[string]bool{}
	for _, row := range r.Rows {
		id, name := row.about()
		if seen[id] {
			return fmt.Errorf("%s twice", name)
		}
		seen[id] = true
		if err := r.Manifest.expectsRow(row); err != nil {
			return err
		}
	}
	for _, e := range r.Evals {
		id, name := e.about()
		if seen[id] {
			return fmt.Errorf("%s twice", name)
		}
		seen[id] = true
		if err := r.Manifest.expectsEval(e); err != nil {
			return err
		}
	}
	return nil
}

func (m Manifest) expectsRow(r Row) error {
	err := m.expects(r.Family, r.Key, r.Provenance, func(f ManifestFamily) []ManifestPoint { return f.Points })
	if err != nil {
		err = fmt.Errorf("family %s: point %s: %w", r.Family, r.Label, err)
	}
	return err
}

func (m Manifest) expectsEval(e EvalRow) error {
	err := m.expects(e.Family, e.Key, e.Provenance, func(f ManifestFamily) []ManifestPoint { return f.Evals })
	if err != nil {
		err = fmt.Errorf("family %s: eval %s: %w", e.Family, e.Label, err)
	}
	return err
}

// expects says why a row does not belong to the manifest's run.
func (m Manifest) expects(family, key string, p Provenance, list func(ManifestFamily) []ManifestPoint) error {
	f, ok := m.family(family)
	if !ok {
		return errors.New("the manifest does not name the family")
	}
	if !slices.ContainsFunc(list(f), func(p ManifestPoint) bool { return p.Key == key }) {
		return errors.New("the manifest does not expect it")
	}
	if p.RunID != m.RunID || p.Attempt > m.Attempt || p.Head != m.Head {
		return fmt.Errorf("made by run %d attempt %d at %.12s, the manifest is of run %d attempt %d at %.12s",
			p.RunID, p.Attempt, p.Head, m.RunID, m.Attempt, m.Head)
	}
	return nil
}
