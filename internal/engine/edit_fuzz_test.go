package engine

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// Any edit of any script is refused with a reason, or gives a recipe that says
// the same but for the one name.
func FuzzEdit(f *testing.F) {
	script, err := os.ReadFile("testdata/recipe.sh")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(script, "LOOM_QUIET", "LOOM_LOUD")
	f.Add(script, "--graph-max-batch", "")
	f.Add([]byte("export A=1 B=2\nif x; then export A=3; fi\nA=4 env A=5 srv --x > server.log &"), "A", "")
	f.Add([]byte("#yaml\nversion: 1\nserver: {command: [env, A=1, srv, --x, 'y z'], env: {B: 1, A: 2}}\n"), "A", "C")
	f.Add([]byte("C=(env \"A=1 2\" srv --x 1)\neval \"${C[@]}\" > server.log &"), "--x", "--y")
	f.Fuzz(func(t *testing.T, script []byte, name, to string) {
		file := "r.sh"
		if bytes.HasPrefix(script, []byte("#yaml")) {
			file = "r.yaml"
		}
		var edits []recipe.Edit
		var err error
		switch flag := strings.HasPrefix(name, "-"); {
		case flag && to == "":
			edits, err = DropFlag(script, file, name)
		case flag:
			edits, err = RenameFlag(script, file, name, to)
		case to == "":
			edits, err = DropVariable(script, file, name)
		default:
			edits, err = RenameVariable(script, file, name, to)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), file) {
				t.Fatalf("an error without its file: %v", err)
			}
			return
		}
		after, err := recipe.Splice(script, edits)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ReadLaunch(after, file)
		if err != nil {
			t.Fatalf("after the edit: %v", err)
		}
		for _, u := range append(l.Uses, l.Exports...) {
			if u.Name == name && name != to {
				t.Fatalf("%s is still there:\n%s", name, after)
			}
		}
		back(t, script, after, edits)
	})
}

// back undoes edits: all other bytes are those of before.
func back(t *testing.T, before, after []byte, edits []recipe.Edit) {
	t.Helper()
	at, shift := 0, 0
	for _, e := range slices.SortedFunc(slices.Values(edits), func(a, b recipe.Edit) int { return a.Start - b.Start }) {
		if !bytes.Equal(before[at:e.Start], after[at+shift:e.Start+shift]) || !bytes.HasPrefix(after[e.Start+shift:], []byte(e.New)) {
			t.Fatalf("more than %+v changed:\n%s", edits, after)
		}
		at, shift = e.End, shift+len(e.New)-len(e.Old)
	}
	if !bytes.Equal(before[at:], after[at+shift:]) {
		t.Fatalf("more than %+v changed:\n%s", edits, after)
	}
}
