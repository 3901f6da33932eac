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
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

// Lab is a folder with a workspace and the images of its engine. Its fields
// are set before Create.
type Lab struct {
	Dir    string // absolute
	Refit  string // this binary: the simulated engine inside the images is a copy of it
	Engine string // one of Engines, "" = the first
	Now    func() time.Time
}

// Workspace is the folder of the lab's recipe repository.
func (l Lab) Workspace() string { return filepath.Join(l.Dir, "workspace") }

// Images is the OCI layout of the lab's engine images.
func (l Lab) Images() string { return filepath.Join(l.Dir, "images") }

// Create makes what is missing of the lab and keeps what is there. say gets
// lines of progress.
func (l Lab) Create(ctx context.Context, say func(string)) error {
	ed, err := l.edition()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	lock, err := workspace.WaitLock(ctx, filepath.Join(l.Dir, "create.lock"))
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	defer lock.Close()
	if err := l.claim(ed); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	if ed.stage != nil {
		if err := ed.stage(ctx, l, say); err != nil {
			return fmt.Errorf("lab: %w", err)
		}
	}
	for _, v := range ed.versions {
		if err := l.ensureImage(ctx, ed, v, say); err != nil {
			return fmt.Errorf("lab: image %s: %w", v.ref, err)
		}
	}
	if err := l.ensureWorkspace(ctx, ed); err != nil {
		return fmt.Errorf("lab: workspace: %w", err)
	}
	return nil
}

// claim makes sure that a folder stays the lab of one engine.
func (l Lab) claim(ed edition) error {
	path := filepath.Join(l.Dir, "engine")
	was, err := workspace.ReadFile(path, 64)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return workspace.WriteFile(path, []byte(ed.root+"\n"), 0o644)
	case err != nil:
		return err
	case strings.TrimSpace(string(was)) != ed.root:
		return fmt.Errorf("%s holds the lab of another engine, %s: choose another folder with --dir", l.Dir, strings.TrimSpace(string(was)))
	}
	return nil
}

// ensureWorkspace writes the recipe repository and commits it. It is built
// beside its place and renamed, so that a kill leaves all of it or nothing.
func (l Lab) ensureWorkspace(ctx context.Context, ed edition) error {
	if _, err := os.Stat(filepath.Join(l.Workspace(), ".git")); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(l.Dir, ".workspace-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	content, err := fs.Sub(Content(), ed.root+"/workspace")
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

func (l Lab) ensureImage(ctx context.Context, ed edition, v version, say func(string)) error {
	ref, err := image.Parse(v.ref)
	if err != nil {
		return err
	}
	if _, err := (image.Library{Layout: l.Images()}).Resolve(ctx, ref); err == nil {
		return nil
	} else if !errors.Is(err, image.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	work, err := freshDir(l.Dir, ".image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	spec, err := ed.spec(ctx, l, ref, v, work, say)
	if err != nil {
		return err
	}
	_, err = image.Build(l.Images(), spec)
	return err
}
