package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/described"
)

// GitHub's own examples of the events that workflows run on are read as what
// they are. `make octokit` fetches them.
func TestGitHubsExamplesOfEventsAreRead(t *testing.T) {
	described.Require(t)
	examples, err := described.Examples("push", "pull_request", "workflow_dispatch")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	for _, x := range examples {
		src, err := json.Marshal(x.Payload)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSpace(x.Event + " " + x.Action)
		e, err := parseEvent(src)
		if err != nil || e.kind() != x.Event || e.Action != x.Action {
			t.Errorf("%s: read as %s %s, %v", name, e.kind(), e.Action, err)
			continue
		}
		read[name]++
		switch x.Event {
		case "push":
			samePush(t, name, e, x.Payload)
		case "pull_request":
			samePull(t, name, e, x.Payload)
		case "workflow_dispatch":
			if given, _ := x.Payload["inputs"].(map[string]any); len(e.Inputs) != len(given) || e.Repository.DefaultBranch == "" {
				t.Errorf("%s: got inputs %v and default branch %q, want %v", name, e.Inputs, e.Repository.DefaultBranch, given)
			}
		}
	}
	for _, name := range []string{"push", "pull_request labeled", "pull_request unlabeled", "pull_request synchronize", "workflow_dispatch"} {
		if read[name] == 0 {
			t.Errorf("no example of %s was read", name)
		}
	}
}

func samePush(t *testing.T, name string, e event, payload map[string]any) {
	t.Helper()
	if e.Before != payload["before"] || e.After != payload["after"] || e.Deleted != payload["deleted"] || "refs/heads/"+e.branch() != payload["ref"] && e.branch() != payload["ref"] {
		t.Errorf("%s: got %s from %.12s to %.12s, deleted %t", name, e.branch(), e.Before, e.After, e.Deleted)
	}
}

func samePull(t *testing.T, name string, e event, payload map[string]any) {
	t.Helper()
	pull := payload["pull_request"].(map[string]any)
	head, base := pull["head"].(map[string]any), pull["base"].(map[string]any)
	if e.branch() != head["ref"] || e.Pull.Head.SHA != head["sha"] || e.Pull.Base.SHA != base["sha"] || float64(e.Number) != payload["number"] || e.Pull.State != pull["state"] {
		t.Errorf("%s: got #%d %s of %s at %.12s", name, e.Number, e.Pull.State, e.branch(), e.Pull.Head.SHA)
	}
	if labels, _ := pull["labels"].([]any); len(e.labels()) != len(labels) {
		t.Errorf("%s: got labels %v, want %d", name, e.labels(), len(labels))
	}
	if moved, ok := payload["label"].(map[string]any); ok && (e.Label == nil || e.Label.Name != moved["name"]) {
		t.Errorf("%s: got label %v, want %v", name, e.Label, moved["name"])
	}
	from, _ := head["repo"].(map[string]any)
	into, _ := base["repo"].(map[string]any)
	if foreign := from == nil || from["full_name"] != into["full_name"]; e.Pull.fork() != foreign {
		t.Errorf("%s: from a fork: got %t, want %t", name, e.Pull.fork(), foreign)
	}
	if _, reason, err := decide(e, "", "own"); err == nil && reason == "" {
		t.Errorf("%s: would start a sweep, and no label of the example asks for one", name)
	}
}
