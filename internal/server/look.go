package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/workspace"
)

// Look is Attach for who only looks. Parts that are hosted here start no
// workflow run: one that a dead process left stays queued for the next process
// that measures. The embedded forge is the same otherwise.
func Look(ctx context.Context, w *workspace.Workspace, refit string, log io.Writer, now func() time.Time) (*Parts, error) {
	return attach(ctx, func() *Host { return &Host{Workspace: w, Refit: refit, Log: log, Now: now, Looks: true} })
}

// errLooks says that who serves the workspace will start no run.
var errLooks = errors.New("it only looks, and ends soon")

// joinable says why the parts of another process cannot be used: what is begun
// on a forge that starts no run would wait, and lose its forge meanwhile.
func (h *Host) joinable(a Address) error {
	if a.Looks && !h.Looks {
		return fmt.Errorf("%s: %w", a.Holder, errLooks)
	}
	return nil
}

// runs is what the forge's workflow runs do; nil keeps them queued.
func (h *Host) runs() func(context.Context, local.RunRequest) error {
	if h.Looks {
		return nil
	}
	return h.run
}
