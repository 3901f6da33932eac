package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A pull request that only adds points measures these and nothing else. What
// main changed since it began is no change of its own.
func TestPullRequestThatOnlyAdds(t *testing.T) {
	l := newLab(t)
	files := tree()
	const master = "configs/lab-master.yaml"
	first := l.commit("start", files)
	log := files["perf-changelog.yaml"] + "\n"
	entry := fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "More") + "  append-only: true\n"
	more := strings.Replace(files[master], "conc-start: 1, conc-end: 2", "conc-list: [1, 2, 3]", 1)
	if more == files[master] {
		t.Fatal("the recipe has another range")
	}
	l.git("checkout", "-q", "-b", "topic")
	head := l.commit("add", map[string]string{"perf-changelog.yaml": log + entry, master: more})
	l.git("checkout", "-q", "-b", "wrong", first)
	wrong := l.commit("take away", map[string]string{"perf-changelog.yaml": log + entry, master: strings.Replace(more, "[1, 2, 3]", "[2, 3]", 1)})
	l.git("checkout", "-q", "main")
	moved := l.commit("merge another", map[string]string{master: files[master] + "\n" + strings.Replace(files[master], "tiny-fp8", "other-fp8", 1)})
	repo := object{"full_name": "lab/recipes"}
	plan := func(head string, labels ...string) (intent, error) {
		var list []object
		for _, n := range labels {
			list = append(list, object{"name": n})
		}
		event := object{"action": "labeled", "number": 5, "label": object{"name": labels[0]}, "pull_request": object{"state": "open", "labels": list,
			"head": object{"sha": head, "ref": "topic", "repo": repo}, "base": object{"sha": moved, "ref": "main", "repo": repo}}}
		var said strings.Builder
		return l.ci("run-sweep", event, &said).intend(context.Background())
	}
	in, err := plan(head, "full-sweep-enabled")
	if err != nil {
		t.Fatal(err)
	}
	if s := in.Plan.Families[0].Selection; len(in.Plan.Families) != 1 || len(s.Throughput) != 1 || len(s.Evals) != 0 || s.Throughput[0].Conc() != 3 || in.Base != first {
		t.Errorf("got %d points, %d evals, base %.8s", len(s.Throughput), len(s.Evals), in.Base)
	}
	_, err = plan(head, "full-sweep-enabled", "all-evals")
	if err == nil || errors.Is(err, ErrSkipped) || !strings.Contains(err.Error(), "append-only adds throughput alone") {
		t.Errorf("with all-evals: got %v", err)
	}
	_, err = plan(wrong, "full-sweep-enabled")
	if err == nil || errors.Is(err, ErrSkipped) || !strings.Contains(err.Error(), "is not measured at concurrency [1] any more") {
		t.Errorf("a point was taken away: got %v", err)
	}
	var said strings.Builder
	_, err = l.ci("run-sweep", object{"ref": "refs/heads/topic", "before": first, "after": head}, &said).intend(context.Background())
	if err != nil {
		t.Errorf("pushed: %v", err)
	}
}
