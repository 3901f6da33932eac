package report

import "slices"

// Validate reports every rule of an outcome receipt that is broken.
func (r Receipt) Validate() error {
	c := &checks{what: "receipt record"}
	c.ending(r.Candidate, r.Family, r.Outcome, r.Phase, r.PullRequest, r.Head)
	runs := slices.Clone(r.RunIDs)
	slices.Sort(runs)
	c.want(len(slices.Compact(runs)) == len(r.RunIDs), "run-ids are repeated")
	c.want(len(runs) == 0 || runs[0] > 0, "a run id is not positive")
	c.want(r.RepairsUsed >= 0, "repairs-used is negative")
	c.want(r.Reason == "" || (r.Phase == "baseline" && slices.Contains(baselineReasons, r.Reason)),
		"reason %q does not belong to phase %s", r.Reason, r.Phase)
	c.want(r.MeasuredAt == "" || hex40.MatchString(r.MeasuredAt), "measured-at %q is not 40 hex digits", r.MeasuredAt)
	c.want(!r.Finished.IsZero(), "finished is missing")
	c.origins(r.Origins, r.RunIDs)
	if r.Outcome == "validated" || r.Outcome == "regressed" {
		c.want(r.Phase == "final-sweep" && r.PullRequest > 0 && len(r.RunIDs) > 0,
			"%s needs phase final-sweep, a pull request and runs", r.Outcome)
	}
	return c.err()
}

// Validate reports every rule of a pending cleanup that is broken.
func (k Cleanup) Validate(bilingual bool) error {
	c := &checks{what: "cleanup record"}
	c.ending(k.Candidate, k.Family, k.Outcome, k.Phase, k.PullRequest, k.Head)
	c.want(k.Outcome != "validated", "a validated candidate is not cleaned up")
	c.want(k.Branch == "kept" || k.Branch == "deleted", "branch is %q, not kept or deleted", k.Branch)
	c.sentence("why", k.Why, bilingual)
	c.want(!k.Started.IsZero(), "started is missing")
	return c.err()
}

var (
	outcomes = []string{"validated", "regressed", "capacity-deferred", "readiness-blocked", "incompatible", "duplicate",
		"retired", "already-updated", "uncertain", "failed", "unexpected-error", "handoff"}
	phases          = []string{"resolve", "baseline", "targeted", "final-sweep", "cleanup", "unknown"}
	baselineReasons = []string{"baseline-preflight-mismatch", "baseline-provenance-unverified", "baseline-point-mismatch",
		"baseline-eval-unverified", "baseline-api-unavailable", "baseline-other"}
)

func (c *checks) ending(candidate, family, outcome, phase string, pull int, head string) {
	c.want(id.MatchString(candidate), "candidate %q is not an id", candidate)
	c.want(plain.MatchString(family), "family %q is not a name", family)
	c.want(slices.Contains(outcomes, outcome), "unknown outcome %q", outcome)
	c.want(slices.Contains(phases, phase), "unknown phase %q", phase)
	c.want(phase != "unknown" || outcome == "unexpected-error", "phase unknown with outcome %s", outcome)
	c.want(pull >= 0, "pull-request is negative")
	c.want(head == "" || hex40.MatchString(head), "head %q is not 40 hex digits", head)
}
