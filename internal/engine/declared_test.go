package engine

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

const declaredRecipe = `version: 1
server:
  # the engine's own flags
  command: [env, A=1, loom, serve, "${MODEL}", --graph-max-batch, 16,
    "--twill", '--weave=satin', --port, "${PORT}"]
  env:
    LOOM_QUIET: "1"
    "LOOM_SIZE": ${TP}
`

func TestReadDeclaredLaunch(t *testing.T) {
	l, err := ReadLaunch([]byte(declaredRecipe), "r.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := "env A=1 loom serve ${MODEL}"; l.Command != want {
		t.Errorf("command %q, want %q", l.Command, want)
	}
	if got, want := short(l.Uses), "--graph-max-batch 16\n--twill \n--weave satin\n--port ${PORT} ~\n"; got != want {
		t.Errorf("uses:\n%swant:\n%s", got, want)
	}
	if got, want := short(l.Exports), "LOOM_QUIET 1\nLOOM_SIZE ${TP} ~\nA 1\n"; got != want {
		t.Errorf("exports:\n%swant:\n%s", got, want)
	}
	checkRanges(t, []byte(declaredRecipe), l)
	if len(l.NotRead) != 0 {
		t.Errorf("not read: %q", l.NotRead)
	}
}

// A rename is an edit of the bytes of the name, in every way to write it.
func TestRenameInDeclared(t *testing.T) {
	before := Model{Options: []Option{{Names: []string{"--graph-max-batch"}, Dest: "graph"}}}
	after := Model{Options: []Option{{Names: []string{"--graph-max-batch-decode"}, Dest: "graph"}, {Names: []string{"--graph-max-batch-prefill"}, Dest: "other"}}}
	check := func(name, command, want string) {
		t.Helper()
		src := []byte("version: 1\nserver:\n  command: " + command + "\n")
		l, err := ReadLaunch(src, "r.yaml")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		c := Compare(before, after, l)
		var edits []recipe.Edit
		for _, e := range c.Edits() {
			edits = append(edits, e.Edit)
		}
		if want == "" {
			if len(edits) != 0 || !strings.Contains(strings.Join(c.NotRead, "\n"), "r.yaml:") || !strings.Contains(strings.Join(c.NotRead, "\n"), "--graph-max-batch cannot be edited in place: ") {
				t.Errorf("%s: edits %v, not read %q; want no edit and the reason", name, edits, c.NotRead)
			}
			return
		}
		got, err := recipe.Splice(src, edits)
		if err != nil || string(got) != "version: 1\nserver:\n  command: "+want+"\n" {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	check("flow", "[s, --graph-max-batch, 16]", "[s, --graph-max-batch-decode, 16]")
	check("block", "\n  - s\n  - --graph-max-batch # why\n  - 16", "\n  - s\n  - --graph-max-batch-decode # why\n  - 16")
	check("double-quoted", `[s, "--graph-max-batch", 16]`, `[s, "--graph-max-batch-decode", 16]`)
	check("single-quoted-joined", "[s, '--graph-max-batch=16']", "[s, '--graph-max-batch-decode=16']")
	check("behind-wide-characters", "[s, é界, --graph-max-batch, 16]", "[s, é界, --graph-max-batch-decode, 16]")
	check("escaped", `[s, "--graph\x2dmax-batch", 16]`, "")
	check("block-scalar", "\n  - s\n  - >-\n    --graph-max-batch\n  - 16", "")
	check("anchored", "[s, &a --graph-max-batch, 16]", "[s, &a --graph-max-batch-decode, 16]")
}
