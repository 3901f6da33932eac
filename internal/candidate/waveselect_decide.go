package candidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// Verb is what a reviewer decides about a proposal.
type Verb string

// The decisions.
const (
	DecisionProceed   Verb = "proceed"   // move the family, on exactly these clusters
	DecisionDuplicate Verb = "duplicate" // these pull requests do it already, or edit the same
	DecisionUncertain Verb = "uncertain" // it cannot be told, so it is not done
)

// Decision is a reviewer's answer about one proposal of a wave: an agent's, a
// person's, or the built-in reviewer's.
type Decision struct {
	ID       string   `json:"id"`
	Family   string   `json:"family"`
	Decision Verb     `json:"decision"`
	Clusters []string `json:"clusters,omitempty"`      // proceed: all that it may run on, none where the plan names none
	Pulls    []int    `json:"pull-requests,omitempty"` // duplicate: at least one
	Reason   string   `json:"reason"`
}

// Deferred says that nobody of the wave moves, because its review cannot be
// relied upon: an overlap that was not looked for is never taken for none.
type Deferred struct{ Reason string }

func (d *Deferred) Error() string { return "the whole wave is deferred: " + d.Reason }

// ParseDecisions reads a reviewer's answers about a wave: a JSON object with one
// list, "decisions", which holds exactly one for each proposal. Every mistake is
// a *Deferred. Source: lifecycle specification, section 4.
func ParseDecisions(src []byte, w Wave) ([]Decision, error) {
	var file struct {
		Decisions []Decision `json:"decisions"`
	}
	if err := workspace.DecodeStrict(src, &file); err != nil {
		return nil, &Deferred{"decisions: " + err.Error()}
	}
	return file.Decisions, CheckDecisions(file.Decisions, w)
}

// CheckDecisions holds decisions against the wave that they are about.
func CheckDecisions(ds []Decision, w Wave) error {
	seen := map[string]bool{}
	for i, d := range ds {
		at := slices.IndexFunc(w.Candidates, func(p Proposal) bool { return p.ID == d.ID })
		var reason string
		switch {
		case at < 0:
			reason = "the wave has no such candidate"
		case seen[d.ID]:
			reason = "it is decided twice"
		case d.Family != w.Candidates[at].Family:
			reason = fmt.Sprintf("its family is %s, not %q", w.Candidates[at].Family, d.Family)
		default:
			reason = d.mistake(w.Candidates[at])
		}
		if reason != "" {
			return &Deferred{fmt.Sprintf("decision %d, candidate %.40q: %s", i+1, d.ID, reason)}
		}
		seen[d.ID] = true
	}
	for _, p := range w.Candidates {
		if !seen[p.ID] {
			return &Deferred{fmt.Sprintf("candidate %s has no decision", p.ID)}
		}
	}
	return nil
}

// mistake is what is wrong with a decision about its proposal, "" when nothing is.
func (d Decision) mistake(p Proposal) string {
	if strings.TrimSpace(d.Reason) == "" {
		return "no reason is given"
	}
	for i, n := range d.Pulls {
		if n <= 0 || slices.Contains(d.Pulls[:i], n) {
			return fmt.Sprintf("pull request %d is no number, or there twice", n)
		}
	}
	switch d.Decision {
	case DecisionProceed:
		if len(d.Pulls) > 0 {
			return "proceed names pull requests"
		}
		return d.clusterMistake(p)
	case DecisionDuplicate:
		if len(d.Pulls) == 0 {
			return "duplicate names no pull request"
		}
	case DecisionUncertain:
	default:
		return fmt.Sprintf("decision %.40q: want proceed, duplicate or uncertain", d.Decision)
	}
	if len(d.Clusters) > 0 {
		return fmt.Sprintf("%s names clusters", d.Decision)
	}
	return ""
}

// clusterMistake: a proceed names clusters that the plan found able to run the
// family, each once, and at least one where the plan names any.
func (d Decision) clusterMistake(p Proposal) string {
	if len(d.Clusters) == 0 && len(p.Clusters) > 0 {
		return "proceed names no cluster"
	}
	for i, c := range d.Clusters {
		switch {
		case !slices.Contains(p.Clusters, c):
			return fmt.Sprintf("cluster %.40q is none of those that the plan names", c)
		case slices.Contains(d.Clusters[:i], c):
			return fmt.Sprintf("cluster %.40q is named twice", c)
		}
	}
	return ""
}
