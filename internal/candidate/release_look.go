package candidate

import (
	"context"
	"fmt"
	"regexp"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// releasable asks every question that a release depends on; it writes nothing.
// Source: lifecycle specification, section 10, release-candidate.
func (w *work) releasable(ctx context.Context, head string) (Released, error) {
	if !commitForm.MatchString(head) {
		return Released{}, refuse("head %q: want the 40 digits of the commit that you looked at", head)
	}
	if err := w.mayRelease(ctx); err != nil {
		return Released{}, err
	}
	p, err := w.heldClaim(ctx)
	if err != nil {
		return Released{}, err
	}
	w.pull = nil
	pull, err := w.ownPull(ctx)
	if err != nil {
		return Released{}, err
	}
	if err := w.notTheOwner(pull); err != nil {
		return Released{}, err
	}
	parent, err := w.parentEnded(ctx, p)
	if err != nil {
		return Released{}, err
	}
	if parent.Answer == gate.Fail {
		return Released{}, refuse("%s", parent.Reason)
	}
	return w.releasableAt(ctx, pull, head)
}

// heldClaim is the family's claim, which must be exactly this candidate's.
func (w *work) heldClaim(ctx context.Context) (claim, error) {
	p, ok, err := w.claimOf(ctx, w.c.Family)
	switch {
	case err != nil:
		return claim{}, err
	case !ok:
		return claim{}, refuse("family %s is not claimed: there is nothing to release", w.c.Family)
	case p.Candidates[0] != w.c:
		held := p.Candidates[0]
		return claim{}, refuse("family %s is claimed by candidate %s, attempt %d, of %s", w.c.Family, held.ID, held.Attempt, held.Parent)
	}
	return p, nil
}

// mayRelease asks for write permission, of the login behind the credential.
func (w *work) mayRelease(ctx context.Context) error {
	login, err := w.who(ctx)
	if err != nil {
		return err
	}
	v, err := w.checkPermission(ctx, Doctored{Login: login})
	if err == nil && v.Answer != gate.Pass {
		err = refuse("%s", v.Reason)
	}
	return err
}

// knowEnd makes sure that this ledger knows no session that has still to end
// the candidate. A ledger that knows nothing of it, as that of a maintainer's
// machine, takes over what the claim carries, without keeping it.
func (w *work) knowEnd(ctx context.Context) error {
	if w.claimed {
		if _, ok := w.sealed(); !ok {
			return refuse("it has not ended: its next step is %s; refit candidate stop %s --reason TEXT ends it", w.at().Name, w.c.ID)
		}
		return nil
	}
	if err := w.inherit(ctx, true); err != nil {
		return err
	}
	w.fresh = nil
	if !w.claimed {
		return refuse("there is no pull request of it")
	}
	return nil
}

// notTheOwner refuses the bot's own word, and that of whoever adopted the draft.
func (w *work) notTheOwner(p forge.Pull) error {
	if w.login == p.Author || w.login == w.owner(p) {
		return refuse("#%d is by %s, and so is this credential: a release is somebody else's decision", p.Number, w.login)
	}
	return nil
}

// releasableAt asks what the forge shows of the candidate's end.
func (w *work) releasableAt(ctx context.Context, p forge.Pull, head string) (Released, error) {
	rec, _, err := w.outcomeRecord(ctx, p)
	branch := w.c.Branch(w.prefix())
	switch {
	case err != nil:
		return Released{}, err
	case p.Merged:
		return Released{}, refuse("#%d is merged", p.Number)
	case p.State != "closed":
		return Released{}, refuse("#%d is %s: a release is of what has ended", p.Number, p.State)
	case rec.Outcome == "":
		return Released{}, refuse("#%d has no receipt of an outcome by %s: the cleanup has not ended", p.Number, w.owner(p))
	case rec.Outcome == string(Validated):
		return Released{}, refuse("#%d is validated: its family is freed when refit candidate recover sees it merged or closed", p.Number)
	case p.HeadSHA != head:
		return Released{}, refuse("#%d is at %s, not at %s", p.Number, p.HeadSHA, head)
	}
	at, there, err := w.Forge.Ref(ctx, "heads/"+branch)
	if err != nil {
		return Released{}, fmt.Errorf("branch: %w", err)
	}
	if there && at != head {
		return Released{}, refuse("%s is at %s, not at %s: somebody has pushed since it ended", branch, at, head)
	}
	runs, err := w.ownedRuns(ctx)
	if err != nil {
		return Released{}, err
	}
	for _, r := range runs {
		if r.Status != "completed" {
			return Released{}, refuse("run %d is %s: wait for its end, or cancel it", r.ID, r.Status)
		}
	}
	return Released{Outcome: Outcome(rec.Outcome), Owner: w.owner(p), By: w.login, Pull: p.Number, Head: head, Branch: branch, At: w.now}, nil
}
