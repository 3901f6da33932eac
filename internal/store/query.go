package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/result"
)

// Query selects rows; zero fields do not restrict.
type Query struct {
	Family      string
	Image       string
	Digest      string
	Fingerprint string
	Published   *bool
	RunID       int64
}

// where is the condition over a table with alias t joined with its run r.
func (q Query) where() (string, []any) {
	conditions, values := []string{"1"}, []any(nil)
	add := func(set bool, condition string, value any) {
		if set {
			conditions, values = append(conditions, condition), append(values, value)
		}
	}
	add(q.Family != "", "t.family = ?", q.Family)
	add(q.Image != "", "t.image = ?", q.Image)
	add(q.Digest != "", "t.image_digest = ?", q.Digest)
	add(q.Fingerprint != "", "t.fingerprint = ?", q.Fingerprint)
	add(q.RunID != 0, "r.github_run_id = ?", q.RunID)
	if q.Published != nil {
		add(true, "r.published = ?", *q.Published)
	}
	return strings.Join(conditions, " AND "), values
}

// oldestFirst orders by run, then as stored.
const oldestFirst = ` ORDER BY r.created_at, r.github_run_id, r.run_attempt, t.id`

// latestAttempt keeps the highest attempt of every run r.
const latestAttempt = `r.run_attempt = (SELECT max(run_attempt) FROM workflow_runs l WHERE l.github_run_id = r.github_run_id)`

// Points returns the rows of every run's latest attempt, whatever their
// result, oldest run first.
func (s *Store) Points(ctx context.Context, q Query) ([]result.Row, error) {
	where, values := q.where()
	rows, err := s.db.QueryContext(ctx, `SELECT t.body FROM points t JOIN workflow_runs r ON r.id = t.workflow_run_id WHERE `+latestAttempt+` AND `+where+oldestFirst, values...)
	if err != nil {
		return nil, fmt.Errorf("stored points: %w", err)
	}
	defer rows.Close()
	var out []result.Row
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("stored points: %w", err)
		}
		var row result.Row
		if err := json.Unmarshal([]byte(body), &row); err != nil {
			return nil, fmt.Errorf("stored points: row: %w", err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("stored points: %w", err)
	}
	return out, nil
}

// Evals returns the evals of every run's latest attempt with their answers,
// oldest run first.
func (s *Store) Evals(ctx context.Context, q Query) ([]result.EvalRow, error) {
	where, values := q.where()
	tx, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("stored evals: %w", err)
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, `SELECT t.id, t.body FROM evals t JOIN workflow_runs r ON r.id = t.workflow_run_id WHERE `+latestAttempt+` AND `+where+oldestFirst, values...)
	if err != nil {
		return nil, fmt.Errorf("stored evals: %w", err)
	}
	defer rows.Close()
	var out []result.EvalRow
	index := map[int64]int{}
	for rows.Next() {
		var id int64
		var body string
		if err := rows.Scan(&id, &body); err != nil {
			return nil, fmt.Errorf("stored evals: %w", err)
		}
		var e result.EvalRow
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			return nil, fmt.Errorf("stored evals: row: %w", err)
		}
		index[id] = len(out)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("stored evals: %w", err)
	}
	answers, err := tx.QueryContext(ctx, `SELECT a.eval_id, a.doc_id, a.question_digest, a.target, a.response, a.filtered, a.correct
		FROM eval_answers a JOIN evals t ON t.id = a.eval_id JOIN workflow_runs r ON r.id = t.workflow_run_id
		WHERE `+latestAttempt+` AND `+where+` ORDER BY a.eval_id, a.doc_id`, values...)
	if err != nil {
		return nil, fmt.Errorf("stored answers: %w", err)
	}
	defer answers.Close()
	for answers.Next() {
		var id int64
		var a eval.Answer
		if err := answers.Scan(&id, &a.DocID, &a.QuestionDigest, &a.Target, &a.Response, &a.Filtered, &a.Correct); err != nil {
			return nil, fmt.Errorf("stored answers: %w", err)
		}
		out[index[id]].Answers = append(out[index[id]].Answers, a)
	}
	if err := answers.Err(); err != nil {
		return nil, fmt.Errorf("stored answers: %w", err)
	}
	return out, nil
}
