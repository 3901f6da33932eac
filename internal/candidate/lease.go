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
// machine sees dead. There is no stealing by time. It is asked before every
// step that writes: a lease that we held and lost is waited for, and so is a
// candidate that somebody moved since its receipts were read.
func (w *work) takeLease(ctx context.Context) error {
	if w.leased != "" {
		return w.stillOurs(ctx)
	}
	if err := w.twice(ctx, func() error { return w.reachForLease(ctx) }); err != nil {
		w.shut = true
		return err
	}
	all, err := w.Ledger.Receipts(ctx, w.c.ID)
	if err != nil {
		return fmt.Errorf("read receipts again: %w", err)
	}
	if len(all) != w.known {
		return Waiting{"a fresh look: another process has just moved this candidate"}
	}
	return nil
}

// reachForLease looks who holds the lease and takes it if that may be.
func (w *work) reachForLease(ctx context.Context) error {
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
	if err == nil || forge.Unanswered(err) { // it may be ours: then it is dropped at the end
		w.leased = commit
	}
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}

// stillOurs looks at the lease afresh.
func (w *work) stillOurs(ctx context.Context) error {
	at, ok, err := w.Forge.Ref(ctx, w.c.LeaseRef(w.prefix()))
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	if !ok || at != w.leased {
		w.leased, w.shut = "", true
		return Waiting{"whoever took this candidate over"}
	}
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
		return false, fmt.Errorf("lease %s is held by something unreadable (refit candidate takeover %s --reason TEXT frees it): %w", w.c.LeaseRef(w.prefix()), w.c.ID, err)
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
	err := w.twice(ctx, func() error {
		sha, ok, err := w.Forge.Ref(ctx, ref)
		if err != nil || !ok || sha != w.leased {
			return err
		}
		return w.Forge.DeleteRef(ctx, ref)
	})
	if err != nil {
		w.tell("lease", "warning", err.Error())
	}
	w.leased = ""
}

// tidy finishes what a process that was killed right after the last receipt
// left: the claim of an end that frees its family, the lease of the dead, and
// the line in the list.
func (w *work) tidy(ctx context.Context, st Status) error {
	if err := w.tidyClaim(ctx); err != nil {
		return err
	}
	if err := w.tidyLease(ctx); err != nil {
		return err
	}
	if w.batch() != nil { // its list is only a view, and computing it asks the forge
		return w.save(ctx, st.Summary)
	}
	all, err := w.Ledger.Candidates(ctx)
	if err != nil {
		return fmt.Errorf("candidate %s: list: %w", w.c.ID, err)
	}
	for _, s := range all {
		if s.ID == w.c.ID && s.Outcome == st.Outcome && s.State == st.State {
			return nil
		}
	}
	return w.save(ctx, st.Summary)
}

// tidyClaim frees the family when the end says so and its walk was cut short.
func (w *work) tidyClaim(ctx context.Context) error {
	s, err := evidence[Sealed](w, "outcome")
	if err != nil {
		return nil
	}
	ours, err := w.claimIsOurs(ctx)
	if err != nil || !ours {
		return err
	}
	if err := w.obeyBase(ctx); err != nil {
		return err
	}
	end := &End{Outcome: Outcome(s.Receipt.Outcome)}
	if w.keepsBranch(end.Outcome) {
		return nil
	}
	if err := w.takeLease(ctx); err != nil {
		return ignoreWaiting(err)
	}
	return w.twice(ctx, func() error { return w.releaseClaim(ctx, end) })
}

func (w *work) tidyLease(ctx context.Context) error {
	if w.leased != "" {
		return nil
	}
	_, ok, err := w.Forge.Ref(ctx, w.c.LeaseRef(w.prefix()))
	if err != nil || !ok {
		return err
	}
	return ignoreWaiting(w.takeLease(ctx)) // it is dropped when Advance returns
}

// ignoreWaiting keeps what is an error: a living holder tidies up itself.
func ignoreWaiting(err error) error {
	var wait Waiting
	if errors.As(err, &wait) {
		return nil
	}
	return err
}
