package starter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/workspace"
)

// What is there stays, and what refit's own would change in it is said.
func TestNothingIsOverwritten(t *testing.T) {
	root := t.TempDir()
	list := []File{
		{workspace.ConfigName, []byte("executor: {sweep: refit-sweep.yml, targeted: e2e-tests.yml}\n")},
		{"w/mine.yml", []byte("a\nb\n")}, {"w/same.yml", []byte("same\n")}, {"w/new.yml", []byte("new\n")},
	}
	write(t, root, workspace.ConfigName, "# the owner's\nledger: store\n")
	write(t, root, "w/mine.yml", "a\nmine\n")
	write(t, root, "w/same.yml", "same\n")
	look, err := Look(root, list)
	if err != nil {
		t.Fatal(err)
	}
	if look[3].Action != Missing {
		t.Errorf("before: got %+v, want missing", look[3])
	}
	if _, err := os.Stat(filepath.Join(root, "w/new.yml")); err == nil {
		t.Error("looking wrote a file")
	}
	got, err := Write(root, list)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{Path: workspace.ConfigName, Action: Kept, Settings: []string{"executor.sweep: refit-sweep.yml (now run-sweep.yml, default)"}},
		{Path: "w/mine.yml", Action: Kept, Diff: "diff w/mine.yml w/mine.yml of refit init\n--- w/mine.yml\n+++ w/mine.yml of refit init\n@@ -1,2 +1,2 @@\n a\n-mine\n+b\n"},
		{Path: "w/same.yml", Action: Same}, {Path: "w/new.yml", Action: Written},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{workspace.ConfigName: "# the owner's\nledger: store\n", "w/mine.yml": "a\nmine\n", "w/new.yml": "new\n"} {
		if got := read(t, root, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "w/.*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A file that comes between looking and writing stays.
func TestCreateLeavesWhatIsThere(t *testing.T) {
	at := write(t, t.TempDir(), "x", "mine\n")
	if err := create(at, []byte("own\n")); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want exists", err)
	}
	if got := read(t, filepath.Dir(at), "x"); got != "mine\n" {
		t.Errorf("got %q, want what was there", got)
	}
}

// A link is nobody's file to compare with, and nothing is written through it.
func TestLinksAreRefused(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "elsewhere"), filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	_, err := Write(root, []File{{"b", nil}, {"a", []byte("x")}})
	if err == nil || !strings.Contains(err.Error(), "a is not a regular file") {
		t.Errorf("got %v, want a refusal", err)
	}
	for _, name := range []string{"elsewhere", "b"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func TestRepositoryOfAWorkspace(t *testing.T) {
	check := func(origin, configured, want string) {
		t.Helper()
		w := &workspace.Workspace{Root: t.TempDir()}
		w.Config.Forge.Repository = configured
		git := workspace.Repo{Dir: w.Root}
		if _, err := git.Git(context.Background(), "init", "-q", "."); err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			if _, err := git.Git(context.Background(), "remote", "add", "origin", origin); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Repository(context.Background(), w)
		if got != want || (want == "") != errors.Is(err, ErrNoRepository) {
			t.Errorf("origin %q: got %q, %v, want %q", origin, got, err, want)
		}
	}
	check("git@github.com:example/recipes.git", "", "example/recipes")
	check("https://github.com/example/recipes", "", "example/recipes")
	check("https://user:word@github.com/example/recipes.git/", "", "example/recipes")
	check("ssh://git@github.com/example/recipes.git", "", "example/recipes")
	check("https://github.com/example/recipes", "other/name", "other/name")
	check("https://example.invalid/github.com/example/recipes", "", "")
	check("../recipes.git", "", "")
	check("", "", "")
}
