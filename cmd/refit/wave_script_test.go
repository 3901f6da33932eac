package main

import "testing"

// wave writes what the examples of wave read.
func (x *exampler) wave(t *testing.T) {
	t.Helper()
	x.clusters(t)
	x.write(t, "latest-images.json", "[]\n")
	x.write(t, "releases.json", `{"loom": "v2.0.0"}`+"\n")
}
