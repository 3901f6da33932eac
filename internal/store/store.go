// Package store keeps results and the ledger of candidates in one SQLite
// file. It answers questions and does not ask why.
package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/refit-bench/refit/internal/workspace"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is an open database. It may be used by many goroutines, and several
// processes may hold one file open: writers wait for each other up to 10 s,
// readers see the state before or after a write.
type Store struct {
	db *sql.DB
}

// Open opens the file, creating and migrating it (and its folder) as needed.
func Open(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	db, err := sql.Open("sqlite", dsn(abs))
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	if err := migrate(ctx, db, abs); err != nil {
		db.Close()
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return &Store{db: db}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

func dsn(path string) string {
	options := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String()
}

// migrate brings the schema up to date, one process at a time.
func migrate(ctx context.Context, db *sql.DB, path string) error {
	lock, err := workspace.WaitLock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// write runs f in one transaction that holds the write lock from its start.
func (s *Store) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Generation grows with every stored run: what was read under one generation
// stays true while it lasts.
func (s *Store) Generation(ctx context.Context) (int64, error) {
	var n int64
	if err := s.db.QueryRowContext(ctx, `SELECT n FROM generation`).Scan(&n); err != nil {
		return 0, fmt.Errorf("store generation: %w", err)
	}
	return n, nil
}
