package candidate

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Finish takes the last step of a candidate, and only that: it goes on when the
// candidate is at finish, or has an end that was announced, and is otherwise a
// *Refused that names what is missing. While one of the candidate's runs is
// under way the status waits. It may be called again at any point.
func (s *Shepherd) Finish(ctx context.Context, c Candidate) (Status, error) {
	w, err := s.open(ctx, c)
	if err != nil {
		return Status{}, err
	}
	if _, ok := w.sealed(); ok {
		return s.Advance(ctx, c)
	}
	if err := w.ready(ctx); err != nil {
		return Status{}, fmt.Errorf("candidate %s: %w", c.ID, err)
	}
	if _, ok := w.pendingEnd(); ok {
		return s.Advance(ctx, c)
	}
	at := w.at()
	switch {
	case !w.claimed:
		return Status{}, refuse("candidate %s is not at finish: nothing is written of it yet, refit candidate advance %s goes on", c.ID, c.ID)
	case at.Name == "finish":
		return s.Advance(ctx, c)
	}
	running, err := w.unfinishedRun(ctx)
	if err != nil {
		return Status{}, fmt.Errorf("candidate %s: finish: %w", c.ID, err)
	}
	if running != "" {
		st := Status{Summary: w.summary(at.Name, Waits), Waiting: running}
		st.Next = next(st.Summary, running)
		return st, nil
	}
	return Status{}, refuse("candidate %s is not at finish: there is no receipt of %s; refit candidate advance %s goes on", c.ID, strings.Join(w.missingSteps(), ", "), c.ID)
}

// missingSteps are the steps before finish that have no receipt.
func (w *work) missingSteps() []string {
	var names []string
	for _, step := range Lifecycle[1 : len(Lifecycle)-1] {
		if !w.knows(step.Name) {
			names = append(names, step.Name)
		}
	}
	return names
}

// unfinishedRun is a run of the candidate that is under way, "" when none is.
func (w *work) unfinishedRun(ctx context.Context) (string, error) {
	runs, err := w.ownedRuns(ctx)
	var other notOurs
	if errors.As(err, &other) {
		return "", refuse("%s", other)
	}
	for _, r := range runs {
		if r.Status != "completed" {
			return fmt.Sprintf("run %d to end (%s)", r.ID, r.Status), nil
		}
	}
	return "", err
}
