package report

import (
	"time"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result"
)

// BoardRow is one candidate as the board shows it. Empty fields are unknown.
type BoardRow struct {
	ID       string         `json:"id"`
	Family   string         `json:"family"`
	OldImage string         `json:"old-image"`
	NewImage string         `json:"new-image"`
	Step     string         `json:"step"`    // where it stands
	State    string         `json:"state"`   // running | waiting | blocked | done | merged | closed
	Outcome  string         `json:"outcome"` // of a finished candidate
	Next     string         `json:"next"`    // what happens next, and who does it
	Owner    string         `json:"owner,omitempty"`
	Pull     int            `json:"pull"`
	PullURL  string         `json:"pull-url,omitempty"`
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated"`
	Verdicts []BoardVerdict `json:"verdicts,omitempty"`
	Evidence []string       `json:"evidence,omitempty"`
}

// BoardVerdict is one dimension's verdict: {"throughput", "no-change"}.
type BoardVerdict struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
}

// BoardReceipt is one receipt of a candidate as its page shows it.
type BoardReceipt struct {
	Step    string    `json:"step"`
	Subject string    `json:"subject"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Detail  string    `json:"detail"` // one line
}

// BoardPage is everything the page of one candidate shows. What is nil or
// empty is not known yet and not shown.
type BoardPage struct {
	Row      BoardRow
	Receipts []BoardReceipt
	Reports  []BoardReport // as published, oldest first
	Baseline *Baseline
	Attempt  *Attempt // the newest full sweep
	Verdicts *compare.Result
	Gates    []gate.Verdict
	Source   *engine.Comparison
	Old, New [][]result.Row // the runs behind the verdicts, oldest first
}

// BoardReport is one report of a candidate, as the Markdown that was published.
type BoardReport struct {
	Title    string
	Markdown string
}
