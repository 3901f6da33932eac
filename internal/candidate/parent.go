package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/workspace"
)

// parentEnded answers whether whoever made a candidate's claim has ended: a
// workflow run when the forge says completed, a process when this machine sees
// it gone. Unknown is the answer about a process of another machine. Time is no
// argument: nobody is declared dead for being slow.
func (w *work) parentEnded(ctx context.Context, p claim) (gate.Verdict, error) {
	if run, err := strconv.ParseInt(w.c.Parent, 10, 64); err == nil {
		return w.runEnded(ctx, run)
	}
	holder, err := w.parentHolder(ctx, p)
	if err != nil {
		return gate.Verdict{}, err
	}
	h, err := workspace.ParseHolder(holder)
	if err != nil || h.ID() != w.c.Parent {
		return unknownParent("nobody can tell whether %s, which claimed the family, has ended", w.c.Parent), nil
	}
	alive, known := h.Alive()
	switch {
	case !known:
		return unknownParent("%s, which claimed the family, is a process of another machine", w.c.Parent), nil
	case alive:
		return fail("parent", "process %d, which claimed the family, is alive", h.PID), nil
	}
	return pass("parent", "process %d, which claimed the family, has ended", h.PID), nil
}

func (w *work) runEnded(ctx context.Context, id int64) (gate.Verdict, error) {
	r, err := w.Forge.Run(ctx, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unknownParent("run %d, which claimed the family, is not on the forge any more", id), nil
	case err != nil:
		return gate.Verdict{}, fmt.Errorf("parent: %w", err)
	case r.Status != "completed":
		return fail("parent", "run %d, which claimed the family, is %s", id, cmp.Or(r.Status, "in a state that the forge does not tell")), nil
	}
	return pass("parent", "run %d, which claimed the family, has ended", id), nil
}

// parentHolder is the process that the claim names. A claim of an earlier
// version names none: then the holder of the lease may be it.
func (w *work) parentHolder(ctx context.Context, p claim) (string, error) {
	if p.Holder != "" {
		return p.Holder, nil
	}
	at, ok, err := w.Forge.Ref(ctx, w.c.LeaseRef(w.prefix()))
	if err != nil || !ok {
		return "", err
	}
	return w.Forge.Message(ctx, at)
}

func unknownParent(format string, args ...any) gate.Verdict {
	v := fail("parent", format, args...)
	v.Answer = gate.Unknown
	return v
}
