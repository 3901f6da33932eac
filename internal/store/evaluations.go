package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/refit-bench/refit/internal/result/api"
)

// Evaluations returns all published evals, newest day first, then by hardware.
func (s *Store) Evaluations(ctx context.Context) ([]api.EvaluationRow, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT p.id, p.config_id, p.task, r.date, p.conc, p.metrics, r.created_at, r.html_url,
	p.isl, p.osl, p.image, p.fingerprint, p.family, p.key, p.image_digest, `+prefixed("c.")+`
FROM evals p JOIN workflow_runs r ON r.id = p.workflow_run_id JOIN configs c ON c.id = p.config_id
WHERE p.result = 'passed' AND r.published AND `+latestAttempt+` ORDER BY r.date DESC, c.hardware, r.id DESC, p.id`)
	if err != nil {
		return nil, fmt.Errorf("evaluations: %w", err)
	}
	defer rows.Close()
	out := []api.EvaluationRow{}
	for rows.Next() {
		var e api.EvaluationRow
		var metrics []byte
		var url string
		fields := append([]any{(*int64)(&e.ID), (*int64)(&e.ConfigID), &e.Task, &e.Date, &e.Conc, &metrics, &e.Timestamp, &url,
			&e.ISL, &e.OSL, &e.Image, &e.RecipeFingerprint, &e.Family, &e.PointKey, &e.Digest}, configFields(&e.Config)...)
		if err := rows.Scan(fields...); err != nil {
			return nil, fmt.Errorf("evaluations: %w", err)
		}
		if err := json.Unmarshal(metrics, &e.Metrics); err != nil {
			return nil, fmt.Errorf("evaluations: metrics: %w", err)
		}
		if url != "" {
			e.RunURL = &url
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("evaluations: %w", err)
	}
	return out, nil
}

// LatestImages returns the newest published image of each configuration and
// workload. Disaggregated and not are two configurations.
func (s *Store) LatestImages(ctx context.Context) ([]api.LatestImage, error) {
	rows, err := s.db.QueryContext(ctx, `WITH ranked AS (
	SELECT c.model, c.hardware, c.framework, c.precision, c.spec_method, c.disagg, p.isl, p.osl, p.benchmark_type, p.image, r.date,
		row_number() OVER (PARTITION BY c.model, c.hardware, c.framework, c.precision, c.spec_method, c.disagg, p.benchmark_type, p.isl, p.osl
			ORDER BY r.date DESC, r.run_started_at DESC NULLS LAST, r.id DESC, p.id DESC) AS place
	FROM points p JOIN workflow_runs r ON r.id = p.workflow_run_id JOIN configs c ON c.id = p.config_id
	WHERE p.result = 'passed' AND p.image <> '' AND r.published AND `+latestAttempt+`)
SELECT model, hardware, framework, precision, spec_method, disagg, isl, osl, benchmark_type, image, date
FROM ranked WHERE place = 1 ORDER BY model, hardware, framework, precision, spec_method, disagg, benchmark_type, isl, osl`)
	if err != nil {
		return nil, fmt.Errorf("latest images: %w", err)
	}
	defer rows.Close()
	out := []api.LatestImage{}
	for rows.Next() {
		var i api.LatestImage
		err := rows.Scan(&i.Model, &i.Hardware, &i.Framework, &i.Precision, &i.SpecMethod, &i.Disagg, &i.ISL, &i.OSL, &i.BenchmarkType, &i.Image, &i.Date)
		if err != nil {
			return nil, fmt.Errorf("latest images: %w", err)
		}
		out = append(out, i)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("latest images: %w", err)
	}
	return out, nil
}
