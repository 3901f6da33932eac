package local

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A commit that anybody's names and message went into is a commit to git, with
// the fields that were meant.
func TestCommitsAreGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git to compare with: ", err)
	}
	gen := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a <b> c", "x\nparent 0", "\x00", "a\tb", ". ,", "<>", "é"}))
	tree := strings.Repeat("a", 40)
	for i := range 30 {
		c := commit{tree: tree, message: gen.Example(i) + "\nparent " + tree,
			author:    person{Name: gen.Example(100 + i), Email: gen.Example(200 + i), Date: "2026-01-02T03:04:05+02:00"},
			committer: person{Name: "c", Email: "c@example.invalid", Date: "2026-01-02T03:04:05Z"}}
		data, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(string(data), "\n\n")
		if n := strings.Count(header, "\n"); n != 2 || strings.Contains(header, "\x00") {
			t.Errorf("header %q has %d line ends, want 2", header, n)
		}
		cmd := exec.Command("git", "hash-object", "-t", "commit", "--stdin")
		cmd.Dir = t.TempDir()
		cmd.Stdin = strings.NewReader(string(data))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("git refuses %q: %v %s", data, err, out)
		}
	}
}
