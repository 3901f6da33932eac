package candidate

import (
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
)

// idleAt says of a run of a head that it measured nothing, and what to do when
// it is the only one. Source: changelog specification, section 12, item 9.
func idleAt(r forge.Run) Reason {
	return Reason{"idle", fmt.Sprintf("run %d of this head ended with %s and measured nothing", r.ID, r.Conclusion), "unless another run starts, " + again}
}

// sweepToStart is the wait for the run that the sweep label starts. A run of
// this head that did nothing is named: with the label on, no other may come.
func (w *work) sweepToStart(pull int) Waiting {
	wait := Waiting{sweepStarts}
	if w.lain == nil {
		wait.For += fmt.Sprintf("; if it does not, refit why %d says why", pull)
	} else {
		r := idleAt(*w.lain)
		wait.For += fmt.Sprintf("; %s: %s (`refit why %d` says what stands in the way)", r.What, r.Do, pull)
	}
	return wait
}

// lain is the newest run of a head, of runs newest first, that ended and
// measured nothing: it was skipped, or is not among those that did something.
func lain(head string, all, busy []forge.Run) *forge.Run {
	for _, r := range all {
		did := slices.ContainsFunc(busy, func(b forge.Run) bool { return b.ID == r.ID })
		if r.HeadSHA == head && (r.Conclusion == "skipped" || !did) {
			return &r
		}
	}
	return nil
}
