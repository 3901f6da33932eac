package starter

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/workspace"
)

// runGit runs git in a folder as an owner of repositories does.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=owner", "-c", "user.email=owner@example.invalid"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// compiling stands in for `refit changelog compile`.
var compiling = map[string]string{"refit": `#!/bin/sh
[ "$*" = "changelog compile --repository toy/recipes" ] || exit 2
[ -d changelog.d ] || exit 0
cat changelog.d/*.yaml >> perf-changelog.yaml
rm -r changelog.d
`}

// A merged repository has a fragment on its default branch, trunk; here is the
// runner's checkout of it, somewhere else somebody's.
func merged(t *testing.T) (there, here, elsewhere string) {
	t.Helper()
	dir := t.TempDir()
	there, here, elsewhere = filepath.Join(dir, "there.git"), filepath.Join(dir, "here"), filepath.Join(dir, "elsewhere")
	runGit(t, dir, "init", "-q", "--bare", "-b", "trunk", there)
	runGit(t, dir, "clone", "-q", there, elsewhere)
	runGit(t, elsewhere, "checkout", "-q", "-b", "trunk")
	write(t, elsewhere, "perf-changelog.yaml", "- first\n")
	write(t, elsewhere, "changelog.d/one.yaml", "- second\n")
	push(t, elsewhere, "Measure again (#2)")
	runGit(t, dir, "clone", "-q", there, here)
	return there, here, elsewhere
}

func push(t *testing.T, dir, message string) {
	t.Helper()
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", message)
	runGit(t, dir, "push", "-q", "origin", "HEAD:refs/heads/trunk")
}

// compileAndPush runs the two steps of the workflow; between happens between them.
func compileAndPush(t *testing.T, here string, between func()) (said string, err error) {
	t.Helper()
	said, dir, err := shellIn(t, here, CompileFile, "Compile the fragments", []string{"GITHUB_REPOSITORY=toy/recipes"}, compiling)
	if err != nil || read(t, dir, "output") != "made=true\n" {
		t.Fatalf("compile: got %v and output %q\n%s", err, read(t, dir, "output"), said)
	}
	between()
	env := []string{"REFIT_TOKEN=swordfish", "BRANCH=trunk", "GITHUB_SERVER_URL=https://forge.example.invalid"}
	said, _, err = shellIn(t, here, CompileFile, "Push what was compiled", env, nil)
	if strings.Contains(said, "swordfish") {
		t.Errorf("the credential was said: %s", said)
	}
	return said, err
}

func TestCompilePushesWhatItCompiled(t *testing.T) {
	there, here, _ := merged(t)
	if said, err := compileAndPush(t, here, func() {}); err != nil {
		t.Fatalf("push: %v\n%s", err, said)
	}
	if got := runGit(t, there, "show", "trunk:perf-changelog.yaml"); got != "- first\n- second" {
		t.Errorf("changelog: got %q", got)
	}
	if got := runGit(t, there, "ls-tree", "-r", "--name-only", "trunk"); got != "perf-changelog.yaml" {
		t.Errorf("files: got %q, want the fragment gone", got)
	}
	// The push of the compilation starts the workflow once more: then nothing is left.
	said, dir, err := shellIn(t, here, CompileFile, "Compile the fragments", []string{"GITHUB_REPOSITORY=toy/recipes"}, compiling)
	if err != nil || read(t, dir, "output") != "" {
		t.Errorf("again: got %v and output %q, want nothing to push\n%s", err, read(t, dir, "output"), said)
	}
}

// A branch that moved meanwhile is no obstacle, unless the changelog is what
// moved: then the run of that push compiles again, and this one says no.
func TestCompileOverABranchThatMoved(t *testing.T) {
	there, here, elsewhere := merged(t)
	said, err := compileAndPush(t, here, func() {
		write(t, elsewhere, "README.md", "more\n")
		push(t, elsewhere, "Say more")
	})
	if err != nil {
		t.Fatalf("another file: %v\n%s", err, said)
	}
	if got := runGit(t, there, "log", "--format=%s", "trunk"); got != "Compile the fragments of the changelog\nSay more\nMeasure again (#2)" {
		t.Errorf("another file: got history %q", got)
	}
	there, here, elsewhere = merged(t)
	_, err = compileAndPush(t, here, func() {
		write(t, elsewhere, "perf-changelog.yaml", "- first\n- theirs\n")
		push(t, elsewhere, "Theirs")
	})
	if err == nil {
		t.Error("the changelog itself: no error")
	}
	if got := runGit(t, there, "show", "trunk:perf-changelog.yaml"); got != "- first\n- theirs" {
		t.Errorf("the changelog itself: got %q, want theirs alone", got)
	}
}

func TestCompileWantsTheSecret(t *testing.T) {
	said, _, err := shell(t, CompileFile, "Push what was compiled", []string{"REFIT_TOKEN=", "BRANCH=trunk"}, nil)
	if err == nil || !strings.Contains(said, "::error::set the secret REFIT_TOKEN") {
		t.Errorf("no secret: got %v\n%s", err, said)
	}
}

func TestCompileTriggers(t *testing.T) {
	var on map[string]map[string][]string
	f := parsed(t, workflows(t)[".github/workflows/"+CompileFile])
	if err := f.On.Decode(&on); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string][]string{"push": {"branches": {"main"}, "paths": {"perf-changelog.yaml", "changelog.d/**"}}}
	if diff := cmp.Diff(want, on); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
}

// A default branch of another name is the one that everything is about.
func TestTheDefaultBranchMayHaveAnyName(t *testing.T) {
	list, err := Files(Options{Repository: "example/recipes", Branch: "release/next", Config: workspace.DefaultConfig()})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range list[1:] {
		var on map[string]struct{ Branches []string }
		flow := parsed(t, string(f.Data))
		if err := flow.On.Decode(&on); err != nil {
			continue // a schedule is a list, and has no branch
		}
		for event, filter := range on {
			if len(filter.Branches) == 0 {
				continue
			}
			if n++; len(filter.Branches) != 1 || filter.Branches[0] != "release/next" {
				t.Errorf("%s, %s: got branches %q, want release/next", f.Path, event, filter.Branches)
			}
		}
	}
	if n != 3 {
		t.Errorf("%d filters of branches were looked at, want 3", n)
	}
	for _, name := range []string{"-x", "a b", "releases/**", "!main", "a//b", "a\non: push", "main'"} {
		if _, err := Files(Options{Repository: "example/recipes", Branch: name, Config: workspace.DefaultConfig()}); err == nil || !strings.Contains(err.Error(), "want the name of a branch") {
			t.Errorf("branch %q: got %v, want a refusal", name, err)
		}
	}
}

// The checkout knows the default branch of its origin, when it was cloned.
func TestBranchIsThatOfOrigin(t *testing.T) {
	_, here, _ := merged(t)
	w, err := workspace.Open(here)
	if err != nil {
		t.Fatal(err)
	}
	if got := Branch(t.Context(), w); got != "trunk" {
		t.Errorf("cloned: got %q, want trunk", got)
	}
	runGit(t, here, "remote", "set-head", "origin", "--delete")
	if got := Branch(t.Context(), w); got != "" {
		t.Errorf("without a head: got %q, want none", got)
	}
}
