package local

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
)

// told is what the sweep workflow was told by an event of a pull request.
type told struct {
	Action string
	Label  struct{ Name string }
	Pull   struct {
		State  string
		Labels []struct{ Name string }
	} `json:"pull_request"`
}

func (w *world) told(t *testing.T) []told {
	t.Helper()
	w.Wait()
	var all []told
	for _, r := range w.runs() {
		var e told
		must(t, json.Unmarshal(r.Payload, &e))
		all = append(all, e)
	}
	return all
}

// A label that comes off is an event, as GitHub sends it: with the label that is
// gone, and with those that are left. What comes of it is the workflow's business.
func TestALabelThatComesOffIsAnEvent(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1)})
	w.newPull(t, "topic")
	must(t, w.bot.AddLabel(ctx, 1, "full-sweep-fail-fast"))
	must(t, w.bot.AddLabel(ctx, 1, "documentation"))
	must(t, w.bot.RemoveLabel(ctx, 1, "Full-Sweep-Fail-Fast")) // names of labels have no case
	must(t, w.bot.RemoveLabel(ctx, 1, "full-sweep-fail-fast")) // gone already
	all := w.told(t)
	var actions []string
	for _, e := range all {
		actions = append(actions, e.Action+" "+e.Label.Name)
	}
	want := []string{"labeled full-sweep-fail-fast", "labeled documentation", "unlabeled full-sweep-fail-fast"}
	if !slices.Equal(actions, want) {
		t.Fatalf("events: got %q, want %q", actions, want)
	}
	if left := all[2].Pull.Labels; len(left) != 1 || left[0].Name != "documentation" {
		t.Errorf("labels that are left: got %v, want documentation", left)
	}
}

// A pull request keeps its labels when it is closed: nothing is told of them,
// and a closed one starts nothing either.
func TestClosingTakesNoLabelOff(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1)})
	w.newPull(t, "topic")
	must(t, w.bot.AddLabel(ctx, 1, "full-sweep-fail-fast"))
	closed := "closed"
	must(t, w.bot.EditPull(ctx, 1, forge.PullEdit{State: &closed}))
	p, err := w.bot.Pull(ctx, 1)
	must(t, err)
	if !slices.Equal(p.Labels, []string{"full-sweep-fail-fast"}) {
		t.Errorf("labels after closing: got %v, want them kept", p.Labels)
	}
	must(t, w.bot.RemoveLabel(ctx, 1, "full-sweep-fail-fast"))
	if all := w.told(t); len(all) != 1 || all[0].Action != "labeled" {
		t.Errorf("events: got %+v, want the one label that came on", all)
	}
}
