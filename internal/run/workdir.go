package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/workspace"
)

// Names of a run's folder and of the lock inside, which its process holds.
const (
	workPrefix = "refit-run-"
	ownerFile  = "owner"
)

// workDir makes the run's folder below base, and removes those of runs whose
// process was killed. release removes it again.
func workDir(base string) (dir string, release func() error, err error) {
	if base == "" {
		base = os.TempDir()
	}
	clearWork(base)
	// Until the lock is held the folder has a name that nobody clears.
	early, err := os.MkdirTemp(base, ".refit-new-")
	if err != nil {
		return "", nil, err
	}
	lock, ok, err := workspace.TryLock(filepath.Join(early, ownerFile))
	if err != nil || !ok {
		os.RemoveAll(early)
		return "", nil, fmt.Errorf("work folder %s: locked by somebody else (%v)", early, err)
	}
	dir = filepath.Join(base, workPrefix+filepath.Base(early)[len(".refit-new-"):])
	if err := os.Rename(early, dir); err != nil {
		lock.Close()
		os.RemoveAll(early)
		return "", nil, err
	}
	return dir, func() error {
		defer lock.Close()
		return removeWork(dir)
	}, nil
}

// removeWork removes a run's folder, the file that it is known by last: what a
// kill leaves of a removal is cleared by the next run.
func removeWork(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != ownerFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// clearWork removes the folders whose lock nobody holds. What cannot be
// removed, as a folder of another user, is left.
func clearWork(base string) {
	found, err := filepath.Glob(filepath.Join(escapeGlob(base), workPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		owner := filepath.Join(dir, ownerFile)
		if _, err := os.Stat(owner); err != nil {
			continue
		}
		if lock, ok, err := workspace.TryLock(owner); err == nil && ok {
			_ = removeWork(dir)
			lock.Close()
		}
	}
}
