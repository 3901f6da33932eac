package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// startedOnce is a stand-in for refit as the forge calls it: every start is a line
// in a file. The first one tells that it has begun and goes on until it is
// ended; later ones end at once.
const startedOnce = `#!/bin/sh
[ -e "%[1]s/count" ] && { echo again >> "%[1]s/count"; exit 1; }
echo first >> "%[1]s/count"
echo begun > "%[1]s/fifo"
exec tail -f /dev/null
`

// lostRun is a workspace whose forge has a run that a process left when it ended.
func lostRun(t *testing.T) (w *workspace.Workspace, refit, count string, run int64) {
	t.Helper()
	h := startHost(t)
	dir := t.TempDir()
	refit, count = filepath.Join(dir, "refit"), filepath.Join(dir, "count")
	noError(t, os.WriteFile(refit, fmt.Appendf(nil, startedOnce, dir), 0o755))
	noError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	noError(t, os.MkdirAll(filepath.Join(h.Workspace.Root, ".github/workflows"), 0o755))
	noError(t, h.Close()) // the workflow has to be in what is served
	w = h.Workspace
	noError(t, os.WriteFile(filepath.Join(w.Root, ".github/workflows/e2e-tests.yml"), []byte("on:\n  workflow_dispatch: {}\n"), 0o644))
	git := workspace.Repo{Dir: w.Root}
	for _, args := range [][]string{{"add", ".github"}, {"-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-m", "Workflow"},
		{"push", "-q", bareOf(w).Dir, "HEAD:refs/heads/main"}} {
		_, err := git.Git(t.Context(), args...)
		noError(t, err)
	}
	p, err := Attach(t.Context(), w, refit, io.Discard, time.Now)
	noError(t, err)
	run, err = forgeOf(t, p).Dispatch(t.Context(), "e2e-tests.yml", "main", nil)
	noError(t, err)
	begun, err := os.ReadFile(filepath.Join(dir, "fifo")) // when it has
	noError(t, err)
	if string(begun) != "begun\n" {
		t.Fatalf("the run said %q", begun)
	}
	noError(t, p.Close())
	return w, refit, count, run
}

func forgeOf(t *testing.T, p *Parts) *forge.Client {
	t.Helper()
	c, err := p.Forge()
	noError(t, err)
	return c
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// startsIn is how often a run was started.
func startsIn(t *testing.T, count string) int {
	t.Helper()
	src, err := os.ReadFile(count)
	noError(t, err)
	return strings.Count(string(src), "\n")
}

// A lost run is nothing to who only looks: it stays queued, for as long as it is
// looked at, and the next process that measures starts it.
func TestWhoLooksStartsNoRun(t *testing.T) {
	w, refit, count, id := lostRun(t)
	for range 2 {
		p, err := Look(t.Context(), w, refit, io.Discard, time.Now)
		noError(t, err)
		if p.Measures || !p.Own || !p.Address.Looks {
			t.Errorf("looking: measures %t, hosts %t, says so %t; want it to host, and to say that it only looks", p.Measures, p.Own, p.Address.Looks)
		}
		p.host.Wait() // for whatever might have been started
		r, err := forgeOf(t, p).Run(t.Context(), id)
		noError(t, err)
		if r.Status != "queued" {
			t.Errorf("looked at: run is %s %s, want it queued", r.Status, r.Conclusion)
		}
		noError(t, p.Close())
	}
	if n := startsIn(t, count); n != 1 {
		t.Errorf("%d starts after two looks, want the one that was lost", n)
	}
	p, err := Attach(t.Context(), w, refit, io.Discard, time.Now)
	noError(t, err)
	p.host.Wait()
	r, err := forgeOf(t, p).Run(t.Context(), id)
	noError(t, err)
	if n := startsIn(t, count); n != 2 || r.Status != "completed" || !p.Measures || p.Address.Looks {
		t.Errorf("measured: %d starts, run is %s, measures %t, looks %t; want it started again and ended", n, r.Status, p.Measures, p.Address.Looks)
	}
	noError(t, p.Close())
}

// Who measures does not join a process that only looks: its forge would start
// nothing, and be gone soon. It waits until it can host the parts itself.
func TestWhoMeasuresWaitsForWhoLooks(t *testing.T) {
	h := startHost(t)
	w := h.Workspace
	noError(t, h.Close())
	looking, err := Look(t.Context(), w, "refit", io.Discard, time.Now)
	noError(t, err)
	second, err := Look(t.Context(), w, "refit", io.Discard, time.Now)
	noError(t, err)
	if second.Own || second.Address.Forge != looking.Address.Forge {
		t.Errorf("a second look: hosts %t at %s, want it to join %s", second.Own, second.Address.Forge, looking.Address.Forge)
	}
	noError(t, second.Close())
	ctx, cancel := context.WithTimeout(t.Context(), 3*joinPause)
	defer cancel()
	if p, err := Attach(ctx, w, "refit", io.Discard, time.Now); err == nil {
		t.Errorf("beside a look: joined %s", p.Address.Forge)
		noError(t, p.Close())
	}
	noError(t, looking.Close())
	p, err := Attach(t.Context(), w, "refit", io.Discard, time.Now)
	noError(t, err)
	if !p.Own || !p.Measures {
		t.Errorf("after the look: hosts %t, measures %t; want both", p.Own, p.Measures)
	}
	noError(t, p.Close())
}
