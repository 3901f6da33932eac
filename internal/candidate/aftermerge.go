package candidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// Parted is the receipt of a validated candidate whose pull request a person
// has merged or closed: from then on its family is free.
type Parted struct {
	Pull int       `json:"pull"`
	Head string    `json:"head"`
	At   time.Time `json:"at"` // when it was seen
}

func (p Parted) String() string { return fmt.Sprintf("#%d at %.12s", p.Pull, p.Head) }

// parted is what became of a validated candidate's pull request, as it was last
// seen: Merged, Closed, or false while it is open.
func (w *work) parted() (State, bool) {
	for _, s := range []State{Merged, Closed} {
		if _, err := evidence[Parted](w, string(s)); err == nil {
			return s, true
		}
	}
	return "", false
}

// follow looks what became of a validated candidate's pull request. Merged or
// closed frees the family; the receipt comes first, so that a crash between the
// two is seen.
func (w *work) follow(ctx context.Context, r *Recovered) error {
	w.pull = nil
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	login, err := w.who(ctx)
	if err != nil {
		return err
	}
	r.Pull = p.Number
	state := standingOf(p)
	switch {
	case w.owner(p) != login:
		return w.mismatch(p, login)
	case state == Done:
		r.Action, r.State = RecoveryFollowed, Done
		r.Reason = fmt.Sprintf("#%d is open: a maintainer reviews and merges it", p.Number)
		st, _ := w.sealed()
		return w.tidy(ctx, st)
	}
	return w.part(ctx, p, state, r)
}

// standingOf is the state of a validated candidate by its pull request.
func standingOf(p forge.Pull) State {
	switch {
	case p.Merged:
		return Merged
	case p.State == "open":
		return Done
	}
	return Closed
}

// part keeps the receipt that the pull request was merged or closed, frees the
// family and says in the list what comes after.
func (w *work) part(ctx context.Context, p forge.Pull, state State, r *Recovered) error {
	if err := w.takeLease(ctx); err != nil {
		return waitsFor(err, r)
	}
	if seen, err := evidence[Parted](w, string(state)); err != nil || seen.Head != p.HeadSHA {
		if err := w.keep(ctx, string(state), p.HeadSHA, Parted{p.Number, p.HeadSHA, w.now}); err != nil {
			return err
		}
	}
	freed, err := w.freeFamily(ctx)
	if err != nil {
		return err
	}
	next, err := w.afterwards(ctx, state)
	if err != nil {
		return err
	}
	r.Action, r.State, r.Reason = RecoveryFollowed, state, next
	if freed {
		r.Action = RecoveryReleased
	}
	st, _ := w.sealed()
	st.Next = next
	return w.save(ctx, st.Summary)
}

// freeFamily deletes the claim, when it is this candidate's.
func (w *work) freeFamily(ctx context.Context) (freed bool, err error) {
	err = w.twice(ctx, func() error {
		ours, err := w.claimIsOurs(ctx)
		if err != nil || !ours {
			return err
		}
		freed = true
		return w.Forge.DeleteRef(ctx, ClaimRef(w.prefix(), w.c.Family))
	})
	return freed, err
}

// afterwards says what comes after a merge: its results are on the current
// curve once a run of them is published. After a closed one nothing comes.
func (w *work) afterwards(ctx context.Context, state State) (string, error) {
	p, err := evidence[Parted](w, string(state))
	if err != nil {
		return "", err
	}
	if state == Closed {
		return fmt.Sprintf("#%d was closed without a merge; the family stays where it is", p.Pull), nil
	}
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return "", err
	}
	rows, _, err := w.History(ctx, w.c.Family, r.NewDigest)
	if err != nil {
		return "", fmt.Errorf("history of the new image: %w", err)
	}
	if len(rows) == 0 {
		return fmt.Sprintf("#%d is merged; its results are not on the current curve yet: a run of the main branch publishes them", p.Pull), nil
	}
	newest := rows[len(rows)-1].Provenance
	how := "measured again by"
	if newest.Event == "pull_request" {
		how = "reused from"
	}
	return fmt.Sprintf("#%d is merged; the current curve shows its image, %s run %d", p.Pull, how, newest.RunID), nil
}

// followFreed looks after candidates that have no claim any more: the results of
// a validated one may have come to the current curve since, another machine may
// have freed a family, and a process that died at its very end may have left a
// lease. The forge is asked about each of them once.
func (s *Shepherd) followFreed(ctx context.Context, claimed map[string]bool) ([]Recovered, error) {
	all, err := s.Ledger.Candidates(ctx)
	if err != nil {
		return nil, fmt.Errorf("list candidates: %w", err)
	}
	leases, err := s.Forge.Refs(ctx, s.prefix()+"/lease-")
	if err != nil {
		return nil, fmt.Errorf("leases: %w", err)
	}
	var out []Recovered
	var errs []error
	for _, sum := range all {
		_, leased := leases[sum.LeaseRef(s.prefix())]
		if claimed[sum.ID] || !leased && (sum.State == Closed || sum.Outcome != Validated && sum.Outcome != "") {
			continue
		}
		r, err := s.followOne(ctx, sum, leased)
		var left notOurs
		switch {
		case errors.As(err, &left):
			r.leave(left.Error())
		case err != nil:
			err = fmt.Errorf("candidate %s: %w", sum.ID, err)
			r.Action, r.Reason = RecoveryFailed, err.Error()
			errs = append(errs, err)
		}
		if r.Action != "" {
			out = append(out, r)
			s.tell("recover", string(r.Action), r.detail())
		}
	}
	return out, errors.Join(errs...)
}

// followOne returns an empty action where nothing has changed.
func (s *Shepherd) followOne(ctx context.Context, sum Summary, leased bool) (Recovered, error) {
	r := Recovered{Candidate: sum.Candidate, Pull: sum.Pull}
	w, err := s.open(ctx, sum.Candidate)
	if err != nil {
		return r, err
	}
	defer w.dropLease(context.WithoutCancel(ctx))
	st, ok := w.sealed()
	if !ok {
		return r, nil // the list says more than the receipts: nothing is decided from it
	}
	r.Ended = st.Outcome
	if leased || sum.Outcome != st.Outcome {
		if err := w.tidy(ctx, st); err != nil {
			return r, err
		}
	}
	if st.Outcome != Validated || st.State == Closed {
		return r, nil
	}
	if _, parted := w.parted(); !parted {
		err := w.follow(ctx, &r)
		return r, err
	}
	next, err := w.afterwards(ctx, st.State)
	if err != nil || next == sum.Next && st.State == sum.State {
		return r, err
	}
	r.Action, r.State, r.Reason = RecoveryFollowed, st.State, next
	st.Next = next
	return r, w.save(ctx, st.Summary)
}

// inheritSeal takes over that the candidate was validated, where this ledger
// does not know it and a person has merged or closed the pull request since:
// its owner's record says so, for this head, and nobody has edited it. An open
// pull request is proved again instead.
func (w *work) inheritSeal(ctx context.Context) error {
	if _, ok := w.sealed(); ok || !w.claimed {
		return nil
	}
	p, err := w.ownPull(ctx)
	if err != nil || p.State == "open" {
		return err
	}
	rec, url, err := w.outcomeRecord(ctx, p)
	if err != nil || rec.Outcome != string(Validated) || rec.Head != p.HeadSHA {
		return err
	}
	w.inheritOne(Receipt{
		Candidate: w.c.ID, Step: "finish", Subject: rec.Head, By: w.owner(p), At: rec.Finished,
		Evidence: mustJSON(Sealed{Receipt: rec, URL: url}),
	})
	return nil
}

// outcomeRecord is the receipt that the owner has published on the pull
// request; its outcome is "" where there is none that counts. One that another
// login has edited is no evidence of anything.
func (w *work) outcomeRecord(ctx context.Context, p forge.Pull) (report.Receipt, string, error) {
	there, err := w.Forge.Comments(ctx, p.Number)
	if err != nil {
		return report.Receipt{}, "", fmt.Errorf("comments of #%d: %w", p.Number, err)
	}
	owner := w.owner(p)
	for _, c := range there {
		found, ok, err := report.ParseRecord(w.prefix(), c.Body)
		if c.Author != owner || err != nil || !ok || found.ID != w.c.ID || found.Kind != "outcome" {
			continue
		}
		editor, at, err := w.Forge.Editor(ctx, c)
		if err != nil {
			return report.Receipt{}, "", err
		}
		if editor != "" && editor != owner {
			return report.Receipt{}, "", notOurs(Tampered{Record: c.URL, Owner: owner, Editor: editor, At: at}.String())
		}
		var rec report.Receipt
		if workspace.DecodeStrict(found.JSON, &rec) != nil || rec.Validate() != nil || rec.Candidate != w.c.ID || rec.PullRequest != p.Number {
			return report.Receipt{}, "", nil
		}
		return rec, c.URL, nil // of two with one marker the older stays
	}
	return report.Receipt{}, "", nil
}
