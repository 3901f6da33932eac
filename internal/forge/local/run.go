package local

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A run is one workflow run in its newest attempt.
type run struct {
	id                         int64
	number, attempt, pull      int
	workflow, event, title     string
	headSHA, headBranch, actor string
	payload                    []byte
	status, conclusion, note   string
	cancel                     bool
	created, started, updated  int64
}

const runColumns = `id, number, attempt, pull, workflow, event, title, head_sha, head_branch, actor, payload, status, conclusion,
	note, cancel, created, started, updated`

func scanRun(r *sql.Rows) (run, error) {
	var x run
	return x, r.Scan(&x.id, &x.number, &x.attempt, &x.pull, &x.workflow, &x.event, &x.title, &x.headSHA, &x.headBranch, &x.actor,
		&x.payload, &x.status, &x.conclusion, &x.note, &x.cancel, &x.created, &x.started, &x.updated)
}

// queue adds a run. The worker is woken by the caller, after the transaction.
func (s *Server) queue(ctx context.Context, tx *sql.Tx, r run) (run, error) {
	id, err := s.nextID(ctx, tx)
	if err != nil {
		return run{}, err
	}
	r.id, r.attempt, r.status = id, 1, "queued"
	r.created, r.started, r.updated = s.now(), s.now(), s.now()
	err = tx.QueryRowContext(ctx, `SELECT count(*) + 1 FROM run WHERE workflow = ?`, r.workflow).Scan(&r.number)
	if err != nil {
		return run{}, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO run (id, number, attempt, pull, workflow, event, title, head_sha, head_branch, actor,
		payload, status, created, started, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.id, r.number, r.attempt, r.pull, r.workflow, r.event, r.title, r.headSHA, r.headBranch, r.actor,
		r.payload, r.status, r.created, r.started, r.updated)
	if err != nil {
		return run{}, err
	}
	return r, s.record(ctx, tx, r.actor, "run.queued", fmt.Sprintf("%d %s %s", r.id, r.workflow, r.event))
}

// runs lists runs, newest first, of one workflow when the path names it.
func (s *Server) runs(c call) (answer, error) {
	where, args := "1", []any{}
	equal := func(column, value string) {
		if value != "" {
			where, args = where+" AND "+column+" = ?", append(args, value)
		}
	}
	q := c.URL.Query()
	equal("workflow", c.PathValue("file"))
	equal("head_branch", q.Get("branch"))
	equal("event", q.Get("event"))
	equal("head_sha", q.Get("head_sha"))
	equal("actor", q.Get("actor"))
	if status := q.Get("status"); status != "" {
		where, args = where+" AND (status = ? OR conclusion = ?)", append(args, status, status)
	}
	from, to, err := span(q.Get("created"))
	if err != nil {
		return answer{}, err
	}
	where, args = where+" AND created BETWEEN ? AND ?", append(args, from, to)
	found, err := rows(c.Context(), s.db, scanRun, `SELECT `+runColumns+` FROM run WHERE `+where+` ORDER BY id DESC`, args...)
	if err != nil {
		return answer{}, err
	}
	part, link := page(c, found)
	var body struct {
		Total int       `json:"total_count"`
		Runs  []wireRun `json:"workflow_runs"`
	}
	body.Total, body.Runs = len(found), []wireRun{}
	for _, r := range part {
		w, err := s.wireRun(c, r)
		if err != nil {
			return answer{}, err
		}
		body.Runs = append(body.Runs, w)
	}
	return answer{status: http.StatusOK, body: body, link: link}, nil
}

// span reads GitHub's search syntax for dates: ">=T", ">T", "<=T", "<T", "T..T", "T".
func span(text string) (from, to int64, err error) {
	from, to = 0, 1<<60
	set := func(side *int64, text string, shift int64) {
		at, bad := time.Parse(time.RFC3339, text)
		if bad != nil {
			at, bad = time.Parse(time.DateOnly, text)
		}
		if bad != nil {
			err = invalid("WorkflowRun", "created", "invalid", "")
		}
		*side = at.Unix() + shift
	}
	low, high, both := strings.Cut(text, "..")
	switch {
	case text == "":
	case both:
		if low != "*" {
			set(&from, low, 0)
		}
		if high != "*" {
			set(&to, high, 0)
		}
	case strings.HasPrefix(text, ">="):
		set(&from, text[2:], 0)
	case strings.HasPrefix(text, ">"):
		set(&from, text[1:], 1)
	case strings.HasPrefix(text, "<="):
		set(&to, text[2:], 0)
	case strings.HasPrefix(text, "<"):
		set(&to, text[1:], -1)
	default:
		set(&from, text, 0)
		set(&to, text, 24*3600-1)
	}
	return from, to, err
}

func (s *Server) runNumbered(c call) (run, error) {
	id, err := c.number("id")
	if err != nil {
		return run{}, err
	}
	return one(c.Context(), s.db, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, id)
}

func (s *Server) run(c call) (answer, error) {
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	w, err := s.wireRun(c, r)
	return answer{status: http.StatusOK, body: w}, err
}

// cancelRun ends a queued run at once and asks a running one to end.
func (s *Server) cancelRun(c call) (answer, error) {
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	if err := s.cancelOne(c.Context(), r.id); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusAccepted, body: struct{}{}}, nil
}

func (s *Server) cancelOne(ctx context.Context, id int64) error {
	var queued, running int64
	err := s.tx(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE run SET status = 'completed', conclusion = 'cancelled', cancel = 1, updated = ?
			WHERE id = ? AND status = 'queued'`, s.now(), id)
		if err != nil {
			return err
		}
		asked, err := tx.ExecContext(ctx, `UPDATE run SET cancel = 1 WHERE id = ? AND status = 'in_progress'`, id)
		if err != nil {
			return err
		}
		queued, _ = done.RowsAffected()
		running, _ = asked.RowsAffected()
		return nil
	})
	switch {
	case err != nil:
		return err
	case queued+running == 0:
		return refuse(http.StatusConflict, "Cannot cancel a workflow run that is completed.")
	case running > 0:
		s.work.cancelRun(id)
	}
	s.work.wake()
	return nil
}
