package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/described"
)

// seenByOctokit is what the program in testdata/octokit prints.
type seenByOctokit struct {
	Login  string
	Opened struct {
		Number int
		Node   string
		Draft  bool
		Open   []int
		Files  []string
	}
	Labels   []string
	Comments struct {
		Pages          int
		Bodies         []string
		Editor, Edited string
	}
	Ready, Draft bool
	Head         string
	Run          struct {
		Title, Conclusion, Log string
		Listed                 []bool
		Artifacts              []struct {
			Name  string
			Whole bool
		}
	}
	Missing int
	Closed  struct {
		State, Title        string
		Draft, Merged       bool
		Comments, Additions int
	}
}

// runOctokit runs the program against a world, and skips without node or packages.
func runOctokit(t *testing.T, w *world, head string) seenByOctokit {
	t.Helper()
	described.Require(t)
	packages, err := described.Packages()
	must(t, err)
	dir, program := t.TempDir(), "client.mjs"
	source, err := os.ReadFile(filepath.Join("testdata", "octokit", program))
	must(t, err)
	// A program finds its packages beside itself.
	must(t, errors.Join(os.WriteFile(filepath.Join(dir, program), source, 0o600), os.Symlink(packages, filepath.Join(dir, "node_modules"))))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", program, w.http.URL, "owner", "recipes", head)
	var told bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &told
	cmd.Env = append(os.Environ(), "FORGE_TOKEN=bot-token", "NO_PROXY=127.0.0.1")
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("node is not installed: no independent client to try")
	}
	if err != nil {
		t.Fatalf("node: %v\n%s", err, told.String())
	}
	var seen seenByOctokit
	must(t, json.Unmarshal(out, &seen))
	return seen
}

// An independent client does with the embedded forge what it does with GitHub,
// and its requests and their answers are as GitHub describes them.
func TestOctokit(t *testing.T) {
	w := newWorld(t, func(_ context.Context, r RunRequest) error {
		for _, name := range []string{"refit-rows", "refit-logs"} {
			if err := os.MkdirAll(filepath.Join(r.Out, name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(r.Out, name, "file.txt"), []byte(name), 0o644); err != nil {
				return err
			}
		}
		return os.WriteFile(r.Log, []byte("log of "+r.Title), 0o600)
	})
	for _, name := range []string{"one", "two", "three"} {
		w.newBranch(t, name, map[string]string{name: "x\n"})
		w.newPull(t, name)
	}
	head := w.newBranch(t, "refit/auto-1", map[string]string{"README.md": "recipes\nmore\n", "dir/new file": "x\n"})
	got := runOctokit(t, w, "refit/auto-1")

	var want seenByOctokit
	want.Login, want.Head, want.Missing, want.Draft = "bot", head, 404, true
	want.Opened.Number, want.Opened.Draft, want.Opened.Node = 4, true, got.Opened.Node
	want.Opened.Open, want.Opened.Files = []int{4, 3, 2, 1}, []string{"README.md", "dir/new file"}
	want.Labels = []string{"first"}
	want.Comments.Pages, want.Comments.Editor, want.Comments.Edited = 3, "bot", "2026-02-03T04:05:06Z"
	want.Comments.Bodies = []string{"comment 0", "comment 1", "comment 2", "comment 3", "comment 4", "comment 5", "edited"}
	want.Run.Title, want.Run.Conclusion, want.Run.Log = "e2e Test - octokit", "success", "log of e2e Test - octokit"
	want.Run.Listed = []bool{true}
	want.Run.Artifacts = append(want.Run.Artifacts, got.Run.Artifacts...)
	want.Closed.State, want.Closed.Title, want.Closed.Draft = "closed", "Closed by another client", true
	want.Closed.Comments, want.Closed.Additions = 7, 2
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what octokit saw (-want +got):\n%s", diff)
	}
	names := map[string]bool{}
	for _, a := range got.Run.Artifacts {
		names[a.Name] = a.Whole
	}
	if diff := cmp.Diff(map[string]bool{"refit-rows": true, "refit-logs": true}, names); diff != "" {
		t.Errorf("artifacts that came whole (-want +got):\n%s", diff)
	}
	if p, err := w.bot.Pull(t.Context(), 4); err != nil || p.State != "closed" || p.NodeID != got.Opened.Node {
		t.Errorf("afterwards: got %+v %v, want it closed", p, err)
	}
}
