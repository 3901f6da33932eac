package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/server/starter"
	"github.com/refit-bench/refit/internal/workspace"
)

// scripted finds calls of refit in the scripts of a workflow.
var scripted = regexp.MustCompile(`(?m)^ +(?:run: )?(refit [a-z][^>|\n]*)`)

// The workflow files call only commands and flags that exist.
func TestWorkflowsCallWhatExists(t *testing.T) {
	files, err := starter.Files(starter.Options{Repository: "example/recipes", Config: workspace.DefaultConfig()})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files[1:] {
		for _, m := range scripted.FindAllStringSubmatch(string(f.Data), -1) {
			n++
			if err := exists(strings.Replace(m[1], " -- ", " ", 1)); err != nil {
				t.Errorf("%s: %s: %v", f.Path, m[1], err)
			}
		}
	}
	if n != 7 {
		t.Errorf("%d calls were looked at, want 7", n)
	}
}
