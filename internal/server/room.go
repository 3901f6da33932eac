package server

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/workspace"
)

// leastRoom is what the embedded parts need to be there at all. What a run
// needs is more, and doctor's business.
const leastRoom = 4 << 20

// checkRoom refuses to begin where the parts could only be half written.
func checkRoom(w *workspace.Workspace) error {
	var s unix.Statfs_t
	if err := unix.Statfs(w.State(), &s); err != nil {
		return fmt.Errorf("%s: %w", w.State(), err)
	}
	if free := s.Bavail * uint64(s.Bsize); free < leastRoom {
		return fmt.Errorf("%s: %d KiB free, %d KiB are needed: %w", w.State(), free>>10, leastRoom>>10, syscall.ENOSPC)
	}
	return nil
}
