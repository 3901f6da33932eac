// Package workspace is the ground the other rooms stand on: a checkout with
// its refit.yaml, files written whole, locks, git objects read through the git
// binary, and the spelling that identities are hashed from.
//
// It knows where files are and never what they mean.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ConfigName is the name of the configuration file at a workspace's root.
const ConfigName = "refit.yaml"

// ErrNone says that a folder lies in no workspace.
var ErrNone = errors.New("no " + ConfigName + " and no git checkout here or above")

// maxConfig bounds refit.yaml, in bytes.
const maxConfig = 1 << 20

// Workspace is an opened checkout. Root is absolute.
type Workspace struct {
	Root     string
	Config   Config
	Settings []Setting
	Paths    Paths
}

// Paths are the places of a layout, relative to the root and with slashes.
// Masters may hold globs.
type Paths struct {
	Masters                                []string
	Runners, Changelog, Scripts, Workflows string
}

// Open opens the workspace that dir lies in: the nearest folder upwards that
// holds refit.yaml, else the top of the git checkout. The search never leaves
// the checkout. A file that is missing means the defaults.
func Open(dir string) (*Workspace, error) {
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &Workspace{Root: root}
	src, err := ReadFile(filepath.Join(root, ConfigName), maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	if w.Config, w.Settings, err = ParseConfig(src, ConfigName); err != nil {
		return nil, err
	}
	w.Paths = w.Config.Paths()
	return w, nil
}

// State is a path below .refit, where a workspace keeps what is not committed.
func (w *Workspace) State(elem ...string) string {
	return filepath.Join(append([]string{w.Root, ".refit"}, elem...)...)
}

// Origin is where the effective value of a setting comes from: "default", or
// the place in the file, "refit.yaml:12".
func (w *Workspace) Origin(key string) string {
	for _, s := range w.Settings {
		if s.Key == key {
			return s.Origin
		}
	}
	return ConfigName
}

// Paths are the places of the configured layout.
func (c Config) Paths() Paths { return layouts[c.Layout] }

// Library is the script library that recipes source.
func (p Paths) Library() string { return p.Scripts + "/benchmark_lib.sh" }

// layouts is read only; ParseConfig has checked the name.
var layouts = map[string]Paths{
	"inferencex": {
		Masters:   []string{"configs/*-master.yaml"},
		Runners:   "configs/runners.yaml",
		Changelog: "perf-changelog.yaml",
		Scripts:   "benchmarks",
		Workflows: ".github/workflows",
	},
}

func findRoot(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("open workspace %s: %w", dir, err)
	}
	if info, err := os.Stat(start); err != nil {
		return "", fmt.Errorf("open workspace: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("open workspace %s: not a folder", dir)
	}
	for at := start; ; at = filepath.Dir(at) {
		for _, mark := range []string{ConfigName, ".git"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at, nil
			}
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("open workspace %s: %w", dir, ErrNone)
		}
	}
}
