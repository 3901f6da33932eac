// Package api holds the wire types of the public results API and the one
// bounded client that reads it. The server writes the same types.
package api

import "encoding/json"

// ID is a 64-bit id. On the wire it is a decimal string; numbers are accepted.
type ID int64

// Config is the identity of a measured configuration: the store's 17 columns.
type Config struct {
	Hardware           string `json:"hardware"`
	Framework          string `json:"framework"`
	Model              string `json:"model"`
	Precision          string `json:"precision"`
	SpecMethod         string `json:"spec_method"`
	Disagg             bool   `json:"disagg"`
	IsMultinode        bool   `json:"is_multinode"`
	PrefillTP          int    `json:"prefill_tp"`
	PrefillEP          int    `json:"prefill_ep"`
	PrefillDPAttention bool   `json:"prefill_dp_attention"`
	PrefillNumWorkers  int    `json:"prefill_num_workers"`
	DecodeTP           int    `json:"decode_tp"`
	DecodeEP           int    `json:"decode_ep"`
	DecodeDPAttention  bool   `json:"decode_dp_attention"`
	DecodeNumWorkers   int    `json:"decode_num_workers"`
	NumPrefillGPU      int    `json:"num_prefill_gpu"`
	NumDecodeGPU       int    `json:"num_decode_gpu"`
}

// BenchmarkRow is one row of /benchmarks. Metrics are seconds and tokens per
// second. Family, PointKey and Digest are this program's own additions.
type BenchmarkRow struct {
	ID ID `json:"id"`
	Config
	BenchmarkType       string             `json:"benchmark_type"`
	OffloadMode         string             `json:"offload_mode"`
	ISL                 *int               `json:"isl"`
	OSL                 *int               `json:"osl"`
	Conc                int                `json:"conc"`
	Image               *string            `json:"image"`
	RecipeFingerprint   *string            `json:"recipe_fingerprint"`
	Metrics             map[string]float64 `json:"metrics"`
	Workers             json.RawMessage    `json:"workers"`
	PowerInvalidReasons json.RawMessage    `json:"power_invalid_reasons"`
	PowerAudit          json.RawMessage    `json:"power_audit"`
	Date                string             `json:"date"`
	WorkflowRunID       *ID                `json:"workflow_run_id,omitempty"`
	RunStartedAt        *string            `json:"run_started_at,omitempty"`
	RunURL              *string            `json:"run_url"`
	CurveDate           string             `json:"curve_date"`
	CurveWorkflowRunID  ID                 `json:"curve_workflow_run_id"`
	CurveRunStartedAt   *string            `json:"curve_run_started_at"`
	Family              string             `json:"family,omitempty"`
	PointKey            string             `json:"point_key,omitempty"`
	Digest              string             `json:"digest,omitempty"`
}

// WorkflowInfo answers /workflow-info: the runs of one day.
type WorkflowInfo struct {
	Runs       []WorkflowRun    `json:"runs"`
	Changelogs []Changelog      `json:"changelogs"`
	Configs    []WorkflowConfig `json:"configs"`
	RunConfigs []RunConfig      `json:"runConfigs"`
}

// WorkflowRun is a concluded run, its latest attempt.
type WorkflowRun struct {
	GitHubRunID ID     `json:"github_run_id"`
	Name        string `json:"name"`
	Conclusion  string `json:"conclusion"`
	RunAttempt  int    `json:"run_attempt"`
	HTMLURL     string `json:"html_url"`
	CreatedAt   string `json:"created_at"`
	Date        string `json:"date"`
}

// Changelog is what a run's changelog selected; WorkflowRunID is the forge's run id.
type Changelog struct {
	WorkflowRunID ID       `json:"workflow_run_id"`
	Date          string   `json:"date"`
	BaseRef       string   `json:"base_ref"`
	HeadRef       string   `json:"head_ref"`
	ConfigKeys    []string `json:"config_keys"`
	Description   string   `json:"description"`
	PRLink        *string  `json:"pr_link"`
}

// WorkflowConfig is a workload and stack that was measured on the day.
type WorkflowConfig struct {
	Model      string `json:"model"`
	ISL        *int   `json:"isl"`
	OSL        *int   `json:"osl"`
	Precision  string `json:"precision"`
	Hardware   string `json:"hardware"`
	Framework  string `json:"framework"`
	SpecMethod string `json:"spec_method"`
	Disagg     bool   `json:"disagg"`
}

// RunConfig says which run measured which configuration, and at which head.
type RunConfig struct {
	GitHubRunID   ID     `json:"github_run_id"`
	RunStartedAt  string `json:"run_started_at"`
	HTMLURL       string `json:"html_url"`
	HeadSHA       string `json:"head_sha"`
	Model         string `json:"model"`
	Precision     string `json:"precision"`
	Hardware      string `json:"hardware"`
	Framework     string `json:"framework"`
	SpecMethod    string `json:"spec_method"`
	Disagg        bool   `json:"disagg"`
	BenchmarkType string `json:"benchmark_type"`
	ISL           *int   `json:"isl"`
	OSL           *int   `json:"osl"`
}

// EvaluationRow is one row of /evaluations. ISL, OSL, Image, Family, PointKey
// and RecipeFingerprint are this program's own additions.
type EvaluationRow struct {
	ID       ID `json:"id"`
	ConfigID ID `json:"config_id"`
	Config
	Task              string             `json:"task"`
	Date              string             `json:"date"`
	Conc              *int               `json:"conc"`
	Metrics           map[string]float64 `json:"metrics"`
	Timestamp         string             `json:"timestamp"`
	RunURL            *string            `json:"run_url"`
	ISL               *int               `json:"isl,omitempty"`
	OSL               *int               `json:"osl,omitempty"`
	Image             *string            `json:"image,omitempty"`
	RecipeFingerprint *string            `json:"recipe_fingerprint,omitempty"`
	Family            string             `json:"family,omitempty"`
	PointKey          string             `json:"point_key,omitempty"`
	Digest            string             `json:"digest,omitempty"`
}

// LatestImage is the newest published image of a configuration and workload.
type LatestImage struct {
	Model         string `json:"model"`
	Hardware      string `json:"hardware"`
	Framework     string `json:"framework"`
	Precision     string `json:"precision"`
	SpecMethod    string `json:"spec_method"`
	Disagg        bool   `json:"disagg"`
	ISL           *int   `json:"isl"`
	OSL           *int   `json:"osl"`
	BenchmarkType string `json:"benchmark_type"`
	Image         string `json:"image"`
	Date          string `json:"date"`
}

// FrameworkReleases maps a framework to the tag of its newest release; null
// when that is not known.
type FrameworkReleases map[string]*string

// ErrorBody is the body of every refusal.
type ErrorBody struct {
	Error string `json:"error"`
}
