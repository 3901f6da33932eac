package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/gate"
)

// Recovery says what Recover did with a candidate.
type Recovery string

// The recoveries.
const (
	RecoveryReleased Recovery = "released" // its end frees the family, and now it is free
	RecoveryResumed  Recovery = "resumed"  // it went on from where its session left it
	RecoveryFollowed Recovery = "followed" // validated: what became of its pull request was looked at
	RecoveryLeft     Recovery = "left"     // left as it is, for the reason given
	RecoveryBlocked  Recovery = "blocked"  // its claim cannot be believed; a person looks
	RecoveryFailed   Recovery = "error"    // it could not be looked at, or not be moved
)

// Recovered is one claimed candidate, and what Recover did with it or why not.
type Recovered struct {
	Candidate
	Claim  string   `json:"claim,omitempty"` // the ref that was found, "" when the candidate has none any more
	Pull   int      `json:"pull,omitempty"`
	Action Recovery `json:"action"`
	Reason string   `json:"reason"`
	State  State    `json:"state,omitempty"`   // where it stands now, when it was moved or followed
	Ended  Outcome  `json:"outcome,omitempty"` // how it ended, when it has

	err error // what Reason tells, when Action is RecoveryFailed
}

func (r Recovered) String() string { return fmt.Sprintf("%-8s %s", r.Action, r.detail()) }

func (r Recovered) detail() string { return cmp.Or(r.Family, r.Claim) + ": " + r.Reason }

// Recover looks after every candidate whose session has ended, and leaves alone
// what is somebody else's: it is the start of a wave, and may be called at any
// time. An end that was announced is carried out, a finished sweep is certified
// and published, a session that was cut short goes on, and the family of a
// validated candidate is freed when its pull request was merged or closed. A
// candidate whose runs are healthy and under way waits for a later call.
//
// What went wrong with one candidate does not keep it from the others: its line
// says so, and the error joins all of them.
func (s *Shepherd) Recover(ctx context.Context) ([]Recovered, error) {
	refs, err := s.Forge.Refs(ctx, s.prefix()+"/claim-")
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	var all []Recovered
	var errs []error
	claimed := map[string]bool{}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		r, err := s.recoverClaim(ctx, ref, refs[ref])
		if err != nil {
			r.Action, r.Reason, r.err = RecoveryFailed, err.Error(), err
			errs = append(errs, err)
		}
		claimed[r.ID] = true
		all = append(all, r)
		s.tell("recover", string(r.Action), r.detail())
	}
	followed, err := s.followFreed(ctx, claimed)
	return append(all, followed...), errors.Join(append(errs, err)...)
}

func (s *Shepherd) recoverClaim(ctx context.Context, ref, sha string) (Recovered, error) {
	r := Recovered{Claim: ref}
	p, err := s.readClaim(ctx, ref, sha)
	var blocks blocksFamily
	switch {
	case errors.As(err, &blocks):
		r.Action, r.Reason = RecoveryBlocked, err.Error()
		return r, nil
	case err != nil:
		return r, err
	}
	r.Candidate = p.Candidates[0]
	w, err := s.open(ctx, r.Candidate)
	if err != nil {
		return r, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	err = w.recoverTo(ctx, p, &r)
	var left notOurs
	if errors.As(err, &left) {
		r.Action, r.Reason, err = RecoveryLeft, left.Error(), nil
	}
	if err != nil && !strings.HasPrefix(err.Error(), "candidate "+r.ID) { // an Advance has said it
		err = fmt.Errorf("candidate %s: %w", r.ID, err)
	}
	return r, err
}

// recoverTo decides by looking alone whether the candidate may be touched, and
// only then lets it go on.
func (w *work) recoverTo(ctx context.Context, p claim, r *Recovered) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if pr, err := evidence[Proposed](w, "propose"); err == nil {
		r.Pull = pr.Pull
	}
	if err := w.inheritSeal(ctx); err != nil {
		return err
	}
	parent, err := w.parentEnded(ctx, p)
	if err != nil {
		return err
	}
	if st, ok := w.sealed(); ok {
		return w.recoverEnded(ctx, parent, st, r)
	}
	if parent.Answer != gate.Pass {
		r.leave(parent.Reason)
		if parent.Answer == gate.Unknown {
			r.leave(parent.Reason + "; if it is dead: refit candidate advance " + w.c.ID)
		}
		return nil
	}
	reason, err := w.whyNotTouch(ctx)
	if err != nil || reason != "" {
		r.leave(reason)
		return err
	}
	return w.goOn(ctx, r)
}

// leave says why nothing was done.
func (r *Recovered) leave(reason string) { r.Action, r.Reason = RecoveryLeft, reason }

// goOn is an Advance by this session.
func (w *work) goOn(ctx context.Context, r *Recovered) error {
	st, err := w.Advance(ctx, w.c)
	if err == nil {
		r.Stands(st)
	}
	return err
}

// Stands says where a candidate that goes on stands now.
func (r *Recovered) Stands(st Status) {
	r.Action, r.State, r.Ended, r.Pull = RecoveryResumed, st.State, st.Outcome, st.Pull
	switch {
	case st.State == Waits:
		r.Reason = "at " + st.Step + ", waits for " + st.Waiting
	case st.Reason != "":
		r.Reason = string(st.Outcome) + ": " + st.Reason
	default:
		r.Reason = string(st.Outcome)
	}
}

// recoverEnded frees the family of a candidate that has its receipt, where its
// end does so and the process that sealed it died too early.
func (w *work) recoverEnded(ctx context.Context, parent gate.Verdict, st Status, r *Recovered) error {
	r.State, r.Ended = st.State, st.Outcome
	switch {
	case parent.Answer == gate.Fail: // it is still at work and does that itself
		r.leave(parent.Reason)
		return nil
	case st.Outcome == Validated:
		return w.follow(ctx, r)
	case w.keepsBranch(st.Outcome):
		r.leave(fmt.Sprintf("ended %s and is kept until a maintainer calls refit candidate release %s --head SHA", st.Outcome, w.c.ID))
		return w.tidy(ctx, st)
	}
	if reason, err := w.leaseTaken(ctx); err != nil || reason != "" {
		r.leave(reason)
		return err
	}
	if err := w.tidy(ctx, st); err != nil {
		return err
	}
	r.Action, r.Reason = RecoveryReleased, fmt.Sprintf("ended %s; its family is free", st.Outcome)
	return nil
}

// waitsFor leaves a candidate to whoever holds its lease.
func waitsFor(err error, r *Recovered) error {
	var wait Waiting
	if errors.As(err, &wait) {
		r.leave("waits for " + wait.For)
		return nil
	}
	return err
}
