package local

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// openDB opens the file with WAL, a busy timeout of 10 s and BEGIN IMMEDIATE,
// and brings its tables up to date.
func openDB(ctx context.Context, path string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// tx runs f in one transaction.
func (s *Server) tx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// A querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// rows reads all rows of a query through scan.
func rows[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	found, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := []T{}
	for found.Next() {
		one, err := scan(found)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, found.Err()
}

// one reads a single row; none is a 404.
func one[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) (T, error) {
	all, err := rows(ctx, q, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = errNotFound
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return all[0], nil
}

// nextID returns a large id, greater than any before it also when the database
// was made anew: ids follow the clock in tenths of a second.
func (s *Server) nextID(ctx context.Context, tx *sql.Tx) (int64, error) {
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO counter (name, value) VALUES ('id', ?1)
		ON CONFLICT (name) DO UPDATE SET value = max(value + 1, ?1) RETURNING value`, s.Now().UnixMilli()/100).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("next id: %w", err)
	}
	return id, nil
}

// stamp writes seconds as GitHub writes times; 0 is null.
func stamp(seconds int64) *string {
	if seconds == 0 {
		return nil
	}
	text := time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	return &text
}
