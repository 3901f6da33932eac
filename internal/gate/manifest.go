package gate

import (
	"fmt"

	"github.com/refit-bench/refit/internal/result"
)

// Manifest judges whether what a run was expected to measure was written by
// this run, in its present attempt, for its own head. What a manifest says of
// itself counts: a forge's times are whole seconds and tell attempts apart badly.
func Manifest(m result.Manifest, got RunFacts) Verdict {
	const gate = "manifest"
	switch {
	case m.RunID != got.ID:
		return Verdict{gate, Fail, fmt.Sprintf("it is of run %d, not of run %d", m.RunID, got.ID)}
	case m.Head != got.Head:
		return Verdict{gate, Fail, fmt.Sprintf("it was made for head %.12s, the run is of head %.12s", m.Head, got.Head)}
	case m.Attempt != got.Attempt:
		return Verdict{gate, Fail, fmt.Sprintf("it is of attempt %d, run %d is at attempt %d", m.Attempt, got.ID, got.Attempt)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("of run %d attempt %d at %.12s", m.RunID, m.Attempt, m.Head)}
}
