package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// Serve hosts the parts in this process and refuses to join another's.
func Serve(ctx context.Context, w *workspace.Workspace, refit string, log io.Writer, now func() time.Time) (*Parts, error) {
	p, err := Attach(ctx, w, refit, log, now)
	if err != nil {
		return nil, err
	}
	if p.Own {
		return p, nil
	}
	return nil, errors.Join(fmt.Errorf("serve: %w, at %s", ErrRunning, p.Address.Dashboard), p.Close())
}

// Stop ends the process that serves the workspace in a folder: the one that
// serve.json names by pid and start time, and no other. It waits until the
// process is gone and returns its name, "" when none was running.
func Stop(ctx context.Context, dir string, every time.Duration) (string, error) {
	w, err := workspace.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(w.State("serve.lock")); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	lock, free, err := workspace.TryLock(w.State("serve.lock"))
	if err != nil {
		return "", err
	}
	if free { // nobody serves, whatever serve.json says
		return "", lock.Close()
	}
	a, err := ReadAddress(w)
	if err != nil {
		return "", fmt.Errorf("stop: %w, and cannot tell which: %w", ErrRunning, err)
	}
	holder, err := workspace.ParseHolder(a.Holder)
	if err != nil {
		return "", fmt.Errorf("%s: %w", w.State("serve.json"), err)
	}
	if alive, known := holder.Alive(); !alive || !known {
		return "", fmt.Errorf("stop: %w, but not %s of %s", ErrRunning, holder, w.State("serve.json"))
	}
	if err := syscall.Kill(holder.PID, syscall.SIGTERM); err != nil {
		return "", fmt.Errorf("stop %s: %w", holder, err)
	}
	for {
		if alive, _ := holder.Alive(); !alive {
			return holder.String(), nil
		}
		if err := Pause(ctx, every); err != nil {
			return "", err
		}
	}
}

// OpenStore opens the workspace's store alone.
func OpenStore(ctx context.Context, w *workspace.Workspace) (*store.Store, error) {
	if err := only(w, choice{"results.kind", w.Config.Results.Kind, "local"}); err != nil {
		return nil, err
	}
	if err := w.EnsureState(); err != nil {
		return nil, err
	}
	return store.Open(ctx, w.State("store.db"))
}

// maxEvent bounds an event's payload and a step's output, in bytes.
const maxEvent = 16 << 20

// CI is a workflow run in this workspace, read from the event's file. Its id,
// log and clock are the caller's to set.
func CI(w *workspace.Workspace, name, event, out string) (run.CI, error) {
	if err := supportedRuns(w); err != nil {
		return run.CI{}, err
	}
	payload, err := workspace.ReadFile(event, maxEvent)
	if err != nil {
		return run.CI{}, fmt.Errorf("ci: event: %w", err)
	}
	if err := w.EnsureState(); err != nil {
		return run.CI{}, err
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return run.CI{}, err
	}
	repo := workspace.Repo{Dir: w.Root}
	if _, err := os.Stat(w.State("forge.git")); err == nil && w.Config.Forge.Kind == "local" {
		repo.Dir = w.State("forge.git")
	}
	site, err := run.ReadSite(w.Root, w.Config.Clusters)
	if err != nil {
		return run.CI{}, err
	}
	return run.CI{
		Name: strings.TrimSuffix(name, ".yml"), Event: payload, Repo: repo, Config: w.Config, Site: site,
		Images: image.Library{Layout: imageDir(w)}, Cache: image.Cache{Dir: w.State("cache")}, Out: out,
	}, nil
}
