package recipe

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-bench/refit/internal/workspace"
)

const committedMaster = `key-a:
  image: lab/engine:v1
  model: lab/tiny
  model-prefix: lab
  runner: cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    fixed-seq-len:
    - { isl: 8, osl: 8, search-space: [{ tp: 1, conc-list: [4] }] }
`

// commit writes files into a repository and commits them all.
func commit(t *testing.T, repo workspace.Repo, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(repo.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-m", "x"}} {
		if _, err := repo.Git(context.Background(), args...); err != nil {
			t.Fatal(err)
		}
	}
}

// The commit counts, not the working tree.
func TestLoadCommit(t *testing.T) {
	repo := workspace.Repo{Dir: t.TempDir()}
	if _, err := repo.Git(t.Context(), "init", "-q", "-b", "main", "."); err != nil {
		t.Fatal(err)
	}
	commit(t, repo, map[string]string{"other": "x"})
	commit(t, repo, map[string]string{"configs/a-master.yaml": committedMaster, "configs/runners.yaml": "labels: {cpu: [cpu_0]}\n"})
	if err := os.WriteFile(filepath.Join(repo.Dir, "configs/a-master.yaml"), []byte("not: read\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	load := func(rev, masters, runners string) (*Catalogue, error) {
		return LoadCommit(t.Context(), repo, rev, []string{masters}, runners)
	}
	cat, err := load("main", "configs/*-master.yaml", "configs/runners.yaml")
	if err != nil || len(cat.Families) != 1 || cat.Families[0].Key != "key-a" || len(cat.Runners.Labels["cpu"]) != 1 {
		t.Fatalf("got %+v, %v", cat, err)
	}
	for _, c := range []struct{ rev, masters, runners, want string }{
		{"main", "configs/b.yaml", "configs/runners.yaml", `recipes of main: master files "configs/b.yaml": file does not exist`},
		{"main", "configs/a-master.yaml", "configs/r.yaml", "recipes of main: read configs/r.yaml: file does not exist"},
		{"nowhere", "configs/a-master.yaml", "configs/runners.yaml", `recipes of nowhere: resolve revision "nowhere": file does not exist`},
	} {
		if _, err := load(c.rev, c.masters, c.runners); err == nil || err.Error() != c.want || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s %s %s:\n got %v\nwant %s", c.rev, c.masters, c.runners, err, c.want)
		}
	}
	if _, err := load("HEAD~1", "configs/*-master.yaml", "configs/runners.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a commit without recipes: got %v", err)
	}
}
