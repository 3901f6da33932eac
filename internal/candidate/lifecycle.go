package candidate

import "context"

// Lifecycle is the life of a candidate, in the order it is lived. Every step
// names its phase in records, the subject its receipt is bound to (the least
// that would make the receipt untrue), a precondition that only looks, and an
// act that looks before it acts and returns its evidence.
//
// Steps before propose only look: after a crash they are simply done again.
var Lifecycle = []Step{
	{"doctor", Resolve, everySession, always, (*work).doctor},         // identity, rights, labels, workflows, results, clock, disk
	{"resolve", Resolve, byFamilyAndBase, always, (*work).resolve},    // tag to digest, right lane, not already there; room
	{"inspect", Resolve, byDigestsAndRecipe, always, (*work).inspect}, // what the recipe's flags mean in both engines
	{"rehearse", Resolve, byEdits, always, (*work).rehearse},          // every later write, dry; the baseline, computed
	{"propose", Resolve, byCandidate, hasCapacity, (*work).propose},   // claim, commit, draft pull request
	{"baseline", Baseline, byBaseline, isOwned, (*work).baseline},     // the old image's numbers, frozen and published
	{"smoke", Targeted, bySmokeWork, smokeRests, (*work).smoke},       // it starts, it serves, it answers
	{"enter", FinalSweep, byChangelog, sweepRests, (*work).enter},     // the changelog entry that asks for the sweep
	{"sweep", FinalSweep, bySweepWork, sweepRests, (*work).sweep},     // every point and every eval
	{"certify", FinalSweep, bySweepRun, isOwned, (*work).certify},     // verified artifacts, verdicts, gates, final report
	{"finish", Cleanup, byHead, isOwned, (*work).finish},              // ready for review, outcome, receipt
}

// Ending is the other list: what is done, in this order, for every end that is
// not validated. Each of its steps looks before it acts, so the whole list may
// be walked again after a crash.
var Ending = []EndStep{
	{"announce", (*work).announce}, // "cleanup pending", bound to the head
	{"cancel", (*work).cancelRuns}, // the candidate's own runs
	{"await", (*work).awaitRuns},   // until all of them are terminal
	{"unlabel", (*work).unlabel},   // no sweep label stays
	{"draft", (*work).redraft},
	{"close", (*work).closePull},
	{"branch", (*work).disposeBranch}, // kept or deleted, by outcome
	{"receipt", (*work).sealOutcome},
	{"release", (*work).releaseClaim},
}

// Step is one step of Lifecycle.
type Step struct {
	Name    string
	Phase   Phase
	Subject func(context.Context, *work) (string, error)
	Ready   func(context.Context, *work) error
	Act     func(*work, context.Context) (any, error)
}

// EndStep is one step of Ending.
type EndStep struct {
	Name string
	Act  func(*work, context.Context, *End) error
}

// Phase is where a step stands in published records.
type Phase string

// The phases.
const (
	Resolve    Phase = "resolve"
	Baseline   Phase = "baseline"
	Targeted   Phase = "targeted"
	FinalSweep Phase = "final-sweep"
	Cleanup    Phase = "cleanup"
	Unknown    Phase = "unknown"
)

// Waiting says that it is not our turn: call Advance again.
type Waiting struct{ For string }

func (w Waiting) Error() string { return "waiting for " + w.For }

// End says that the candidate cannot be validated and how it ends instead.
type End struct {
	Outcome Outcome
	Phase   Phase
	Reason  string
}

func (e *End) Error() string { return string(e.Outcome) + ": " + e.Reason }
