package local

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/refit-bench/refit/internal/forge"
)

func TestRefIsMadeOnce(t *testing.T) {
	w := newWorld(t, nil)
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		sha := w.commitOn(t, w.main, strings.Repeat("x", i+1), nil)
		wg.Go(func() { results[i] = w.bot.CreateRef(t.Context(), "refit/claim-0123456789abcdef", sha) })
	}
	wg.Wait()
	won := 0
	for i, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, forge.ErrExists) {
			t.Errorf("claim %d: got %v, want ErrExists", i, err)
		}
	}
	if won != 1 {
		t.Errorf("claims that succeeded: got %d, want 1", won)
	}
	if n := w.count(t, "ref.create"); n != 1 {
		t.Errorf("references made: got %d, want 1", n)
	}
	refs, err := w.bot.Refs(t.Context(), "refit/claim-")
	must(t, err)
	if len(refs) != 1 {
		t.Errorf("refs: got %v, want one", refs)
	}
}

func TestMoveRefComparesFirst(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	first := w.commitOn(t, w.main, "holder one", nil)
	second := w.commitOn(t, first, "holder two", nil)
	aside := w.commitOn(t, w.main, "holder three", nil)
	must(t, w.bot.CreateRef(ctx, "refit/lease-a", first))
	must(t, w.bot.MoveRef(ctx, "refit/lease-a", first, second))
	for name, err := range map[string]error{
		"stale":            w.bot.MoveRef(ctx, "refit/lease-a", first, aside),
		"no-fast-forward":  w.bot.MoveRef(ctx, "refit/lease-a", second, aside),
		"absent-reference": w.bot.MoveRef(ctx, "refit/lease-b", first, second),
	} {
		if !errors.Is(err, forge.ErrMoved) {
			t.Errorf("%s: got %v, want ErrMoved", name, err)
		}
	}
	sha, ok, err := w.bot.Ref(ctx, "refit/lease-a")
	if sha != second || !ok || err != nil {
		t.Errorf("lease: got %s %t %v, want %s", sha, ok, err, second)
	}
	must(t, w.bot.DeleteRef(ctx, "refit/lease-a"))
	must(t, w.bot.DeleteRef(ctx, "refit/lease-a"))
	if _, ok, err := w.bot.Ref(ctx, "refit/lease-a"); ok || err != nil {
		t.Errorf("deleted lease: got %t %v, want absent", ok, err)
	}
}

func TestCommitKeepsTheRest(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	binary := "\x00\xff binary\n"
	sha := w.commitOn(t, w.main, "Edit\n\nWith a body.", map[string]string{
		"benchmarks/single/a.sh": "#!/bin/sh\nexit 0\n", "new/deep/file.bin": binary, "empty": "",
	})
	got := git(t, w.Git.Dir, "ls-tree", "-r", "--format=%(objectmode) %(path)", sha)
	want := strings.Join([]string{
		"100644 .github/workflows/e2e-tests.yml", "100644 .github/workflows/not-a-workflow", "100644 .github/workflows/run-sweep.yml",
		"100644 README.md", "100755 benchmarks/single/a.sh", "100644 empty", "100644 new/deep/file.bin", "100644 perf-changelog.yaml",
	}, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	git(t, w.Git.Dir, "fsck", "--strict", "--no-dangling")
	data, err := w.bot.File(ctx, sha, "new/deep/file.bin")
	if string(data) != binary || err != nil {
		t.Errorf("file: got %q %v, want %q", data, err, binary)
	}
	message, err := w.bot.Message(ctx, sha)
	if message != "Edit\n\nWith a body." || err != nil {
		t.Errorf("message: got %q %v", message, err)
	}
	if author := git(t, w.Git.Dir, "log", "-1", "--format=%an %ae %at", sha); author != "bot bot@localhost 1770091506" {
		t.Errorf("author: got %q", author)
	}
	same := w.commitOn(t, w.main, "claim", nil)
	if got, want := git(t, w.Git.Dir, "rev-parse", same+"^{tree}"), git(t, w.Git.Dir, "rev-parse", w.main+"^{tree}"); got != want {
		t.Errorf("tree of an empty commit: got %s, want %s", got, want)
	}
}

func TestFile(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	large := strings.Repeat("0123456789abcdef", 1<<17)
	sha := w.commitOn(t, w.main, "large", map[string]string{"large file?.txt": large})
	data, err := w.bot.File(ctx, sha, "large file?.txt")
	if string(data) != large || err != nil {
		t.Errorf("large file: got %d bytes, %v, want %d", len(data), err, len(large))
	}
	for _, c := range [][2]string{{"main", "nowhere"}, {"main", "README.md/x"}, {"no-such-branch", "README.md"}} {
		if _, err := w.bot.File(ctx, c[0], c[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("file %s at %s: got %v, want fs.ErrNotExist", c[1], c[0], err)
		}
	}
	if _, err := w.bot.File(ctx, "main", "benchmarks"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("folder: got %v", err)
	}
	for _, path := range []string{"../x", "a/.git/config", "/abs", "README.md/below"} {
		if _, err := w.bot.Commit(ctx, w.main, "bad", map[string][]byte{path: nil}); err == nil {
			t.Errorf("commit of %q: no error", path)
		}
	}
}
