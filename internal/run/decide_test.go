package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Deciding finds what measuring would, and leaves nothing behind.
func TestDecideMeasuresNothing(t *testing.T) {
	l := newLab(t)
	before := l.commit("start", tree())
	after := l.commit("measure again", map[string]string{
		"perf-changelog.yaml": tree()["perf-changelog.yaml"] + "\n" + fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "Again")})
	var log strings.Builder
	d, err := l.ci("run-sweep", object{"ref": "refs/heads/main", "before": before, "after": after}, &log).Decide(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if d.Head != after || d.Mode != "push" || d.Points != 2 || d.Evals != 1 || len(d.Families) != 1 || !strings.HasSuffix(d.Families[0], ":tiny-fp8-cpu-sim") {
		t.Errorf("got %+v, want 2 points and 1 eval of tiny-fp8-cpu-sim at %s", d, after)
	}
	if want := fmt.Sprintf("push at %.12s: 1 families, 2 points, 1 evals", after); d.String() != want {
		t.Errorf("got %q, want %q", d, want)
	}
	_, err = l.ci("run-sweep", object{"ref": "refs/heads/main", "before": after, "after": after}, &log).Decide(context.Background())
	if !errors.Is(err, ErrSkipped) {
		t.Errorf("unchanged changelog: got %v, want skipped", err)
	}
	if left := l.artifacts(); len(left) != 0 {
		t.Errorf("deciding left artifacts: %d", len(left))
	}
}

// The workspace's own label counts once, beside the others, and the lists are the
// caller's.
func TestLabelsOfThePolicy(t *testing.T) {
	if got := len(SweepLabels("full-sweep-enabled")); got != 5 {
		t.Errorf("a known label: got %d, want 5", got)
	}
	own := SweepLabels("measure")
	if len(own) != 6 || own[5] != "measure" {
		t.Errorf("a label of its own: got %q", own)
	}
	own[0] = "changed"
	if SweepLabels("")[0] != "sweep-enabled" {
		t.Error("a caller changed the policy")
	}
	got := RelevantLabels("measure")
	if len(got) != 14 || !slices.Contains(got, "measure") || !slices.Contains(got, "all-evals") || !slices.Contains(got, "skip_queue") {
		t.Errorf("relevant: got %q, want 6 that ask, 3 that modify, 5 of priority", got)
	}
}
