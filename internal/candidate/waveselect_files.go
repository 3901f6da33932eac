package candidate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/workspace"
)

// The files of a selection, which may lie in its plan's folder.
const (
	selectionFile = "selection.json"
	candidateFile = "candidate.json" // in a folder named like the candidate
	ownershipFile = "ownership.json" // beside it
)

// Write leaves a selection in a folder: selection.json, and for each selected
// candidate a folder with candidate.json and ownership.json. selection.json goes
// last, so that whoever finds it finds the others.
func (sel Selection) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range sel.Selected {
		at := filepath.Join(dir, c.ID)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := writeWaveFile(filepath.Join(at, candidateFile), c.Candidate); err != nil {
			return err
		}
		if err := writeWaveFile(filepath.Join(at, ownershipFile), c.Ownership); err != nil {
			return err
		}
	}
	return writeWaveFile(filepath.Join(dir, selectionFile), sel)
}

func writeWaveFile(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return workspace.WriteFile(name, append(data, '\n'), 0o644)
}
