package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
)

var _ candidate.Ledger = (*Store)(nil)

// Receipts returns the receipts of a candidate, oldest first.
func (s *Store) Receipts(ctx context.Context, id string) ([]candidate.Receipt, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT candidate, step, subject, by, at, evidence FROM receipts WHERE candidate = ? ORDER BY seq`, id)
	if err != nil {
		return nil, fmt.Errorf("receipts of %s: %w", id, err)
	}
	defer rows.Close()
	var out []candidate.Receipt
	for rows.Next() {
		var r candidate.Receipt
		var at string
		var evidence []byte
		if err := rows.Scan(&r.Candidate, &r.Step, &r.Subject, &r.By, &at, &evidence); err != nil {
			return nil, fmt.Errorf("receipts of %s: %w", id, err)
		}
		if r.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return nil, fmt.Errorf("receipts of %s: %w", id, err)
		}
		r.Evidence = evidence
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("receipts of %s: %w", id, err)
	}
	return out, nil
}

// Append adds a receipt. Receipts can be neither edited nor removed.
func (s *Store) Append(ctx context.Context, r candidate.Receipt) error {
	if r.Candidate == "" || r.Step == "" {
		return fmt.Errorf("append receipt: candidate and step are required")
	}
	var evidence any
	if len(r.Evidence) > 0 {
		if !json.Valid(r.Evidence) {
			return fmt.Errorf("append receipt %s of %s: evidence is not JSON", r.Step, r.Candidate)
		}
		evidence = string(r.Evidence)
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO receipts (candidate, step, subject, by, at, evidence) VALUES (?, ?, ?, ?, ?, ?)`,
		r.Candidate, r.Step, r.Subject, r.By, r.At.UTC().Format(time.RFC3339Nano), evidence)
	if err != nil {
		return fmt.Errorf("append receipt %s of %s: %w", r.Step, r.Candidate, err)
	}
	return nil
}

// SaveCandidate keeps the last computed state of a candidate for lists.
func (s *Store) SaveCandidate(ctx context.Context, c candidate.Summary) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("save candidate %s: %w", c.ID, err)
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO candidates (id, created, body) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET created = excluded.created, body = excluded.body`,
		c.ID, c.Created.UTC().Format(sortable), string(body))
	if err != nil {
		return fmt.Errorf("save candidate %s: %w", c.ID, err)
	}
	return nil
}

// sortable is a time whose text sorts like the time.
const sortable = "2006-01-02T15:04:05.000000000Z"

// Candidates returns the saved states, newest candidate first.
func (s *Store) Candidates(ctx context.Context) ([]candidate.Summary, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT body FROM candidates ORDER BY created DESC, id`)
	if err != nil {
		return nil, fmt.Errorf("saved candidates: %w", err)
	}
	defer rows.Close()
	var out []candidate.Summary
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("saved candidates: %w", err)
		}
		var c candidate.Summary
		if err := json.Unmarshal(body, &c); err != nil {
			return nil, fmt.Errorf("saved candidates: %w", err)
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("saved candidates: %w", err)
	}
	return out, nil
}
