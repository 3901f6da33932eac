package described

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// An Example is one of GitHub's own examples of an event's payload.
type Example struct {
	Event   string // push | pull_request | workflow_dispatch | ...
	Action  string // "" for events without one
	Payload map[string]any
}

// Examples returns the examples of some events, in GitHub's order. It fails with
// fs.ErrNotExist when the packages are not there.
func Examples(names ...string) ([]Example, error) {
	dir, err := Packages()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "@octokit", "webhooks-examples", "api.github.com", "index.json"))
	if err != nil {
		return nil, fmt.Errorf("described: %w", err)
	}
	var events []struct {
		Name     string
		Examples []map[string]any
	}
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, fmt.Errorf("described: examples of events: %w", err)
	}
	var all []Example
	for _, e := range events {
		if !slices.Contains(names, e.Name) {
			continue
		}
		for _, payload := range e.Examples {
			action, _ := payload["action"].(string)
			all = append(all, Example{e.Name, action, payload})
		}
	}
	return all, nil
}
