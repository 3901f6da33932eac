package run

import (
	"fmt"
	"slices"
	"strings"
)

// skipMark in a head commit's message keeps a pull request's sweep from
// starting.
const skipMark = "[skip-sweep]"

// Labels of the sweep policy. Each primary label asks for one kind of sweep.
var (
	primaryLabels = []string{"sweep-enabled", "full-sweep-enabled", "full-sweep-fail-fast",
		"non-canary-full-sweep-enabled", "full-sweep-fail-fast-no-canary"}
	modifierLabels = []string{"all-evals", "evals-only", "agentx-fast"}
	priorityLabels = []string{"skip_queue", "ci-patchwork", "engine-patch", "ci-patchwork-waived", "ci-checklist-complete"}
)

// sweep is what the labels of a pull request ask for.
type sweep struct {
	Trim      bool // lowest concurrency only
	FailFast  bool // the first failed point ends its family
	AllEvals  bool
	EvalsOnly bool
}

// decide applies the policy to a pull request event. message is the head
// commit's. A reason that is not empty means: no sweep, because of it. An
// error means that the labels contradict each other. own is the workspace's
// own sweep label, primary like the others.
func decide(e event, message, own string) (s sweep, reason string, err error) {
	primary := SweepLabels(own)
	switch e.Action {
	case "labeled", "unlabeled":
		if e.Label == nil || !slices.Contains(RelevantLabels(own), e.Label.Name) {
			return s, "the label is of no concern to sweeps", nil
		}
	case "synchronize":
	default:
		return s, fmt.Sprintf("pull request was %s", e.Action), nil
	}
	labels := e.labels()
	chosen := slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return !slices.Contains(primary, l) })
	switch {
	case len(chosen) > 1:
		return s, "", fmt.Errorf("pull request %d has more than one sweep label: %s", e.Number, strings.Join(chosen, ", "))
	case e.Pull.State != "" && e.Pull.State != "open":
		return s, "pull request is " + e.Pull.State, nil
	case e.Pull.fork():
		return s, "pull request comes from another repository", nil
	case len(chosen) == 0:
		return s, "pull request has no sweep label", nil
	case strings.Contains(message, skipMark):
		return s, "head commit says " + skipMark, nil
	}
	return sweep{
		Trim:     chosen[0] == "sweep-enabled",
		FailFast: strings.Contains(chosen[0], "fail-fast"),
		AllEvals: slices.Contains(labels, "all-evals"), EvalsOnly: slices.Contains(labels, "evals-only"),
	}, "", nil
}
