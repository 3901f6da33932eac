// Package result holds what was measured: rows with their provenance, the
// manifest of what a run was expected to measure, the normaliser and the
// collectors that make the published files, and the baseline taken from a
// results feed. It knows nothing of thresholds.
package result

import (
	"encoding/json"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/matrix"
)

// The results a row can have.
const (
	Passed      = "passed"
	Failed      = "failed"
	Cancelled   = "cancelled"
	Pending     = "pending"
	Unavailable = "unavailable"
)

// Provenance says which workflow run and which machine made a row.
type Provenance struct {
	RunID   int64     `json:"run-id"`
	Attempt int       `json:"run-attempt"`
	Head    string    `json:"head"` // 40 hex
	Branch  string    `json:"branch,omitempty"`
	Event   string    `json:"event,omitempty"`
	Runner  string    `json:"runner,omitempty"`
	Client  string    `json:"client,omitempty"` // "refit" or the name of a recipe's own client
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
}

// Row is one measured throughput point. (Family, Key) names the point;
// Fingerprint and Digest name what was measured. Metrics carry the names and
// units (seconds, tokens per second) of the aggregate file.
type Row struct {
	Family        string             `json:"family"`
	Key           string             `json:"key"`
	Fingerprint   string             `json:"fingerprint"`
	Image         string             `json:"image"`
	Digest        string             `json:"digest"`
	Label         string             `json:"label"`
	Conc          int                `json:"conc"`
	ISL           int                `json:"isl"`
	OSL           int                `json:"osl"`
	Scenario      string             `json:"scenario"` // matrix.Fixed or matrix.Agentic
	Result        string             `json:"result"`   // Passed, Failed, ...
	Metrics       map[string]float64 `json:"metrics"`
	Requests      int                `json:"requests"`
	RequestErrors *int               `json:"request-errors"` // nil is unknown, never zero
	Health        bench.Health       `json:"health"`
	Agg           json.RawMessage    `json:"agg,omitempty"`
	Plan          matrix.Row         `json:"plan"`
	Provenance    Provenance         `json:"provenance"`
}

// EvalRow is one evaluation of a point: a score in 0..1 and, when the run kept
// them, the answers behind it.
type EvalRow struct {
	Family      string          `json:"family"`
	Key         string          `json:"key"`
	Fingerprint string          `json:"fingerprint"`
	Image       string          `json:"image"`
	Digest      string          `json:"digest"`
	Label       string          `json:"label"`
	Conc        int             `json:"conc"`
	Suite       string          `json:"suite"`
	Metric      string          `json:"metric"`
	Score       *float64        `json:"score"`
	StdErr      *float64        `json:"std-err"`
	Samples     int             `json:"samples"`
	Result      string          `json:"result"`
	Agg         json.RawMessage `json:"agg,omitempty"`
	Plan        matrix.Row      `json:"plan"` // of the point; may be empty when the point's Row is in the same run
	Answers     []eval.Answer   `json:"answers,omitempty"`
	Provenance  Provenance      `json:"provenance"`
}

// PublicMetrics are the eval's numbers under their public names.
func (e EvalRow) PublicMetrics() map[string]float64 {
	m := map[string]float64{}
	var agg map[string]any
	if json.Unmarshal(e.Agg, &agg) == nil {
		for _, name := range []string{"em_strict", "em_strict_se", "em_flexible", "em_flexible_se"} {
			if v, ok := agg[name].(float64); ok {
				m[name] = v
			}
		}
	}
	if e.Score != nil {
		m[e.Metric] = *e.Score
	}
	if e.StdErr != nil {
		m[e.Metric+"_se"] = *e.StdErr
	}
	if e.Samples > 0 {
		m["n_eff"] = float64(e.Samples)
	}
	return m
}

// Run is what a finished workflow run published, read from its artifacts.
type Run struct {
	Manifest Manifest
	Rows     []Row
	Evals    []EvalRow
}
