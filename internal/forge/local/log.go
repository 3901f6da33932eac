package local

import (
	"context"
	"database/sql"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// An Event is one line of the forge's log: a write that succeeded, or something
// that happened because of one.
type Event struct {
	Seq     int64
	At      time.Time
	Login   string
	Kind    string // such as "pull.open", "ref.create", "push", "run.queued"
	Subject string
}

// Events returns the log, oldest first.
func (s *Server) Events(ctx context.Context) ([]Event, error) {
	return rows(ctx, s.db, func(r *sql.Rows) (Event, error) {
		var e Event
		var at int64
		err := r.Scan(&e.Seq, &at, &e.Login, &e.Kind, &e.Subject)
		e.At = time.Unix(at, 0).UTC()
		return e, err
	}, `SELECT seq, at, login, kind, subject FROM event ORDER BY seq`)
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (s *Server) record(ctx context.Context, x execer, login, kind, subject string) error {
	_, err := x.ExecContext(ctx, `INSERT INTO event (at, login, kind, subject) VALUES (?, ?, ?, ?)`, s.now(), login, kind, subject)
	return err
}
