package main

import (
	"os/exec"
	"testing"
)

// wave writes what the examples of wave read.
func (x *exampler) wave(t *testing.T) {
	t.Helper()
	x.clusters(t)
	x.write(t, "latest-images.json", "[]\n")
	x.write(t, "releases.json", `{"loom": "v2.0.0"}`+"\n")
}

// plan leaves the plan that the examples of select and run name.
func (x *exampler) plan(t *testing.T) {
	t.Helper()
	cmd := exec.Command("refit", "wave", "plan", "--out", "wave")
	cmd.Dir = x.ws
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("wave plan: %v\n%s", err, out)
	}
}
