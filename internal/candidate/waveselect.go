package candidate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/gate"
)

// DefaultCap is how many candidates a wave moves when nobody says otherwise.
const DefaultCap = 5

// SelectOptions are what a selection depends on beside the wave.
type SelectOptions struct {
	Cap int // of candidates; 0 is DefaultCap

	// Clusters reads the capacity of clusters now and answers for each of them.
	// nil asks Shepherd.Capacity for the family's runner instead.
	Clusters func(ctx context.Context, ids []string) ([]gate.Verdict, error)
}

// Selection is what a selection made of a wave.
type Selection struct {
	Base     string     `json:"base"`
	At       time.Time  `json:"at"`
	Parent   string     `json:"parent"` // who claims
	Cap      int        `json:"cap"`
	Selected []Selected `json:"selected"` // in the order of the wave
	Left     []LeftOut  `json:"left-out"`
}

// Selected is a candidate whose family is claimed.
type Selected struct {
	Candidate
	Clusters  []string  `json:"clusters"`
	Ownership Ownership `json:"ownership"`
}

// Ownership says who holds a family, and by which commit of which ref.
type Ownership struct {
	Candidate string    `json:"candidate"`
	Family    string    `json:"family"`
	Claim     string    `json:"claim"`  // the ref, without refs/
	Commit    string    `json:"commit"` // what it pointed at when the family was claimed
	Parent    string    `json:"parent"`
	Holder    string    `json:"holder,omitempty"` // the process that Parent names
	At        time.Time `json:"at"`
}

// Why a proposal was not selected.
const (
	SkippedDecision = "decision" // a reviewer said duplicate or uncertain
	SkippedCapacity = "capacity" // a cluster has no room any more
	SkippedClaimed  = "claimed"  // somebody was faster
	SkippedEnded    = "ended"    // the same move has ended before, and is not repeated
	SkippedCap      = "cap"      // the wave is full
)

// SelectWave claims families of a wave, in its order, until the cap is reached.
// A proposal that lost its room or its family leaves its place to a later one.
// Decisions that do not fit the wave are a *Deferred, and nothing is claimed.
// After an error the selection holds what was claimed before it.
func (s *Shepherd) SelectWave(ctx context.Context, w Wave, ds []Decision, o SelectOptions) (Selection, error) {
	if o.Cap <= 0 {
		o.Cap = DefaultCap
	}
	sel := Selection{Base: w.Base, At: s.Now().UTC(), Parent: s.parent(), Cap: o.Cap, Selected: []Selected{}, Left: []LeftOut{}}
	if err := CheckDecisions(ds, w); err != nil {
		return sel, err
	}
	byID := map[string]Decision{}
	out := map[string]Decision{} // by family
	for _, d := range ds {
		byID[d.ID] = d
		if _, known := out[d.Family]; !known && d.Decision != DecisionProceed {
			out[d.Family] = d
		}
	}
	for _, p := range w.Candidates {
		if d, ok := out[p.Family]; ok {
			sel.leave(p, SkippedDecision, fmt.Sprintf("%s: %s", d.Decision, d.Reason))
			continue
		}
		if err := s.selectOne(ctx, p, byID[p.ID], o, &sel); err != nil {
			return sel, fmt.Errorf("select %s: %w", p.Family, err)
		}
	}
	return sel, nil
}

func (sel *Selection) leave(p Proposal, reason, detail string) {
	sel.Left = append(sel.Left, LeftOut{Family: p.Family, Reason: reason, Detail: detail})
}

// selectOne claims the family of one proposal, or says why it is left.
func (s *Shepherd) selectOne(ctx context.Context, p Proposal, d Decision, o SelectOptions, sel *Selection) error {
	if len(sel.Selected) >= sel.Cap {
		sel.leave(p, SkippedCap, fmt.Sprintf("the wave moves at most %d", sel.Cap))
		return nil
	}
	full, err := s.noRoom(ctx, p, d.Clusters, o)
	if err != nil {
		return fmt.Errorf("capacity: %w", err)
	}
	if full != "" {
		sel.leave(p, SkippedCapacity, full)
		return nil
	}
	c, ended, err := s.fresh(ctx, p.Candidate)
	if err != nil {
		return err
	}
	if ended {
		sel.leave(p, SkippedEnded, "candidate "+c.ID+" has ended; refit candidate show "+c.ID+" tells how")
		return nil
	}
	commit, err := s.stake(ctx, c)
	var blocks blocksFamily
	if errors.Is(err, errClaimed) || errors.As(err, &blocks) {
		sel.leave(p, SkippedClaimed, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	sel.Selected = append(sel.Selected, Selected{Candidate: c, Clusters: d.Clusters, Ownership: Ownership{
		Candidate: c.ID, Family: c.Family, Claim: ClaimRef(s.prefix(), c.Family), Commit: commit,
		Parent: c.Parent, Holder: s.claimant(c), At: sel.At,
	}})
	s.tell("select", "done", c.Key()+" is claimed")
	return nil
}

// fresh is a proposed candidate as this process claims it: under its own name,
// and as a further attempt where an earlier one ended and may be retried. ended
// says that an earlier one stands.
func (s *Shepherd) fresh(ctx context.Context, c Candidate) (_ Candidate, ended bool, err error) {
	if c.ID != c.identity() {
		return c, false, fmt.Errorf("candidate %q is that of another family or image: want %s", c.ID, c.identity())
	}
	c.Parent, c.Attempt = s.parent(), 0
	again, err := s.remembered(ctx, c)
	if err != nil {
		return c, false, err
	}
	w, err := s.open(ctx, again)
	if err != nil {
		return c, false, err
	}
	_, ended = w.sealed()
	return again, ended, nil
}

// noRoom is why one of the targets has no room now, "" when all have.
func (s *Shepherd) noRoom(ctx context.Context, p Proposal, clusters []string, o SelectOptions) (string, error) {
	if o.Clusters == nil || len(clusters) == 0 {
		runner, err := s.runnerOf(ctx, p.Candidate)
		if err != nil {
			return "", err
		}
		if v := s.Capacity(ctx, runner); v.Answer != gate.Pass {
			return v.Reason, nil
		}
		return "", nil
	}
	vs, err := o.Clusters(ctx, clusters)
	if err != nil {
		return "", err
	}
	if len(vs) != len(clusters) {
		return "", fmt.Errorf("%d answers about %d clusters", len(vs), len(clusters))
	}
	for _, v := range vs {
		if v.Answer != gate.Pass {
			return v.Gate + ": " + v.Reason, nil
		}
	}
	return "", nil
}

// runnerOf is the runner label of a candidate's family at its base.
func (s *Shepherd) runnerOf(ctx context.Context, c Candidate) (string, error) {
	fam, err := s.familyAt(ctx, c.Base, c.Family)
	return fam.Entry.Runner, err
}
