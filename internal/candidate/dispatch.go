package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

// Dispatched is the receipt of the intent to dispatch a smoke run, and of the
// run's id where the forge told it.
type Dispatched struct {
	Head  string `json:"head"`
	Runs  int    `json:"runs"`             // of this work that were there already
	Again int    `json:"again,omitempty"`  // how often it was asked for before, without a run
	RunID int64  `json:"run-id,omitempty"` // 0 until it is known
}

func (d Dispatched) String() string {
	if d.RunID != 0 {
		return fmt.Sprintf("smoke run %d dispatched at %.12s", d.RunID, d.Head)
	}
	return fmt.Sprintf("smoke run asked for at %.12s", d.Head)
}

// mostAsks is how often a smoke run is asked for again when none appears.
const mostAsks = 5

// dispatchSmoke keeps its intent first. A forge may show a run only a while
// after it was dispatched, also when the answer was lost: until then nobody
// asks again. One that never appears is not asked for without end.
func (w *work) dispatchSmoke(ctx context.Context, v treeView, runs int) error {
	intent, waiting := Dispatched{Head: v.Commit, Runs: runs}, Waiting{"the smoke run to start"}
	asked, err := evidence[Dispatched](w, "dispatch")
	if err == nil && asked.Head == intent.Head && asked.Runs == intent.Runs {
		if w.now.Sub(w.receipts["dispatch"].At) < labelLag {
			return waiting
		}
		intent.Again = asked.Again + 1
	}
	if intent.Again > mostAsks {
		return &End{Outcome: Uncertain, Phase: Targeted, Reason: fmt.Sprintf("the smoke run was asked for %d times and no run with the title %q appeared: %s has to set it as its run name",
			intent.Again, w.c.RunTitle(w.prefix()), w.Config.Executor.Targeted)}
	}
	if c := w.Capacity(ctx, v.Family.Entry.Runner); c.Answer != gate.Pass {
		return &End{Outcome: CapacityDeferred, Phase: Targeted, Reason: c.Reason}
	}
	if err := w.keep(ctx, "dispatch", v.Commit, intent); err != nil {
		return err
	}
	intent.RunID, err = w.Forge.Dispatch(ctx, w.Config.Executor.Targeted, w.c.Branch(w.prefix()), map[string]string{
		"generate-cli-command": "test-config --config-keys " + w.c.Key() + " --smoke",
		"test-name":            w.c.TestName(w.prefix()),
		"ref":                  v.Commit,
	})
	if err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	if intent.RunID != 0 {
		if err := w.keep(ctx, "dispatch", v.Commit, intent); err != nil {
			return err
		}
	}
	return waiting
}

// dispatched are the candidate's targeted runs, newest first: the one whose id
// the forge told, and those with its title by a login that owned it.
// Source: lifecycle specification, section 6.
func (w *work) dispatched(ctx context.Context, p forge.Pull) ([]forge.Run, error) {
	all, err := w.Forge.Runs(ctx, forge.RunFilter{Event: "workflow_dispatch", Workflow: w.Config.Executor.Targeted, Since: p.Created})
	if err != nil {
		return nil, fmt.Errorf("runs of %s: %w", w.Config.Executor.Targeted, err)
	}
	asked, _ := evidence[Dispatched](w, "dispatch")
	listed, title := asked.RunID == 0, w.c.RunTitle(w.prefix())
	var own []forge.Run
	for _, r := range all {
		listed = listed || r.ID == asked.RunID
		if r.ID == asked.RunID || r.Title == title && w.hasOwned(p, r.Actor) {
			own = append(own, r)
		}
	}
	if listed {
		return own, nil
	}
	r, err := w.Forge.Run(ctx, asked.RunID) // a list lags behind
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	return append([]forge.Run{r}, own...), err
}

// hasOwned says whether a login opened the pull request or adopted it.
func (w *work) hasOwned(p forge.Pull, login string) bool {
	return login == p.Author || slices.Contains(w.owners, login)
}
