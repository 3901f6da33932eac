// Package run turns points into measurements: it plans what an event asks for,
// starts each point as a job, owns the processes of a job to the last one, and
// leaves artifacts. It holds no verdicts: whether a number is good enough is
// somebody else's question.
package run

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// ErrSkipped says that an event asks for no sweep; the error around it has the
// reason.
var ErrSkipped = errors.New("skipped")

// JobVersion is the version of job.json written by this program.
const JobVersion = 1

// DefaultTimeLimit is the reference's limit of a single-node job.
const DefaultTimeLimit = 500 * time.Minute

// Job is one point on one machine: one engine start, then throughput, then its
// eval. It is the content of job.json.
type Job struct {
	Version     int               `json:"version"`
	Name        string            `json:"name"` // RESULT_FILENAME
	Family      string            `json:"family"`
	Key         string            `json:"key"`
	Fingerprint string            `json:"fingerprint"`
	Label       string            `json:"label"`
	Row         matrix.Row        `json:"row"`
	Throughput  bool              `json:"throughput"`
	Eval        bool              `json:"eval"`
	Image       string            `json:"image"`
	Digest      string            `json:"digest"`
	Root        string            `json:"root"`     // unpacked image
	Weights     string            `json:"weights"`  // MODEL_PATH, "" = the engine fetches them
	Env         []string          `json:"env"`      // of the image and of jobs.env, NAME=value
	Checkout    string            `json:"checkout"` // the job's own copy of the commit, absolute
	Script      string            `json:"script"`   // relative to Checkout, with slashes
	Out         string            `json:"out"`      // absolute
	Provenance  result.Provenance `json:"provenance"`
	EvalTask    string            `json:"eval-task"`
	EvalData    string            `json:"eval-data"` // relative to Checkout or absolute
	EvalSHA256  string            `json:"eval-sha256"`
	TimeLimit   time.Duration     `json:"time-limit-ns"` // 0 = DefaultTimeLimit
}

// Deps is what a job needs from outside.
type Deps struct {
	Refit  string    // path of this binary
	Stdout io.Writer // one line per step, for people
	Stderr io.Writer // all that the recipe says
	Now    func() time.Time
	Grace  time.Duration // between TERM and KILL; 0 = 10 s
}

// maxJobFile bounds job.json.
const maxJobFile = 4 << 20

// LoadJob reads a job.json strictly.
func LoadJob(path string) (Job, error) {
	src, err := workspace.ReadFile(path, maxJobFile)
	if err != nil {
		return Job{}, fmt.Errorf("job: %w", err)
	}
	var j Job
	if err := workspace.DecodeStrict(src, &j); err != nil {
		return Job{}, fmt.Errorf("job: %s: %w", path, err)
	}
	if err := j.check(); err != nil {
		return Job{}, fmt.Errorf("job: %s: %w", path, err)
	}
	return j, nil
}

// check holds what a job must say before anything is started for it.
func (j Job) check() error {
	switch {
	case j.Version != JobVersion:
		return fmt.Errorf("version %d, this program runs %d", j.Version, JobVersion)
	case j.Name == "" || strings.ContainsAny(j.Name, "/\x00\n") || j.Name[0] == '.' || j.Name[0] == '-':
		return fmt.Errorf("name %q is no file name", j.Name)
	case !j.Throughput && !j.Eval:
		return errors.New("neither throughput nor eval is asked for")
	case !filepath.IsAbs(j.Checkout) || !filepath.IsAbs(j.Out):
		return errors.New("checkout and out must be absolute paths")
	case !filepath.IsLocal(filepath.FromSlash(j.Script)):
		return fmt.Errorf("script %q does not lie in the checkout", j.Script)
	case j.Row.Has("prefill"):
		return errors.New("a multi-node point cannot run on one machine")
	case j.Row.Int("conc") < 1:
		return errors.New("the row has no single concurrency")
	}
	for _, kv := range j.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.ContainsRune(kv, 0) {
			return fmt.Errorf("environment %q: want NAME=value", name)
		}
	}
	return nil
}
