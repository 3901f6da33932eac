package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/result/api"
)

// snapshot starts a read that sees one state of the database. It takes no
// write lock.
func (s *Store) snapshot(ctx context.Context) (*sql.Tx, error) {
	return s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
}

// KnownModel says whether a published point carries the display name.
func (s *Store) KnownModel(ctx context.Context, display string) (bool, error) {
	var known bool
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM points p JOIN workflow_runs r ON r.id = p.workflow_run_id WHERE p.display = ? AND r.published)`, display).Scan(&known)
	if err != nil {
		return false, fmt.Errorf("known model: %w", err)
	}
	return known, nil
}

// Benchmarks returns the published curves of a model (display name) in the
// public shape, ordered by configuration, workload and concurrency. A curve is
// the passed points of the newest run of its scope (model, hardware, framework,
// precision, type, workload; single-turn also spec method, disagg, offload):
// the newest of all, on or before date when one is given, or of exactly that
// date.
func (s *Store) Benchmarks(ctx context.Context, model, date string, exact bool) ([]api.BenchmarkRow, error) {
	condition, values := "p.display = ?", []any{model}
	switch {
	case date != "" && exact:
		condition, values = condition+" AND r.date = ?", append(values, date)
	case date != "":
		condition, values = condition+" AND r.date <= ?", append(values, date)
	}
	rows, err := s.curves(ctx, "", condition, "c.id, p.isl, p.osl, p.conc, p.id", values)
	if err != nil {
		return nil, fmt.Errorf("benchmarks: %w", err)
	}
	return rows, nil
}

// History selects the curves of every date.
type History struct {
	Model string // display name
	Type  string // benchmark type
	ISL   int    // both zero for agentic points
	OSL   int
}

// History returns the published curves of all dates, without the means and
// deviations of the latencies, ordered by date, configuration and concurrency.
func (s *Store) History(ctx context.Context, h History) ([]api.BenchmarkRow, error) {
	rows, err := s.curves(ctx, ", r.date", "p.display = ? AND p.benchmark_type = ? AND p.isl IS nullif(?, 0) AND p.osl IS nullif(?, 0)",
		"r.date, c.id, p.conc, p.id", []any{h.Model, h.Type, h.ISL, h.OSL})
	if err != nil {
		return nil, fmt.Errorf("benchmarks history: %w", err)
	}
	for _, row := range rows {
		for name := range row.Metrics {
			kind, family, _ := strings.Cut(name, "_")
			if kind == "mean" || kind == "std" {
				switch family {
				case "ttft", "tpot", "itl", "e2el", "intvty":
					delete(row.Metrics, name)
				}
			}
		}
	}
	return rows, nil
}

// scope are the columns of a curve. Agentic curves mix spec method, disagg and offload.
const scope = `c.model, c.hardware, c.framework, c.precision, p.benchmark_type, p.isl, p.osl,
	CASE WHEN p.benchmark_type = 'single_turn' THEN c.spec_method || ' ' || c.disagg || ' ' || p.offload_mode END`

// curves selects the passed points of the newest run in every scope (widened
// by extra partition columns).
func (s *Store) curves(ctx context.Context, partition, condition, order string, values []any) ([]api.BenchmarkRow, error) {
	query := `WITH ranked AS (
	SELECT p.id, dense_rank() OVER (PARTITION BY ` + scope + partition + `
		ORDER BY r.date DESC, r.run_started_at DESC NULLS LAST, r.id DESC) AS place
	FROM points p JOIN workflow_runs r ON r.id = p.workflow_run_id JOIN configs c ON c.id = p.config_id
	WHERE p.result = 'passed' AND r.published AND ` + latestAttempt + ` AND ` + condition + `)
SELECT p.id, p.benchmark_type, p.offload_mode, p.isl, p.osl, p.conc, p.image, p.fingerprint, p.metrics,
	r.date, r.html_url, r.run_attempt, r.id, r.run_started_at, p.family, p.key, p.image_digest, ` + prefixed("c.") + `
FROM ranked JOIN points p ON p.id = ranked.id JOIN workflow_runs r ON r.id = p.workflow_run_id JOIN configs c ON c.id = p.config_id
WHERE ranked.place = 1 ORDER BY ` + order
	rows, err := s.db.QueryContext(ctx, query, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []api.BenchmarkRow{}
	for rows.Next() {
		row, err := scanBenchmark(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

func scanBenchmark(rows *sql.Rows) (api.BenchmarkRow, error) {
	var b api.BenchmarkRow
	var metrics []byte
	var url string
	var attempt int
	var started sql.NullString
	fields := append([]any{(*int64)(&b.ID), &b.BenchmarkType, &b.OffloadMode, &b.ISL, &b.OSL, &b.Conc, &b.Image, &b.RecipeFingerprint, &metrics,
		&b.Date, &url, &attempt, (*int64)(&b.CurveWorkflowRunID), &started, &b.Family, &b.PointKey, &b.Digest}, configFields(&b.Config)...)
	if err := rows.Scan(fields...); err != nil {
		return b, err
	}
	if err := json.Unmarshal(metrics, &b.Metrics); err != nil {
		return b, fmt.Errorf("metrics: %w", err)
	}
	if url != "" {
		url = api.RunURL(url, attempt)
		b.RunURL = &url
	}
	b.CurveDate, b.CurveRunStartedAt = b.Date, spaced(started)
	if b.BenchmarkType == "agentic_traces" {
		id := b.CurveWorkflowRunID
		b.WorkflowRunID, b.RunStartedAt = &id, b.CurveRunStartedAt
	}
	return b, nil
}

// spaced spells a time as benchmark rows do: 2026-09-10 06:12:44+00.
func spaced(s sql.NullString) *string {
	t, err := time.Parse(time.RFC3339, s.String)
	if !s.Valid || err != nil {
		return nil
	}
	text := t.UTC().Format("2006-01-02 15:04:05") + "+00"
	return &text
}

func prefixed(alias string) string {
	names := strings.Split(configColumns, ",")
	for i, n := range names {
		names[i] = alias + strings.TrimSpace(n)
	}
	return strings.Join(names, ", ")
}
