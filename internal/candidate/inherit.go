package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
)

// inherit takes over what the forge knows of a candidate and this ledger does
// not: the store of the machine it began on may be out of reach. The receipts
// of the steps before propose come out of the claim, checked; the proposal is
// found by its branch; an end that was announced is found by its record. What
// came later is made again by the steps themselves. Nothing is written here:
// what was inherited goes to the ledger with the next receipt.
//
// What another login left is only read for an adoption.
func (w *work) inherit(ctx context.Context, adopting bool) error {
	if !adopting && w.knows(carriedSteps...) && w.knows("propose") {
		return nil
	}
	p, ok, err := w.claimOf(ctx, w.c.Family)
	if err != nil || !ok || p.Candidates[0] != w.c {
		return err // propose says whose claim it is
	}
	receipts, err := w.carriedBy(ctx, p)
	if err != nil {
		return fmt.Errorf("claim %s: %w", p.ref, err)
	}
	login, err := w.who(ctx)
	if err != nil {
		return err
	}
	pull, opened, err := w.attemptPull(ctx, receipts)
	if err != nil {
		return err
	}
	if opened && !adopting && w.owner(pull) != login {
		return w.mismatch(pull, login)
	}
	for _, r := range receipts {
		if r.By == login || adopting {
			w.inheritOne(r)
		}
	}
	if !opened || w.knows("propose") {
		return nil
	}
	w.inheritOne(Receipt{
		Candidate: w.c.ID, Step: "propose", Subject: w.c.ID, By: w.owner(pull), At: pull.Created,
		Evidence: mustJSON(Proposed{w.c.Branch(w.prefix()), pull.HeadSHA, pull.Number, pull.URL}),
	})
	w.claimed = true
	return w.inheritEnd(ctx, pull)
}

func (w *work) knows(steps ...string) bool {
	for _, s := range steps {
		if _, ok := w.receipts[s]; !ok {
			return false
		}
	}
	return true
}

func (w *work) inheritOne(r Receipt) {
	if w.knows(r.Step) {
		return
	}
	w.receipts[r.Step] = r
	w.fresh = append(w.fresh, r)
	w.tell(r.Step, "inherited", "receipt of "+r.By)
}

// attemptPull is the pull request that this attempt opened: its head is ours
// and it is no older than the looks before it. An open one goes first.
func (w *work) attemptPull(ctx context.Context, looked []Receipt) (forge.Pull, bool, error) {
	branch := w.c.Branch(w.prefix())
	pulls, err := w.Forge.PullsByHead(ctx, branch)
	if err != nil {
		return forge.Pull{}, false, fmt.Errorf("pull requests of %s: %w", branch, err)
	}
	slices.SortStableFunc(pulls, func(a, b forge.Pull) int { return shut(a) - shut(b) })
	for _, p := range pulls {
		if len(looked) > 0 && p.Created.Before(looked[len(looked)-1].At.Add(-clockSkew)) {
			continue
		}
		message, err := w.Forge.Message(ctx, p.HeadSHA)
		if err != nil {
			return forge.Pull{}, false, fmt.Errorf("head of #%d: %w", p.Number, err)
		}
		if w.signed(message) {
			return p, true, nil
		}
	}
	return forge.Pull{}, false, nil
}

func shut(p forge.Pull) int {
	if p.State == "open" {
		return 0
	}
	return 1
}

// inheritEnd resumes the end that another session announced, from its record
// on the pull request. Source: lifecycle specification, section 10, recover.
func (w *work) inheritEnd(ctx context.Context, p forge.Pull) error {
	records, err := w.publishedBy(ctx, p.Number, w.owner(p))
	if err != nil {
		return err
	}
	var rec report.Cleanup
	there, ok := records["cleanup/"]
	if !ok || json.Unmarshal(there.record.JSON, &rec) != nil || rec.Validate(w.Config.Policy.Bilingual) != nil ||
		rec.Candidate != w.c.ID || rec.PullRequest != p.Number {
		return nil
	}
	w.inheritOne(Receipt{
		Candidate: w.c.ID, Step: "cleanup", Subject: rec.Head, By: w.owner(p), At: rec.Started,
		Evidence: mustJSON(End{Outcome(rec.Outcome), Phase(rec.Phase), "decided before: " + rec.Why.EN}),
	})
	return nil
}

// ErrNoCandidate says that nobody knows a candidate of a name.
var ErrNoCandidate = errors.New("no candidate")

// Find is the candidate that a person names by id, family or config key: one
// of this ledger, else one that holds a claim on the forge.
func (s *Shepherd) Find(ctx context.Context, name string) (Candidate, error) {
	all, err := s.Ledger.Candidates(ctx)
	if err != nil {
		return Candidate{}, fmt.Errorf("list candidates: %w", err)
	}
	named := func(c Candidate) bool { return c.ID == name || c.Family == name || c.Key() == name }
	for _, c := range all {
		if named(c.Candidate) {
			return c.Candidate, nil
		}
	}
	claims, err := s.Forge.Refs(ctx, s.prefix()+"/claim-")
	if err != nil {
		return Candidate{}, fmt.Errorf("claims: %w", err)
	}
	for ref, commit := range claims {
		message, err := s.Forge.Message(ctx, commit)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it points at no commit: it blocks its own family alone
		}
		if err != nil {
			return Candidate{}, fmt.Errorf("claim %s: %w", ref, err)
		}
		var p claim
		if json.Unmarshal([]byte(message), &p) != nil {
			continue // it blocks its own family, not the search for another
		}
		for _, c := range p.Candidates {
			if named(c) && ref == ClaimRef(s.prefix(), c.Family) {
				return c, nil
			}
		}
	}
	return Candidate{}, fmt.Errorf("%w %q: neither this workspace nor a claim on the forge knows it", ErrNoCandidate, name)
}
