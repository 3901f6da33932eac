package local

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// A pull is a pull request between two branches of the repository.
type pull struct {
	id                                 int64
	number                             int
	nodeID, title, body, state         string
	draft                              bool
	headRef, headSHA, baseRef, baseSHA string
	author, mergedBy, mergeSHA         string
	created, updated, closed, merged   int64 // seconds; 0 = not
	labels                             []label
}

const pullColumns = `number, id, node_id, title, body, state, draft, head_ref, head_sha, base_ref, base_sha,
	author, created, updated, closed, merged, merged_by, merge_sha`

func scanPull(r *sql.Rows) (pull, error) {
	var p pull
	return p, r.Scan(&p.number, &p.id, &p.nodeID, &p.title, &p.body, &p.state, &p.draft, &p.headRef, &p.headSHA, &p.baseRef,
		&p.baseSHA, &p.author, &p.created, &p.updated, &p.closed, &p.merged, &p.mergedBy, &p.mergeSHA)
}

func (p pull) open() bool { return p.state == "open" }

func (p pull) has(name string) bool {
	for _, l := range p.labels {
		if strings.EqualFold(l.name, name) {
			return true
		}
	}
	return false
}

// findPulls returns pull requests with their labels, newest first.
func (s *Server) findPulls(ctx context.Context, where string, args ...any) ([]pull, error) {
	found, err := rows(ctx, s.db, scanPull, `SELECT `+pullColumns+` FROM pull WHERE `+where+` ORDER BY number DESC`, args...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].labels, err = rows(ctx, s.db, scanLabel, `SELECT l.id, l.name, l.color, l.description FROM pull_label p
			JOIN label l ON l.name = p.name WHERE p.pull = ? ORDER BY p.rowid`, found[i].number)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// findPull returns one pull request; none is a 404.
func (s *Server) findPull(ctx context.Context, where string, args ...any) (pull, error) {
	found, err := s.findPulls(ctx, where, args...)
	if err == nil && len(found) == 0 {
		err = errNotFound
	}
	if err != nil {
		return pull{}, err
	}
	return found[0], nil
}

func (s *Server) pullNumbered(c call) (pull, error) {
	n, err := c.number("number")
	if err != nil {
		return pull{}, err
	}
	return s.findPull(c.Context(), `number = ?`, n)
}

// savePull writes the fields that may change.
func (s *Server) savePull(ctx context.Context, tx *sql.Tx, p pull) error {
	_, err := tx.ExecContext(ctx, `UPDATE pull SET title = ?, body = ?, state = ?, draft = ?, head_sha = ?, base_sha = ?,
		updated = ?, closed = ?, merged = ?, merged_by = ?, merge_sha = ? WHERE number = ?`,
		p.title, p.body, p.state, p.draft, p.headSHA, p.baseSHA, p.updated, p.closed, p.merged, p.mergedBy, p.mergeSHA, p.number)
	return err
}

func (s *Server) pulls(c call) (answer, error) {
	q := c.URL.Query()
	where, args := "1", []any{}
	switch state := q.Get("state"); state {
	case "", "open":
		where += ` AND state = 'open'`
	case "closed":
		where += ` AND state = 'closed'`
	case "all":
	default:
		return answer{}, invalid("PullRequest", "state", "invalid", "")
	}
	if head := q.Get("head"); head != "" {
		owner, branch, _ := strings.Cut(head, ":")
		where += ` AND head_ref = ? AND lower(?) = lower(?)`
		args = append(args, branch, owner, s.repo.Owner)
	}
	if base := q.Get("base"); base != "" {
		where, args = where+` AND base_ref = ?`, append(args, base)
	}
	found, err := s.findPulls(c.Context(), where, args...)
	if err != nil {
		return answer{}, err
	}
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return listing(c, found, func(p pull) wirePull { return s.wirePull(c.links, p) })
}

func (s *Server) pull(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	w, err := s.fullPull(c.Context(), c.links, p)
	if err != nil {
		return answer{}, err
	}
	if p.open() {
		w.mergeState(s.mergeable(c.Context(), p))
	}
	return ok(w)
}
