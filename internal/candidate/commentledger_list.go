package candidate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
)

// Candidates lists what the forge knows, newest first: the candidates that hold
// a claim, and those of the newest hundred pull requests, ended ones too. What
// only this machine remembers comes as it was seen last.
func (l *CommentLedger) Candidates(ctx context.Context) ([]Summary, error) {
	claims, err := l.claims(ctx)
	if err != nil {
		return nil, err
	}
	pulls, err := l.recent(ctx)
	if err != nil {
		return nil, err
	}
	ids := maps.Clone(claims)
	for id := range pulls {
		ids[id] = claims[id]
	}
	var all []Summary
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		s, ok, err := l.summary(ctx, id, ids[id], pulls[id])
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, s)
		}
	}
	if all, err = l.remembered(ctx, all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Summary) int { return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID)) })
	return all, nil
}

// Candidate is where a candidate stands, by its id; false when the forge knows
// no claim and no receipt of it.
func (l *CommentLedger) Candidate(ctx context.Context, id string) (Summary, bool, error) {
	if !idForm.MatchString(id) {
		return Summary{}, false, nil
	}
	ref := claimRefOf(l.Pages.Prefix, id)
	at, held, err := l.Forge.Ref(ctx, ref)
	if err != nil {
		return Summary{}, false, fmt.Errorf("claim %s: %w", ref, err)
	}
	var c Candidate
	if held {
		claimed, err := l.claimedAt(ctx, ref, at)
		if err != nil {
			return Summary{}, false, err
		}
		if claimed.ID == id {
			c = claimed
		}
	}
	return l.summary(ctx, id, c, nil)
}

// idForm is what ID makes.
var idForm = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{16}$`)

// claimRefOf is the claim of the family that an id begins with.
func claimRefOf(prefix, id string) string {
	family, _, _ := strings.Cut(id, "-")
	return prefix + "/claim-" + family
}

// claims are the candidates that hold a claim, by id. A claim that cannot be
// read blocks its family, not the list.
func (l *CommentLedger) claims(ctx context.Context) (map[string]Candidate, error) {
	refs, err := l.Forge.Refs(ctx, l.Pages.Prefix+"/claim-")
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	out := map[string]Candidate{}
	for ref, at := range refs {
		c, err := l.claimedAt(ctx, ref, at)
		if err != nil {
			return nil, err
		}
		if c.ID != "" {
			out[c.ID] = c
		}
	}
	return out, nil
}

// claimedAt is the candidate of a claim; without an ID when it cannot be read.
func (l *CommentLedger) claimedAt(ctx context.Context, ref, at string) (Candidate, error) {
	message, err := l.Forge.Message(ctx, at)
	if err != nil {
		return Candidate{}, fmt.Errorf("claim %s: %w", ref, err)
	}
	var p claim
	if json.Unmarshal([]byte(message), &p) != nil {
		return Candidate{}, nil
	}
	for _, c := range p.Candidates {
		if ref == ClaimRef(l.Pages.Prefix, c.Family) && c.ID == c.identity() {
			return c, nil
		}
	}
	return Candidate{}, nil
}

// recent are the newest pull requests of candidates, by id, newest first.
func (l *CommentLedger) recent(ctx context.Context) (map[string][]forge.Pull, error) {
	pulls, err := l.Forge.RecentPulls(ctx)
	if err != nil {
		return nil, fmt.Errorf("newest pull requests: %w", err)
	}
	out := map[string][]forge.Pull{}
	for _, p := range pulls {
		id, ours := strings.CutPrefix(p.HeadRef, l.Pages.Prefix+"/auto-")
		if ours && p.HeadRepo == l.Forge.Repository.String() {
			out[id] = append(out[id], p)
		}
	}
	return out, nil
}

// summary computes where a candidate stands from its receipts and its pull
// request. claimed is the candidate of its claim, when it holds one; pulls are
// its pull requests, nil when they have not been asked for. One whose receipts
// cannot be believed is shown with the reason.
func (l *CommentLedger) summary(ctx context.Context, id string, claimed Candidate, pulls []forge.Pull) (Summary, bool, error) {
	var k kept
	var err error
	if pulls == nil {
		k, err = l.kept(ctx, id)
	} else {
		k, err = l.keptIn(ctx, id, pulls)
	}
	reason, blocked := Changed(err)
	if err != nil && !blocked {
		return Summary{}, false, fmt.Errorf("candidate %s: %w", id, err)
	}
	c := k.candidate
	if claimed.ID != "" && (c.ID == "" || claimed.Attempt > c.Attempt) {
		c, k = claimed, kept{owner: k.owner} // what is there is of an earlier attempt
	}
	if c.ID == "" {
		return Summary{}, false, nil
	}
	w := &work{Shepherd: &Shepherd{Ledger: l}, c: c}
	w.hold(k.receipts)
	st := w.stands()
	s := st.Summary
	if len(k.receipts) == 0 {
		s.Step = carriedSteps[len(carriedSteps)-1] // the claim carries the receipts so far
	}
	s.Owner = cmp.Or(k.owner, s.Owner)
	_, ending := w.receipts["cleanup"]
	switch {
	case blocked:
		s.Next = "a person looks: " + reason
	case k.pull.Number > 0 && k.pull.State != "open" && s.Outcome == "" && !ending: // whoever closed it has taken it over
		s.State, s.Outcome = Done, Handoff
	}
	return k.seen(s), true, nil
}

// seen adds what the pull request and the receipts say of place and time.
func (k kept) seen(s Summary) Summary {
	s.Pull, s.PullURL = cmp.Or(s.Pull, k.pull.Number), cmp.Or(s.PullURL, k.pull.URL)
	if s.Created.IsZero() {
		s.Created = k.pull.Created
	}
	for _, r := range k.receipts {
		if r.At.After(s.Updated) {
			s.Updated = r.At
		}
	}
	return s
}

// remembered adds the candidates that only this machine's view has: their pull
// requests are older than what is listed. One that had not ended is looked up.
func (l *CommentLedger) remembered(ctx context.Context, all []Summary) ([]Summary, error) {
	if l.View == nil {
		return all, nil
	}
	view, err := l.View.Candidates(ctx)
	if err != nil {
		return nil, fmt.Errorf("candidates seen before: %w", err)
	}
	for _, old := range view {
		if slices.ContainsFunc(all, func(s Summary) bool { return s.ID == old.ID }) {
			continue
		}
		if old.Outcome == "" {
			now, ok, err := l.summary(ctx, old.ID, Candidate{}, nil)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			old = now
		}
		all = append(all, old)
	}
	return all, nil
}
