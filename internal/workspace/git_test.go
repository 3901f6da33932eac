package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// history makes a checkout with two commits on main and returns their ids.
func history(t *testing.T) (r Repo, first, second string) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	r = Repo{Dir: t.TempDir()}
	git(t, r, "init", "-q", "-b", "main")
	write(t, filepath.Join(r.Dir, "configs/a-master.yaml"), "a: 1\n")
	write(t, filepath.Join(r.Dir, "configs/b-master.yaml"), "b: 1\n")
	write(t, filepath.Join(r.Dir, "deep/er/ä b\n.txt"), "odd name")
	write(t, filepath.Join(r.Dir, "empty"), "")
	write(t, filepath.Join(r.Dir, "run.sh"), "#!/bin/sh\r\n")
	write(t, filepath.Join(r.Dir, ".gitattributes"), "*.sh text eol=lf\n/empty export-ignore\n")
	if err := errors.Join(os.Chmod(filepath.Join(r.Dir, "run.sh"), 0o755),
		os.Symlink("configs", filepath.Join(r.Dir, "link")),
		os.Symlink("../configs/a-master.yaml", filepath.Join(r.Dir, "deep/a"))); err != nil {
		t.Fatal(err)
	}
	first = commit(t, r, "first")
	write(t, filepath.Join(r.Dir, "configs/a-master.yaml"), "a: 2\n")
	if err := os.Rename(filepath.Join(r.Dir, "empty"), filepath.Join(r.Dir, "moved")); err != nil {
		t.Fatal(err)
	}
	return r, first, commit(t, r, "second")
}

func git(t *testing.T, r Repo, args ...string) string {
	t.Helper()
	out, err := r.Git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, r Repo, message string) string {
	t.Helper()
	git(t, r, "add", "-A")
	git(t, r, "-c", "user.name=bot", "-c", "user.email=bot@example.invalid", "commit", "-q", "-m", message)
	return git(t, r, "rev-parse", "HEAD")
}

func TestRepo(t *testing.T) {
	r, first, second := history(t)
	bare := Repo{Dir: filepath.Join(t.TempDir(), "bare.git")}
	git(t, Repo{Dir: t.TempDir()}, "clone", "-q", "--bare", r.Dir, bare.Dir)
	for name, r := range map[string]Repo{"checkout": r, "bare": bare} {
		t.Run(name, func(t *testing.T) {
			if got, err := r.Resolve(t.Context(), "main"); err != nil || got != second {
				t.Errorf("Resolve(main): got %s, %v, want %s", got, err, second)
			}
			if got, err := r.File(t.Context(), "main~1", "configs/a-master.yaml"); err != nil || string(got) != "a: 1\n" {
				t.Errorf("File: got %q, %v", got, err)
			}
			if got, err := r.MergeBase(t.Context(), first, "main"); err != nil || got != first {
				t.Errorf("MergeBase: got %s, %v, want %s", got, err, first)
			}
			got, err := r.Changed(t.Context(), first, second)
			if diff := cmp.Diff([]string{"configs/a-master.yaml", "empty", "moved"}, got); err != nil || diff != "" {
				t.Errorf("Changed: %v (-want +got):\n%s", err, diff)
			}
			for _, path := range []string{"absent", "configs", "configs/a-master.yaml/x"} {
				if _, err := r.File(t.Context(), "main", path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("File(%s): got %v, want not exist", path, err)
				}
			}
			for _, rev := range []string{"absent", strings.Repeat("0", 40)} {
				if _, err := r.Resolve(t.Context(), rev); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Resolve(%s): got %v, want not exist", rev, err)
				}
			}
		})
	}
	for _, rev := range []string{"", "--all", "a\nb"} {
		if _, err := r.Resolve(t.Context(), rev); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Resolve(%q): got %v, want a refusal", rev, err)
		}
	}
}

func TestFS(t *testing.T) {
	r, first, _ := history(t)
	fsys, err := r.FS(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	tree := fsys.(*Tree)
	if err := fstest.TestFS(fsys, "configs/a-master.yaml", "deep/er/ä b\n.txt", "empty", "run.sh"); err != nil {
		t.Error(err)
	}
	got, err := fs.Glob(fsys, "configs/*-master.yaml")
	if diff := cmp.Diff([]string{"configs/a-master.yaml", "configs/b-master.yaml"}, got); err != nil || diff != "" {
		t.Errorf("Glob: %v (-want +got):\n%s", err, diff)
	}
	for path, want := range map[string]string{
		"link/a-master.yaml": "a: 1\n", "deep/a": "a: 1\n", "run.sh": "#!/bin/sh\n", "empty": "",
	} {
		if got, err := fs.ReadFile(fsys, path); err != nil || string(got) != want {
			t.Errorf("ReadFile(%s): got %q, %v, want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"absent", "configs/absent", "empty/below", "link/absent"} {
		if _, err := fs.ReadFile(fsys, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%s): got %v, want not exist", path, err)
		}
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if got, err := fs.ReadFile(fsys, "configs/b-master.yaml"); err != nil || string(got) != "b: 1\n" {
				t.Errorf("ReadFile at once: got %q, %v", got, err)
			}
		})
	}
	wait.Wait()
	if err := tree.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := fs.ReadFile(fsys, "run.sh"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ReadFile after Close: got %v, want closed", err)
	}
}

func TestFSEndsWithItsContext(t *testing.T) {
	r, first, _ := history(t)
	ctx, cancel := context.WithCancel(t.Context())
	fsys, err := r.FS(ctx, first)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fsys.Open("run.sh")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(fsys, "empty"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(f); !errors.Is(err, context.Canceled) {
		t.Errorf("read after cancel: got %v, want canceled", err)
	}
}

func TestExport(t *testing.T) {
	r, first, _ := history(t)
	dir := filepath.Join(t.TempDir(), "out")
	if err := r.Export(t.Context(), first, dir); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"run.sh": "#!/bin/sh\n", "empty": "", "deep/a": "a: 1\n", "link/b-master.yaml": "b: 1\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("exported %s: got %q, %v, want %q", path, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("exported run.sh is not executable: %v, %v", info, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("export left .git: %v", err)
	}
	if err := r.Export(t.Context(), first, dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("Export into a full folder: got %v", err)
	}
}

func TestExportRefusesClimbingLinks(t *testing.T) {
	r, _, _ := history(t)
	if err := os.Symlink("../outside", filepath.Join(r.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	head := commit(t, r, "link")
	dir := t.TempDir()
	err := r.Export(t.Context(), head, dir)
	if !errors.Is(err, errClimb) {
		t.Errorf("Export: got %v, want %v", err, errClimb)
	}
	if _, err := os.Lstat(filepath.Join(dir, "out")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("link was written: %v", err)
	}
	fsys, err := r.FS(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(fsys, "out"); !errors.Is(err, errClimb) {
		t.Errorf("ReadFile(out): got %v, want %v", err, errClimb)
	}
}

func TestLinkInside(t *testing.T) {
	for _, c := range []struct {
		name, target string
		want         bool
	}{
		{"a", "b", true}, {"d/a", "../b", true}, {"d/a", "./../b/./c", true}, {"d/e/a", "../..", true},
		{"a", "../b", false}, {"d/a", "../../b", false}, {"a", "/etc/passwd", false}, {"a", "", false},
		{"d/a", "l/../b", false}, // l may lead to the top, and from there .. leads out
	} {
		if got := LinkInside(c.name, c.target); got != c.want {
			t.Errorf("LinkInside(%s, %s): got %v, want %v", c.name, c.target, got, c.want)
		}
	}
}

// A repository's own configuration must not make us run its programs.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	r, _, _ := history(t)
	mark := filepath.Join(t.TempDir(), "ran")
	hook := filepath.Join(r.Dir, ".git/hooks/pre-commit")
	write(t, hook, "#!/bin/sh\ntouch '"+mark+"'\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, r, "config", "core.fsmonitor", hook)
	git(t, r, "config", "core.hooksPath", filepath.Dir(hook))
	write(t, filepath.Join(r.Dir, "new"), "x")
	commit(t, r, "third")
	git(t, r, "status", "--porcelain")
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program of the repository ran: %v", err)
	}
}

func TestGitStaysWhereItIs(t *testing.T) {
	r, _, _ := history(t)
	t.Setenv("GIT_DIR", filepath.Join(r.Dir, ".git"))
	inside := filepath.Join(r.Dir, "deep")
	for _, dir := range []string{t.TempDir(), inside} {
		if _, err := (Repo{Dir: dir}).Resolve(t.Context(), "main"); err == nil {
			t.Errorf("Resolve in %s found a repository elsewhere", dir)
		}
	}
}

func TestGitErrors(t *testing.T) {
	r, _, _ := history(t)
	_, err := r.Git(t.Context(), "-c", "x.y=z", "fetch", "https://bot:secret@127.0.0.1:1/x.git")
	if err == nil || !strings.HasPrefix(err.Error(), "git fetch: exit status 128: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("Git(fetch): got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Git(ctx, "status"); !errors.Is(err, context.Canceled) {
		t.Errorf("Git with an ended context: got %v", err)
	}
}
