package result

import (
	"bytes"
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
// file to bytes). Rows must belong to the manifest's run, be expected by it and
// be distinct; rows that are missing are no error here, coverage is judged elsewhere.
func ReadRun(artifacts map[string]map[string][]byte) (Run, error) {
	src, ok := artifacts[ManifestArtifact][ManifestFile]
	if !ok {
		return Run{}, fmt.Errorf("read run: %w", ErrNoManifest)
	}
	m, err := ParseManifest(src)
	if err != nil {
		return Run{}, fmt.Errorf("read run: %w", err)
	}
	lines, err := ReadLines(bytes.NewReader(artifacts[RowsArtifact][RowsFile]))
	if err != nil {
		return Run{}, fmt.Errorf("read run %d: %w", m.RunID, err)
	}
	run := Run{Manifest: m}
	for _, l := range lines {
		if l.Row != nil {
			run.Rows = append(run.Rows, *l.Row)
		} else {
			run.Evals = append(run.Evals, *l.Eval)
		}
	}
	if err := run.Check(); err != nil {
		return Run{}, fmt.Errorf("read run %d: %w", m.RunID, err)
	}
	return run, nil
}

// Check says whether rows and evals fit the manifest and are distinct.
func (r Run) Check() error {
	rows := map[string]bool{}
	for _, row := range r.Rows {
		id := row.Family + " " + row.Key
		if rows[id] {
			return fmt.Errorf("family %s: point %s: measured twice", row.Family, row.Label)
		}
		rows[id] = true
		err := r.Manifest.expects(row.Family, row.Key, row.Provenance, func(f ManifestFamily) []ManifestPoint { return f.Points })
		if err != nil {
			return fmt.Errorf("family %s: point %s: %w", row.Family, row.Label, err)
		}
	}
	evals := map[string]bool{}
	for _, e := range r.Evals {
		id := e.Family + " " + e.Key + " " + e.Suite + " " + e.Metric
		if evals[id] {
			return fmt.Errorf("family %s: eval %s %s/%s: scored twice", e.Family, e.Label, e.Suite, e.Metric)
		}
		evals[id] = true
		err := r.Manifest.expects(e.Family, e.Key, e.Provenance, func(f ManifestFamily) []ManifestPoint { return f.Evals })
		if err != nil {
			return fmt.Errorf("family %s: eval %s: %w", e.Family, e.Label, err)
		}
	}
	return nil
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
