package server

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/forge/local"
)

// A run is stored first and then recorded as completed by the forge. When this
// process is killed between the two, the forge starts the run again; it must
// not be measured again then, because its numbers stand already. So what a run
// left is kept until the next one starts.

func (h *Host) finished(r local.RunRequest) string {
	return h.Workspace.State("finished", fmt.Sprintf("run-%d-%d", r.ID, r.Attempt))
}

// remember keeps what a run left: all of it or nothing.
func (h *Host) remember(r local.RunRequest) error {
	dir := h.finished(r)
	early := dir + ".new"
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(early, os.DirFS(r.Out)); err != nil {
		return fmt.Errorf("keep what run %d left: %w", r.ID, err)
	}
	return os.Rename(early, dir)
}

// recall puts back what an interrupted life of the run left, and forgets every
// other run. It says whether there was something.
func (h *Host) recall(r local.RunRequest) (bool, error) {
	dir := h.finished(r)
	if _, err := os.Stat(dir); err != nil {
		return false, os.RemoveAll(filepath.Dir(dir))
	}
	if err := os.CopyFS(r.Out, os.DirFS(dir)); err != nil {
		return false, fmt.Errorf("what run %d left: %w", r.ID, err)
	}
	return true, nil
}
