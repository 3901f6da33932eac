package candidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/forge"
)

// whyNotTouch is why an interrupted candidate must be left alone, "" when it may
// go on. It only looks. Source: lifecycle specification, sections 6 and 10.
func (w *work) whyNotTouch(ctx context.Context) (string, error) {
	if reason, err := w.leaseTaken(ctx); err != nil || reason != "" {
		return reason, err
	}
	if !w.claimed {
		return "", nil // no pull request, so nothing of anybody else's
	}
	if reason, err := w.touchedByOthers(ctx); err != nil || reason != "" {
		return reason, err
	}
	p, err := w.ownPull(ctx)
	if err != nil {
		return "", err
	}
	runs, err := w.ownedRuns(ctx)
	if err != nil {
		return "", err
	}
	if reason, err := w.startedLater(ctx, p, runs); err != nil || reason != "" {
		return reason, err
	}
	if _, pending := w.pendingEnd(); pending {
		return "", nil // its runs are cancelled and awaited
	}
	for _, r := range runs {
		if r.Status != "completed" {
			return fmt.Sprintf("run %d is %s: a later wave looks again", r.ID, r.Status), nil
		}
	}
	return "", nil
}

// leaseTaken is the living process, or the one of another machine, that is
// moving the candidate.
func (w *work) leaseTaken(ctx context.Context) (string, error) {
	at, ok, err := w.Forge.Ref(ctx, w.c.LeaseRef(w.prefix()))
	if err != nil || !ok {
		return "", err
	}
	_, err = w.mayTake(ctx, at)
	var wait Waiting
	if errors.As(err, &wait) {
		return "held by " + wait.For, nil
	}
	return "", err
}

// touchedByOthers is what a person has done to the pull request. A pending
// cleanup may have closed it itself.
func (w *work) touchedByOthers(ctx context.Context) (string, error) {
	err := isOwned(ctx, w)
	if _, pending := w.pendingEnd(); pending && w.pull != nil && w.pull.State != "open" && !w.handedOver() {
		err = w.stillOwned(ctx)
	}
	var end *End
	if errors.As(err, &end) {
		return end.Reason, nil
	}
	return "", err
}

// stillOwned is isOwned for a pull request that our own ending has closed.
func (w *work) stillOwned(ctx context.Context) error {
	login, err := w.who(ctx)
	switch {
	case err != nil:
		return err
	case w.owner(*w.pull) != login:
		return w.mismatch(*w.pull, login)
	}
	return w.headIsOurs(ctx, w.pull.HeadSHA)
}

// startedLater is a run that somebody else began after the session's last sign
// of life, and that does something: whoever did that is at work on the
// candidate, and says with the handoff label whose it is.
func (w *work) startedLater(ctx context.Context, p forge.Pull, runs []forge.Run) (string, error) {
	since := w.lastSign(p)
	for _, r := range runs {
		if r.Actor == w.login || r.Actor == w.owner(p) || r.Created.Before(since) {
			continue
		}
		if idle, err := w.idle(ctx, r); err != nil || idle {
			if err != nil {
				return "", err
			}
			continue
		}
		return fmt.Sprintf("run %d was started by %s after its session had ended: the label %s hands the candidate over, refit candidate advance %s goes on with it",
			r.ID, word(r.Actor), w.Config.Forge.HandoffLabel, w.c.ID), nil
	}
	return "", nil
}

// lastSign is when the candidate was moved last, in whole seconds as a forge
// counts them.
func (w *work) lastSign(p forge.Pull) time.Time {
	last := p.Created
	for _, r := range w.receipts {
		if r.At.After(last) {
			last = r.At
		}
	}
	return last.Truncate(time.Second)
}
