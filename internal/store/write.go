package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
)

// writer inserts the rows of one run inside its transaction.
type writer struct {
	ctx context.Context
	tx  *sql.Tx
	run int64
	sum *IngestSummary
}

func (w writer) points(rows []result.Row) error {
	for _, row := range rows {
		as, err := result.PublishedAs(row.Plan)
		if err != nil {
			return fmt.Errorf("family %s: point %s: %w", row.Family, row.Label, err)
		}
		config, err := w.config(as.Config)
		if err != nil {
			return fmt.Errorf("family %s: point %s: %w", row.Family, row.Label, err)
		}
		metrics, err := json.Marshal(row.Metrics)
		if err != nil {
			return fmt.Errorf("family %s: point %s: metrics: %w", row.Family, row.Label, err)
		}
		body, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("family %s: point %s: %w", row.Family, row.Label, err)
		}
		_, err = w.tx.ExecContext(w.ctx, `INSERT INTO points (workflow_run_id, config_id, family, key, fingerprint, image, image_digest, display,
			benchmark_type, offload_mode, isl, osl, conc, result, metrics, body) VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			w.run, config, row.Family, row.Key, row.Fingerprint, row.Image, row.Digest, as.Display,
			as.BenchmarkType, as.OffloadMode, as.ISL, as.OSL, row.Conc, row.Result, string(metrics), string(body))
		if err != nil {
			return fmt.Errorf("family %s: point %s: insert: %w", row.Family, row.Label, err)
		}
		w.sum.Points++
	}
	return nil
}

func (w writer) evals(evals []result.EvalRow, rows []result.Row) error {
	for _, e := range evals {
		plan, err := planOf(e, rows)
		if err != nil {
			return fmt.Errorf("family %s: eval %s: %w", e.Family, e.Label, err)
		}
		id, err := w.eval(e, plan)
		if err != nil {
			return fmt.Errorf("family %s: eval %s: %w", e.Family, e.Label, err)
		}
		if err := w.answers(id, e); err != nil {
			return fmt.Errorf("family %s: eval %s: %w", e.Family, e.Label, err)
		}
		w.sum.Evals++
	}
	return nil
}

// planOf is the plan of an eval's point: its own, else that of the point's row
// in the same run.
func planOf(e result.EvalRow, rows []result.Row) (matrix.Row, error) {
	if len(e.Plan.Names()) > 0 {
		return e.Plan, nil
	}
	for _, r := range rows {
		if r.Family == e.Family && r.Key == e.Key {
			return r.Plan, nil
		}
	}
	return matrix.Row{}, errors.New("it has no plan row and its point was not measured in this run")
}

func (w writer) eval(e result.EvalRow, plan matrix.Row) (int64, error) {
	as, err := result.PublishedAs(plan)
	if err != nil {
		return 0, err
	}
	config, err := w.config(as.Config)
	if err != nil {
		return 0, err
	}
	metrics, err := json.Marshal(e.PublicMetrics())
	if err != nil {
		return 0, fmt.Errorf("metrics: %w", err)
	}
	bare := e
	bare.Answers = nil
	body, err := json.Marshal(bare)
	if err != nil {
		return 0, err
	}
	res, err := w.tx.ExecContext(w.ctx, `INSERT INTO evals (workflow_run_id, config_id, family, key, fingerprint, image, image_digest,
		isl, osl, conc, task, metric, result, metrics, body) VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?)`,
		w.run, config, e.Family, e.Key, e.Fingerprint, e.Image, e.Digest, as.ISL, as.OSL, e.Conc,
		e.Suite, e.Metric, e.Result, string(metrics), string(body))
	if err != nil {
		return 0, fmt.Errorf("insert: %w", err)
	}
	return res.LastInsertId()
}

func (w writer) answers(id int64, e result.EvalRow) error {
	insert, err := w.tx.PrepareContext(w.ctx, `INSERT INTO eval_answers (eval_id, doc_id, question_digest, target, response, filtered, correct) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return fmt.Errorf("answers: %w", err)
	}
	defer insert.Close()
	for _, a := range e.Answers {
		if _, err := insert.ExecContext(w.ctx, id, a.DocID, a.QuestionDigest, a.Target, a.Response, a.Filtered, a.Correct); err != nil {
			return fmt.Errorf("answer %d: insert: %w", a.DocID, err)
		}
		w.sum.Answers++
	}
	return nil
}

// config finds or makes the row of a configuration.
func (w writer) config(c api.Config) (int64, error) {
	values := []any{c.Hardware, c.Framework, c.Model, c.Precision, c.SpecMethod, c.Disagg, c.IsMultinode,
		c.PrefillTP, c.PrefillEP, c.PrefillDPAttention, c.PrefillNumWorkers,
		c.DecodeTP, c.DecodeEP, c.DecodeDPAttention, c.DecodeNumWorkers, c.NumPrefillGPU, c.NumDecodeGPU}
	_, err := w.tx.ExecContext(w.ctx, `INSERT INTO configs (`+configColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, values...)
	if err != nil {
		return 0, fmt.Errorf("configuration: %w", err)
	}
	var id int64
	err = w.tx.QueryRowContext(w.ctx, `SELECT id FROM configs WHERE (`+configColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, values...).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("configuration: %w", err)
	}
	return id, nil
}

const configColumns = `hardware, framework, model, precision, spec_method, disagg, is_multinode,
	prefill_tp, prefill_ep, prefill_dp_attention, prefill_num_workers,
	decode_tp, decode_ep, decode_dp_attention, decode_num_workers, num_prefill_gpu, num_decode_gpu`

// configFields are the places for configColumns, in order.
func configFields(c *api.Config) []any {
	return []any{&c.Hardware, &c.Framework, &c.Model, &c.Precision, &c.SpecMethod, &c.Disagg, &c.IsMultinode,
		&c.PrefillTP, &c.PrefillEP, &c.PrefillDPAttention, &c.PrefillNumWorkers,
		&c.DecodeTP, &c.DecodeEP, &c.DecodeDPAttention, &c.DecodeNumWorkers, &c.NumPrefillGPU, &c.NumDecodeGPU}
}
