package matrix

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDispatched(t *testing.T) {
	plan := rowOf(t, `{"single_node":{"256_64":[{"a":1},{"a":2}],"8k1k":[{"a":3}],"agentic":[{"a":4}]},"multi_node":{"1k1k":[{"a":5}],"512_64":[{"a":6}]},"evals":[{"isl":256}]}`)
	rest, left := Dispatched(plan)
	if diff := cmp.Diff([]string{"single_node/256_64 (2 jobs)", "multi_node/512_64 (1 jobs)"}, left); diff != "" {
		t.Error(diff)
	}
	want := rowOf(t, `{"single_node":{"8k1k":[{"a":3}],"agentic":[{"a":4}]},"multi_node":{"1k1k":[{"a":5}]},"evals":[{"isl":256}]}`)
	if !rest.Equal(want) {
		t.Errorf("got %v, want %v", rest, want)
	}
	if len(list(plan.Row("single_node"), "256_64")) != 2 {
		t.Error("the plan itself was changed")
	}
	if all, left := Dispatched(want); len(left) != 0 || !all.Equal(want) {
		t.Errorf("published buckets alone: got %v without %v", all, left)
	}
}
