// Package local is a forge on this machine: the part of GitHub's REST and
// GraphQL API that refit uses, over a bare git repository and a SQLite file.
// It knows workflow runs, not sweeps; what a run does is a function field, and
// workflow files are never interpreted.
package local

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// ErrSkipped is what Run returns when the event asks for no work; the run then
// concludes "skipped".
var ErrSkipped = errors.New("skipped")

// A Server is one repository's forge. Its fields are set before Open. One
// process at a time may open a database.
type Server struct {
	Repository  string            // owner/name
	Git         workspace.Repo    // bare
	DB          string            // path of the SQLite file
	Tokens      map[string]string // token -> login
	Permissions map[string]string // login -> admin | write | read | none; a login that is missing may read
	ArtifactDir string
	Now         func() time.Time
	Run         func(ctx context.Context, r RunRequest) error // nil: runs stay queued
	Log         io.Writer
	BaseURL     string // of links, such as "http://127.0.0.1:8080"; "" takes the request's host

	repo   forge.Repository
	branch string   // default branch
	key    [32]byte // signs addresses of the storage
	since  int64    // seconds; when this repository came here, as far as the log knows
	db     *sql.DB
	writes sync.Mutex // held by whoever changes references or the database
	work   worker
	cache  cache
	logs   sync.Mutex // held while writing to Log
}

// A RunRequest is one attempt of one workflow run.
type RunRequest struct {
	ID         int64
	Attempt    int
	Workflow   string // file name, such as "run-sweep.yml"
	Event      string // push | pull_request | workflow_dispatch
	Title      string
	HeadSHA    string
	HeadBranch string
	Actor      string
	Payload    []byte // the event as GitHub would describe it, JSON
	Out        string // folder; each folder directly in it becomes an artifact
	Log        string // file to write the run's log to
}

// Open opens the database, notices what was pushed in the meantime, and starts
// the worker. Runs that a dead process left are queued again.
func (s *Server) Open(ctx context.Context) (err error) {
	if s.repo, err = forge.ParseRepository(s.Repository); err != nil {
		return fmt.Errorf("forge: open: %w", err)
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = io.Discard
	}
	if err := os.MkdirAll(s.ArtifactDir, 0o700); err != nil {
		return fmt.Errorf("forge: open: %w", err)
	}
	if err := s.checkGit(ctx); err != nil {
		return fmt.Errorf("forge: open: %w", err)
	}
	if s.branch, err = s.head(ctx); err != nil {
		return fmt.Errorf("forge: open: %w", err)
	}
	rand.Read(s.key[:])
	if s.db, err = openDB(ctx, s.DB); err != nil {
		return fmt.Errorf("forge: open %s: %w", s.DB, err)
	}
	if err = s.resume(ctx); err != nil {
		s.db.Close()
		return fmt.Errorf("forge: open %s: %w", s.DB, err)
	}
	return nil
}

// resume brings database and repository together, then starts the worker.
func (s *Server) resume(ctx context.Context) error {
	if err := s.requeue(ctx); err != nil {
		return err
	}
	err := s.db.QueryRowContext(ctx, `SELECT coalesce(min(at), ?) FROM event`, s.now()).Scan(&s.since)
	if err != nil {
		return err
	}
	if err := s.startWorker(ctx); err != nil {
		return err
	}
	if err := s.notice(ctx); err != nil {
		s.stopWorker()
		return err
	}
	return nil
}

// Wait blocks until no run is queued or in progress, or the server is closed.
func (s *Server) Wait() { s.work.wait() }

// Close stops the worker and closes the database. A run in progress is
// cancelled and starts again with the next Open.
func (s *Server) Close() error {
	if s.db == nil {
		return nil
	}
	s.stopWorker()
	return s.db.Close()
}

func (s *Server) logf(format string, args ...any) {
	s.logs.Lock()
	defer s.logs.Unlock()
	fmt.Fprintf(s.Log, "forge: %s\n", strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// now is the time of one operation, in whole seconds as GitHub keeps it.
func (s *Server) now() int64 { return s.Now().Unix() }
