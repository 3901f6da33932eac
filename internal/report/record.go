package report

import "time"

// Prose is one public sentence in two languages.
type Prose struct {
	EN string `json:"en"`
	ZH string `json:"zh,omitempty"`
}

// Values are the published numbers of a point. Times are milliseconds; nil is
// unknown, which is never zero.
type Values struct {
	TotalTPSGPU      *float64 `json:"total-tps-gpu"`
	OutputTPSGPU     *float64 `json:"output-tps-gpu"`
	TTFTms           *float64 `json:"ttft-ms"`
	TPOTms           *float64 `json:"tpot-ms"`
	LatencyStatistic string   `json:"latency-statistic"` // mean | median
	RequestErrors    *int     `json:"request-errors"`
}

// Provenance says which run a number comes from; nil is unknown.
type Provenance struct {
	RunID      *int64  `json:"run-id"`
	Head       *string `json:"head"` // 40 hex
	RunAttempt *int    `json:"run-attempt"`
}

// Point is one measured point of a report.
type Point struct {
	Key      string  `json:"key"` // matrix.Point.Key, 64 hex
	Label    string  `json:"label"`
	Conc     int     `json:"conc"`
	Scenario string  `json:"scenario"` // fixed-seq-len | agentic-coding
	Dataset  *string `json:"dataset"`
	Values   Values  `json:"values"`
	Result   string  `json:"result"` // passed | failed | cancelled | pending | unavailable
	Provenance
}

// Evaluation is one accuracy score of a report. Score is 0..1.
type Evaluation struct {
	Key     string   `json:"key"`
	Suite   string   `json:"suite"`
	Metric  string   `json:"metric"`
	Label   string   `json:"label"`
	Score   *float64 `json:"score"`
	Samples *int     `json:"samples"`
	Result  string   `json:"result"` // passed | failed | unavailable
	Provenance
}

// Author says who or what prepared a record.
type Author struct {
	Kind      string   `json:"kind"` // person | program | agent
	Models    []string `json:"models"`
	Delegates []string `json:"delegates"`
}

// Baseline is the frozen record of the old image's published numbers.
type Baseline struct {
	Family     string       `json:"family"`
	Date       string       `json:"date"` // YYYY-MM-DD
	Image      string       `json:"image"`
	Goal       Prose        `json:"goal"`
	Sources    []string     `json:"sources"`
	Points     []Point      `json:"points"`
	Evals      []Evaluation `json:"evals"`
	Status     Prose        `json:"status"`
	PreparedBy Author       `json:"prepared-by"`
}

// Job says where one job of an attempt ran.
type Job struct {
	Name   string `json:"name"`
	Runner string `json:"runner"`
}

// Argument is an effective server argument that differs from the recipe, and
// the rule that explains it.
type Argument struct {
	Name      string `json:"name"`
	Recipe    string `json:"recipe"`
	Effective string `json:"effective"`
	Rule      string `json:"rule"`
}

// Evidence is what was seen besides the numbers. Empty fields were not seen.
type Evidence struct {
	Jobs           []Job      `json:"jobs,omitempty"`
	RequestsDone   *int       `json:"requests-done,omitempty"`
	RequestsFailed *int       `json:"requests-failed,omitempty"`
	Arguments      []Argument `json:"arguments,omitempty"`
	FirstError     string     `json:"first-error,omitempty"`
	Benign         []string   `json:"benign,omitempty"`
	Power          string     `json:"power,omitempty"`
}

// Attempt is the record of one run of benchmarks for a candidate.
type Attempt struct {
	Kind               string       `json:"kind"`   // initial | repair | infrastructure-retry | final
	Number             int          `json:"number"` // initial 0; repair 1..budget
	Head               string       `json:"head"`
	Image              string       `json:"image"`
	RunID              *int64       `json:"run-id"`
	RunAttempt         *int         `json:"run-attempt"`
	Status             string       `json:"status"` // queued | running | passed | failed | cancelled | deferred
	Change             Prose        `json:"change"`
	Finding            *Prose       `json:"finding,omitempty"`
	Next               Prose        `json:"next"`
	BenchmarksExpected int          `json:"benchmarks-expected"`
	BenchmarksPassed   int          `json:"benchmarks-passed"`
	EvalsExpected      int          `json:"evals-expected"`
	EvalsPassed        int          `json:"evals-passed"`
	Points             []Point      `json:"points"`
	Evals              []Evaluation `json:"evals"`
	UpdatedAt          time.Time    `json:"updated-at"`
	PreparedBy         Author       `json:"prepared-by"`
	Evidence           *Evidence    `json:"evidence,omitempty"`
}

// Receipt is the verified, durable proof of a candidate's outcome.
type Receipt struct {
	Candidate   string    `json:"candidate"`
	Family      string    `json:"family"`
	Outcome     string    `json:"outcome"`
	Phase       string    `json:"phase"` // resolve | baseline | targeted | final-sweep | cleanup | unknown
	PullRequest int       `json:"pull-request"`
	RunIDs      []int64   `json:"run-ids"`
	RepairsUsed int       `json:"repairs-used"`
	Reason      string    `json:"reason,omitempty"` // failures in the baseline phase: one code
	Head        string    `json:"head"`
	MeasuredAt  string    `json:"measured-at,omitempty"` // head of the certified run when it is an earlier one
	Origins     []Origin  `json:"origins,omitempty"`     // of the figures, when several attempts of the run measured them
	Digest      string    `json:"digest,omitempty"`      // sha256:... of the image that was measured
	Marks       []string  `json:"marks,omitempty"`       // for example "inconclusive"
	Finished    time.Time `json:"finished"`
}

// Cleanup is the record of an unsuccessful end that is being carried out.
type Cleanup struct {
	Candidate   string    `json:"candidate"`
	Family      string    `json:"family"`
	Outcome     string    `json:"outcome"`
	Phase       string    `json:"phase"`
	PullRequest int       `json:"pull-request"`
	Head        string    `json:"head"`
	Branch      string    `json:"branch"` // kept | deleted
	Why         Prose     `json:"why"`
	Started     time.Time `json:"started"`
}
