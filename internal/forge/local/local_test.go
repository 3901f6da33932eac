package local

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/described"
	"github.com/refit-bench/refit/internal/workspace"
)

const changelog = "- config-keys: [a]\n  description: [first]\n  pr-link: https://example.org/1\n"

// A world is a server over a fresh repository, with a client for each role.
type world struct {
	*Server
	http              *httptest.Server
	watch             *described.Watch // of what goes over http
	bot, reader, anon *forge.Client
	main              string // commit main started at

	mu   sync.Mutex
	seen []RunRequest
}

// newWorld opens a server whose runs are done by do (nil: success, nothing left).
func newWorld(t *testing.T, do func(context.Context, RunRequest) error) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{watch: described.NewWatch(t)}
	w.Server = &Server{
		Repository:  "owner/recipes",
		Git:         workspace.Repo{Dir: filepath.Join(dir, "repo.git")},
		DB:          filepath.Join(dir, "forge db.sqlite"),
		Tokens:      map[string]string{"bot-token": "bot", "reader-token": "reader", "maintainer-token": "maintainer"},
		Permissions: map[string]string{"bot": "write", "maintainer": "admin"},
		ArtifactDir: filepath.Join(dir, "artifacts"),
		Now:         func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) },
		Log:         testLog{t},
	}
	w.Run = func(ctx context.Context, r RunRequest) error {
		w.watch.Event(r.Event, r.Payload)
		w.mu.Lock()
		w.seen = append(w.seen, r)
		w.mu.Unlock()
		if do == nil {
			return nil
		}
		return do(ctx, r)
	}
	w.main = seed(t, w.Git.Dir)
	open(t, w.Server)
	w.http = httptest.NewServer(w.watch.Handler(w.Handler()))
	t.Cleanup(func() {
		w.http.Close()
		w.Close()
	})
	w.bot, w.reader, w.anon = w.client(t, "bot-token"), w.client(t, "reader-token"), w.client(t, "")
	return w
}

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func open(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) client(t *testing.T, token string) *forge.Client {
	t.Helper()
	c, err := forge.New(w.http.URL, token, "owner/recipes")
	if err != nil {
		t.Fatal(err)
	}
	c.Wait = func(context.Context, time.Duration) error { return nil }
	return c
}

// runs returns what the server executed so far.
func (w *world) runs() []RunRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]RunRequest{}, w.seen...)
}

// seed makes a bare repository whose main has a few files, and returns its head.
func seed(t *testing.T, bare string) string {
	t.Helper()
	work := t.TempDir()
	files := map[string]string{
		"perf-changelog.yaml":              changelog,
		"README.md":                        "recipes\n",
		"benchmarks/single/a.sh":           "#!/bin/sh\n",
		".github/workflows/run-sweep.yml":  "name: Run Sweep\n",
		".github/workflows/e2e-tests.yml":  "name: e2e\n",
		".github/workflows/not-a-workflow": "\n",
	}
	for name, text := range files {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	git(t, work, "init", "-q", "-b", "main")
	git(t, work, "add", "-A")
	git(t, work, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit", "-q", "-m", "Start")
	git(t, work, "clone", "-q", "--bare", work, bare)
	return git(t, work, "rev-parse", "HEAD")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := workspace.Repo{Dir: dir}.Git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// branch commits files on top of main and makes a branch of it.
func (w *world) newBranch(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	sha := w.commitOn(t, w.main, "Work on "+name, files)
	must(t, w.bot.CreateRef(t.Context(), "heads/"+name, sha))
	return sha
}

func (w *world) commitOn(t *testing.T, parent, message string, files map[string]string) string {
	t.Helper()
	data := map[string][]byte{}
	for k, v := range files {
		data[k] = []byte(v)
	}
	sha, err := w.bot.Commit(t.Context(), parent, message, data)
	must(t, err)
	return sha
}

func (w *world) newPull(t *testing.T, branch string) forge.Pull {
	t.Helper()
	p, err := w.bot.OpenPull(t.Context(), "Upgrade "+branch, "body", branch, "main", true)
	must(t, err)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count returns how many events of a kind the log holds.
func (w *world) count(t *testing.T, kind string) int {
	t.Helper()
	events, err := w.Events(t.Context())
	must(t, err)
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func entry(n int) string {
	return changelog + fmt.Sprintf("\n- config-keys: [a]\n  description: [number %d]\n  pr-link: XXX\n", n)
}
