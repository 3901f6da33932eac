// Package lab is the main job on a fresh machine: a recipe repository with
// engines of its own, in which complete upgrades are run with the real
// mechanisms. Nothing in it is faked but the engine, and that one is measured
// over HTTP like any other.
package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

// Lab is a folder with a workspace and the images of its engine. Its fields
// are set before Create.
type Lab struct {
	Dir   string // absolute
	Refit string // this binary: the engine inside the images is a copy of it
	Now   func() time.Time
}

// Workspace is the folder of the lab's recipe repository.
func (l Lab) Workspace() string { return filepath.Join(l.Dir, "workspace") }

// Images is the OCI layout of the lab's engine images.
func (l Lab) Images() string { return filepath.Join(l.Dir, "images") }

// Create makes what is missing of the lab and keeps what is there.
func (l Lab) Create(ctx context.Context) error {
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	lock, err := workspace.WaitLock(ctx, filepath.Join(l.Dir, "create.lock"))
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	defer lock.Close()
	for _, v := range versions {
		if err := l.ensureImage(ctx, v); err != nil {
			return fmt.Errorf("lab: image %s: %w", v.ref, err)
		}
	}
	if err := l.ensureWorkspace(ctx); err != nil {
		return fmt.Errorf("lab: workspace: %w", err)
	}
	return nil
}

// ensureWorkspace writes the recipe repository and commits it. It is built
// beside its place and renamed, so that a kill leaves all of it or nothing.
func (l Lab) ensureWorkspace(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(l.Workspace(), ".git")); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(l.Dir, ".workspace-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	content, err := fs.Sub(Content(), "workspace")
	if err != nil {
		return err
	}
	if err := copyTree(content, tmp); err != nil {
		return err
	}
	repo := workspace.Repo{Dir: tmp}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "."},
		{"add", "--all"},
		{"-c", "user.name=refit lab", "-c", "user.email=lab@refit.invalid", "commit", "--quiet", "-m", "Start the lab's recipes"},
	} {
		if _, err := repo.Git(ctx, args...); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	return os.Rename(tmp, l.Workspace())
}

// copyTree writes embedded files; scripts become executable.
func copyTree(from fs.FS, to string) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, modeOf(name))
	})
}

func modeOf(name string) fs.FileMode {
	if filepath.Ext(name) == ".sh" || filepath.Base(filepath.Dir(name)) == "bin" {
		return 0o755
	}
	return 0o644
}

func (l Lab) ensureImage(ctx context.Context, v version) error {
	ref, err := image.Parse(v.ref)
	if err != nil {
		return err
	}
	if _, err := (image.Library{Layout: l.Images()}).Resolve(ctx, ref); err == nil {
		return nil
	} else if !errors.Is(err, image.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	spec, err := l.spec(ref, v)
	if err != nil {
		return err
	}
	_, err = image.Build(l.Images(), spec)
	return err
}
