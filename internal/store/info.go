package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/refit-bench/refit/internal/result/api"
)

// WorkflowInfo returns the published, concluded runs of a day (YYYY-MM-DD),
// what their changelogs selected and which run measured what at which head. A
// day without runs has four empty lists.
func (s *Store) WorkflowInfo(ctx context.Context, date string) (api.WorkflowInfo, error) {
	info := api.WorkflowInfo{Runs: []api.WorkflowRun{}, Changelogs: []api.Changelog{}, Configs: []api.WorkflowConfig{}, RunConfigs: []api.RunConfig{}}
	tx, err := s.snapshot(ctx)
	if err != nil {
		return info, fmt.Errorf("workflow info %s: %w", date, err)
	}
	defer tx.Rollback()
	for _, read := range []func(context.Context, *sql.Tx, string, *api.WorkflowInfo) error{readRuns, readRunConfigs} {
		if err := read(ctx, tx, date, &info); err != nil {
			return info, fmt.Errorf("workflow info %s: %w", date, err)
		}
	}
	return info, nil
}

const publishedOn = `r.published AND r.conclusion IS NOT NULL AND r.date = ? AND ` + latestAttempt

func readRuns(ctx context.Context, tx *sql.Tx, date string, info *api.WorkflowInfo) error {
	rows, err := tx.QueryContext(ctx, `SELECT r.github_run_id, r.name, r.conclusion, r.run_attempt, r.html_url, r.created_at, r.date,
	r.base_sha, r.head_sha, r.config_keys, r.description, r.pr_link
FROM workflow_runs r WHERE `+publishedOn+` ORDER BY r.created_at, r.id`, date)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var run api.WorkflowRun
		var log api.Changelog
		var keys []byte
		var link string
		err := rows.Scan((*int64)(&run.GitHubRunID), &run.Name, &run.Conclusion, &run.RunAttempt, &run.HTMLURL, &run.CreatedAt, &run.Date,
			&log.BaseRef, &log.HeadRef, &keys, &log.Description, &link)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(keys, &log.ConfigKeys); err != nil {
			return fmt.Errorf("config keys: %w", err)
		}
		if link != "" {
			log.PRLink = &link
		}
		info.Runs = append(info.Runs, run)
		if len(log.ConfigKeys) > 0 {
			log.WorkflowRunID, log.Date = run.GitHubRunID, run.Date
			info.Changelogs = append(info.Changelogs, log)
		}
	}
	return rows.Err()
}

// readRunConfigs derives from the data, not from the changelog, what was measured.
func readRunConfigs(ctx context.Context, tx *sql.Tx, date string, info *api.WorkflowInfo) error {
	rows, err := tx.QueryContext(ctx, `SELECT DISTINCT r.github_run_id, ifnull(r.run_started_at, r.created_at), r.html_url, r.head_sha,
	c.model, c.precision, c.hardware, c.framework, c.spec_method, c.disagg, p.benchmark_type, p.isl, p.osl
FROM points p JOIN workflow_runs r ON r.id = p.workflow_run_id JOIN configs c ON c.id = p.config_id
WHERE p.result = 'passed' AND `+publishedOn+`
ORDER BY r.created_at, r.id, c.model, p.isl, p.osl, c.precision, c.hardware, c.framework, c.spec_method, c.disagg`, date)
	if err != nil {
		return err
	}
	defer rows.Close()
	type shape struct {
		api.WorkflowConfig
		isl, osl int
	}
	seen := map[shape]bool{}
	for rows.Next() {
		var c api.RunConfig
		err := rows.Scan((*int64)(&c.GitHubRunID), &c.RunStartedAt, &c.HTMLURL, &c.HeadSHA,
			&c.Model, &c.Precision, &c.Hardware, &c.Framework, &c.SpecMethod, &c.Disagg, &c.BenchmarkType, &c.ISL, &c.OSL)
		if err != nil {
			return err
		}
		info.RunConfigs = append(info.RunConfigs, c)
		w := api.WorkflowConfig{Model: c.Model, Precision: c.Precision, Hardware: c.Hardware, Framework: c.Framework, SpecMethod: c.SpecMethod, Disagg: c.Disagg}
		k := shape{w, length(c.ISL), length(c.OSL)}
		if !seen[k] {
			seen[k] = true
			w.ISL, w.OSL = c.ISL, c.OSL
			info.Configs = append(info.Configs, w)
		}
	}
	return rows.Err()
}

func length(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
