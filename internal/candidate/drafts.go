package candidate

import (
	"context"
	"fmt"
	"path"

	"github.com/refit-bench/refit/internal/forge"
)

// readyForSweep marks the pull request ready before its sweep where drafts are
// not swept: there the label of a draft starts nothing.
func (w *work) readyForSweep(ctx context.Context, p forge.Pull) error {
	if !p.Draft {
		return nil
	}
	main, err := w.mainBranch(ctx)
	if err != nil {
		return err
	}
	out, err := w.leavesDraftsOut(ctx, main)
	if err != nil || !out {
		return err
	}
	if err := w.Forge.MarkReady(ctx, p); err != nil {
		return fmt.Errorf("mark ready: %w", err)
	}
	w.pull = nil
	return nil
}

// leavesDraftsOut says whether drafts are not swept: as the policy says, else
// as the workflow on the default branch does.
func (s *Shepherd) leavesDraftsOut(ctx context.Context, main string) (bool, error) {
	if p := s.Config.Policy.SweepsOnDraft; p == "always" || p == "never" || s.Config.Forge.Kind == "local" {
		return s.sweepsNoDraft(nil), nil
	}
	file := path.Join(s.Paths.Workflows, s.Config.Executor.Sweep)
	src, err := s.Forge.File(ctx, main, file)
	if err != nil {
		return false, fmt.Errorf("workflow %s: %w", file, err)
	}
	return s.sweepsNoDraft(src), nil
}

// sweepsNoDraft is the same by the bytes of the workflow's file. The embedded
// forge reads none.
func (s *Shepherd) sweepsNoDraft(workflow []byte) bool {
	switch s.Config.Policy.SweepsOnDraft {
	case "always":
		return false
	case "never":
		return true
	}
	return s.Config.Forge.Kind != "local" && excludesDrafts.Match(uncommented(workflow))
}
