package candidate

import (
	"context"
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// takeLease makes this process the candidate's only writer: it creates the
// lease ref, or takes it over by compare-and-swap from a holder that this
// machine sees dead. There is no stealing by time.
func (w *work) takeLease(ctx context.Context) error {
	if w.leased != "" {
		return nil
	}
	ref := w.c.LeaseRef(w.prefix())
	old, ok, err := w.Forge.Ref(ctx, ref)
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	parent := w.c.Base
	if ok {
		ours, err := w.mayTake(ctx, old)
		if err != nil {
			return err
		}
		if ours {
			w.leased = old
			return nil
		}
		parent = old
	}
	commit, err := w.Forge.Commit(ctx, parent, w.Holder.String(), nil)
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	if ok {
		err = w.Forge.MoveRef(ctx, ref, old, commit)
	} else {
		err = w.Forge.CreateRef(ctx, ref, commit)
	}
	if errors.Is(err, forge.ErrExists) || errors.Is(err, forge.ErrMoved) {
		return Waiting{"another process that has just taken the candidate"}
	}
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	w.leased = commit
	return nil
}

// mayTake looks at the holder of a lease: ours already, dead, or to be waited for.
func (w *work) mayTake(ctx context.Context, commit string) (ours bool, err error) {
	message, err := w.Forge.Message(ctx, commit)
	if err != nil {
		return false, fmt.Errorf("lease: %w", err)
	}
	holder, err := workspace.ParseHolder(message)
	if err != nil {
		return false, fmt.Errorf("lease %s is held by something unreadable: %w", w.c.LeaseRef(w.prefix()), err)
	}
	if holder == w.Holder {
		return true, nil
	}
	alive, known := holder.Alive()
	if !known {
		return false, Waiting{fmt.Sprintf("%s, on another machine; if it is dead: refit candidate takeover %s --reason TEXT", holder, w.c.ID)}
	}
	if alive {
		return false, Waiting{fmt.Sprintf("%s, which is moving this candidate", holder)}
	}
	return false, nil
}

// dropLease gives the lease back. A failure only delays the next writer, which
// will find this process dead; so it is not an error of the work done.
func (w *work) dropLease(ctx context.Context) {
	if w.leased == "" {
		return
	}
	ref := w.c.LeaseRef(w.prefix())
	if sha, ok, err := w.Forge.Ref(ctx, ref); err == nil && ok && sha == w.leased {
		if err := w.Forge.DeleteRef(ctx, ref); err != nil {
			w.tell("lease", "warning", err.Error())
		}
	}
	w.leased = ""
}
