package starter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/refit-bench/refit/internal/workspace"
)

// Action says what became of a file.
type Action string

// The actions.
const (
	Written Action = "written"
	Missing Action = "missing"   // it would be written
	Same    Action = "unchanged" // it is there, byte for byte
	Kept    Action = "kept"      // another one is there, and stays
)

// Change is what became of one file. Of a kept one it says what refit's own would
// change: Diff is unified text; for refit.yaml, which is its owner's, Settings are
// the values that the other files depend on.
type Change struct {
	Path     string   `json:"path"`
	Action   Action   `json:"action"`
	Diff     string   `json:"diff,omitempty"`
	Settings []string `json:"settings,omitempty"`
}

// maxFile bounds a file that is compared, in bytes.
const maxFile = 1 << 20

// Look says what Write would do in a workspace, and writes nothing.
func Look(root string, list []File) ([]Change, error) {
	var out []Change
	for _, f := range list {
		c, err := look(root, f)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func look(root string, f File) (Change, error) {
	at := filepath.Join(root, filepath.FromSlash(f.Path))
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return Change{Path: f.Path, Action: Missing}, nil
	}
	if err != nil {
		return Change{}, fmt.Errorf("init: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Change{}, fmt.Errorf("init: %s is not a regular file: move it away", f.Path)
	}
	old, err := workspace.ReadFile(at, maxFile)
	if err != nil {
		return Change{}, fmt.Errorf("init: %w", err)
	}
	if bytes.Equal(old, f.Data) {
		return Change{Path: f.Path, Action: Same}, nil
	}
	if f.Path == workspace.ConfigName {
		settings, err := wanted(old, f.Data)
		return Change{Path: f.Path, Action: Kept, Settings: settings}, err
	}
	return Change{Path: f.Path, Action: Kept, Diff: string(diff.Diff(f.Path, old, f.Path+" of refit init", f.Data))}, nil
}

// Write writes the files that are missing, each whole, and leaves those that are
// there. Everything is looked at before anything is written.
func Write(root string, list []File) ([]Change, error) {
	changes, err := Look(root, list)
	if err != nil {
		return nil, err
	}
	for i, f := range list {
		if changes[i].Action != Missing {
			continue
		}
		if err := create(filepath.Join(root, filepath.FromSlash(f.Path)), f.Data); err != nil {
			return nil, fmt.Errorf("init: %w", err)
		}
		changes[i].Action = Written
	}
	return changes, nil
}

// create makes a file with its folders. Somebody's that came meanwhile stays:
// the finished file gets its name by a link, which fails when the name is taken.
func create(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	whole := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.new%d", filepath.Base(path), os.Getpid()))
	defer func() { err = errors.Join(err, os.Remove(whole)) }()
	if err := workspace.WriteFile(whole, data, 0o644); err != nil {
		return err
	}
	return os.Link(whole, path)
}
