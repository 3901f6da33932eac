package candidate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/gate"
)

// Round is the receipt of having asked for a further sweep.
type Round struct {
	Number       int      `json:"number"` // 1 is the first beyond the sweep
	Inconclusive []string `json:"inconclusive,omitempty"`
	Unhealthy    string   `json:"unhealthy,omitempty"` // the run before it was refused for its load client
}

func (r Round) String() string {
	if r.Unhealthy != "" {
		return fmt.Sprintf("further sweep %d: %s", r.Number, r.Unhealthy)
	}
	return fmt.Sprintf("further sweep %d: %s inconclusive", r.Number, strings.Join(r.Inconclusive, ", "))
}

// labelLag is how long a forge may take between a label or a dispatch and the
// run that it starts.
const labelLag = 2 * time.Minute

// furtherRound asks for one more sweep of the new image while something that
// the workspace requires is inconclusive and the policy has rounds left. The
// intent is kept first; taking the label off and putting it on starts the run.
// It returns nil when there is nothing to ask for.
func (w *work) furtherRound(ctx context.Context, c Certified) error {
	open := gate.Inconclusive(w.Config.Policy.Require, c.Result)
	asked, _ := evidence[Round](w, "round")
	if asked.Number > c.Rounds { // asked for, and its run is not there yet
		return w.resumeSweep(ctx, asked)
	}
	if len(open) == 0 || c.Sweeps-1 >= w.Config.Policy.Rounds || c.Rounds >= w.Config.Policy.Rounds+infrastructureRetries {
		return nil
	}
	return w.askRound(ctx, Round{Number: c.Rounds + 1, Inconclusive: open})
}

// measureAgain asks for the sweep once more when nothing but the health of the
// load client spoke against it: that says something about the machine and
// nothing about the image. done is how many further sweeps there were.
func (w *work) measureAgain(ctx context.Context, p proof, done int) error {
	asked, _ := evidence[Round](w, "round")
	if asked.Number > done {
		return w.resumeSweep(ctx, asked)
	}
	if done >= infrastructureRetries || !p.onlyUnhealthy() {
		return nil
	}
	return w.askRound(ctx, Round{Number: done + 1, Unhealthy: p.verdict.Reason})
}

// roomForSweep waits for capacity: a further sweep needs it like the first, and
// nothing that was measured is given up for want of it.
func (w *work) roomForSweep(ctx context.Context) error {
	v, err := w.head(ctx)
	if err != nil {
		return err
	}
	if c := w.Capacity(ctx, v.Family.Entry.Runner); c.Answer != gate.Pass {
		return Waiting{"room for the further sweep: " + c.Reason}
	}
	return nil
}

// askRound keeps the intent, then makes the label event.
func (w *work) askRound(ctx context.Context, next Round) error {
	if err := w.roomForSweep(ctx); err != nil {
		return err
	}
	if err := w.keep(ctx, "round", strconv.Itoa(next.Number), next); err != nil {
		return err
	}
	return w.restartSweep(ctx)
}

// resumeSweep goes on with a round that was asked for before. A label that is
// on, shortly after, may be the new one: then it waits. Asking again counts from
// now: each time the label comes off it cancels what the time before has started.
func (w *work) resumeSweep(ctx context.Context, asked Round) error {
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	age := w.now.Sub(w.receipts["round"].At)
	if slices.Contains(p.Labels, w.Config.Policy.SweepLabel) && age < labelLag {
		return Waiting{"the further sweep to start"}
	}
	return w.askRound(ctx, asked)
}

// restartSweep makes the label event once more.
func (w *work) restartSweep(ctx context.Context) error {
	if err := w.awaken(ctx); err != nil {
		return err
	}
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	want := w.Config.Policy.SweepLabel
	if slices.Contains(p.Labels, want) {
		if err := w.Forge.RemoveLabel(ctx, p.Number, want); err != nil {
			return fmt.Errorf("take the sweep label off: %w", err)
		}
	}
	if err := w.Forge.AddLabel(ctx, p.Number, want); err != nil {
		return fmt.Errorf("label %s: %w", want, err)
	}
	w.pull = nil
	return Waiting{"the further sweep to start"}
}

// awaken puts a commit without changes on a head that says [skip-sweep], where
// one more sweep is wanted after the entry was redone: that head starts none.
func (w *work) awaken(ctx context.Context) error {
	p, err := w.ownPull(ctx)
	if err != nil {
		return err
	}
	message, err := w.Forge.Message(ctx, p.HeadSHA)
	if err != nil {
		return fmt.Errorf("head %.12s: %w", p.HeadSHA, err)
	}
	said, skips := strings.CutPrefix(message, skipSweep)
	if !skips {
		return nil
	}
	if slices.Contains(p.Labels, w.Config.Policy.SweepLabel) { // else the push would start one, and the label another
		if err := w.Forge.RemoveLabel(ctx, p.Number, w.Config.Policy.SweepLabel); err != nil {
			return fmt.Errorf("take the sweep label off: %w", err)
		}
	}
	head, err := w.Forge.Commit(ctx, p.HeadSHA, said, nil)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return w.pushEntry(ctx, p, head)
}
