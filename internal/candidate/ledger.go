package candidate

import (
	"context"
	"encoding/json"
	"time"

	"github.com/refit-bench/refit/internal/result/api"
)

// Receipt proves that a step was done for a subject. It is appended, never
// edited; the newest receipt of a step counts, and only while its subject is
// the one computed now.
type Receipt struct {
	Candidate string          `json:"candidate"`
	Step      string          `json:"step"`
	Subject   string          `json:"subject"`
	By        string          `json:"by"`
	At        time.Time       `json:"at"`
	Evidence  json.RawMessage `json:"evidence"`
}

// Ledger remembers receipts, and the last computed state of each candidate for
// whoever lists them.
type Ledger interface {
	Receipts(ctx context.Context, candidate string) ([]Receipt, error) // oldest first
	Append(ctx context.Context, r Receipt) error
	SaveCandidate(ctx context.Context, s Summary) error
	Candidates(ctx context.Context) ([]Summary, error) // newest first
}

// Feeds are the published results the baseline is frozen from.
type Feeds interface {
	Benchmarks(ctx context.Context, model, date string) ([]api.BenchmarkRow, error)
	WorkflowInfo(ctx context.Context, date string) (api.WorkflowInfo, error)
	Evaluations(ctx context.Context) ([]api.EvaluationRow, error)
	ImageFeed(ctx context.Context) (api.ImageFeed, error)
}

// Summary is the last computed state of a candidate. It is a view for lists
// and pages: nothing is ever decided from it.
type Summary struct {
	Candidate
	Step     string            `json:"step"`
	State    State             `json:"state"`
	Outcome  Outcome           `json:"outcome,omitempty"`
	Next     string            `json:"next,omitempty"`
	Owner    string            `json:"owner,omitempty"`
	Pull     int               `json:"pull,omitempty"`
	PullURL  string            `json:"pull-url,omitempty"`
	Head     string            `json:"head,omitempty"`
	Verdicts map[string]string `json:"verdicts,omitempty"`
	Marks    []string          `json:"marks,omitempty"`
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
}

// State says whether a candidate moves.
type State string

// The states of a candidate after an Advance.
const (
	Waits State = "waiting" // call again
	Done  State = "done"    // an outcome and a receipt stand
	Ready State = "ready"   // nothing was written yet (dry run)

	// Of a validated candidate, once a person has decided.
	Merged State = "merged"
	Closed State = "closed" // without a merge
)

// Over says whether an outcome and a receipt stand.
func (s State) Over() bool { return s == Done || s == Merged || s == Closed }

// Outcome is the typed end of a candidate (lifecycle specification, section 10).
type Outcome string

// The outcomes.
const (
	Validated        Outcome = "validated"
	Regressed        Outcome = "regressed"
	CapacityDeferred Outcome = "capacity-deferred"
	ReadinessBlocked Outcome = "readiness-blocked"
	Incompatible     Outcome = "incompatible"
	AlreadyUpdated   Outcome = "already-updated"
	Uncertain        Outcome = "uncertain"
	Failed           Outcome = "failed"
	UnexpectedError  Outcome = "unexpected-error"
	Handoff          Outcome = "handoff"
)

// KeepsBranch says whether the branch of an unsuccessful end is retained: only
// where a retry is pointless until a person or a policy says otherwise.
func (o Outcome) KeepsBranch() bool { return o == Incompatible || o == Regressed }

// Retryable says whether a later upgrade may begin anew after this end: nothing
// of the candidate is left on the forge, and what was in the way may have passed.
func (o Outcome) Retryable() bool {
	switch o {
	case CapacityDeferred, ReadinessBlocked, AlreadyUpdated, Uncertain, Failed, UnexpectedError:
		return true
	}
	return false
}
