package run

import (
	"slices"
	"testing"
)

func TestAskedBy(t *testing.T) {
	got := AskedBy([]string{"docs", "evals-only", "measure", "skip_queue", "sweep-enabled", "all-evals"}, "measure")
	if !slices.Equal(got.Primary, []string{"measure", "sweep-enabled"}) || !slices.Equal(got.Modifiers, []string{"evals-only", "all-evals"}) {
		t.Errorf("got %+v, want two primary labels and two modifiers", got)
	}
	if got := AskedBy([]string{"measure"}, ""); got.Primary != nil || got.Modifiers != nil {
		t.Errorf("a label of nobody: got %+v, want none", got)
	}
}
