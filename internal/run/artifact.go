package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// artifacts writes the folders that become the artifacts of a run. Each has
// the name that its readers look for.
type artifacts struct {
	dir   string
	lines []result.Line
	bench map[string][]byte // agg_*.json
	evals map[string][]byte // set/file
	stats map[string]*stat  // by hardware
}

type stat struct {
	Success int `json:"n_success"`
	Total   int `json:"total"`
}

func (a *artifacts) write(name, file string, data []byte) error {
	err := os.MkdirAll(filepath.Join(a.dir, name), 0o755)
	if err == nil {
		err = workspace.WriteFile(filepath.Join(a.dir, name, file), data, 0o644)
	}
	if noRoom(err) {
		return &fullError{a.dir, err}
	}
	return err
}

// fullError says that the artifacts have no room. A run that cannot keep what
// it measures ends.
type fullError struct {
	dir string
	err error
}

func (f *fullError) Error() string {
	return fmt.Sprintf("no room for the artifacts in %s: %v", f.dir, f.err)
}
func (f *fullError) Unwrap() error { return f.err }

// plan writes what is expected, before anything is measured.
func (a *artifacts) plan(m result.Manifest, in intent) error {
	src, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if _, err := result.ParseManifest(src); err != nil {
		return err
	}
	if err := a.write(result.ManifestArtifact, result.ManifestFile, append(src, '\n')); err != nil {
		return err
	}
	if in.Plan.Head == "" { // no changelog was read
		return nil
	}
	src, err = in.Plan.MarshalJSON()
	if err != nil {
		return err
	}
	var plan struct {
		Metadata json.RawMessage `json:"changelog_metadata"`
	}
	if err := json.Unmarshal(src, &plan); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return a.write("changelog-metadata", "changelog_metadata.json", append(plan.Metadata, '\n'))
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

var errNoRows = errors.New("the job left no rows")

// logsOf is the folder with the logs of a job.
func logsOf(job Job) string { return "server_logs_" + job.Name }

// job keeps what a job left in out: its rows always, its results when they
// are valid, its logs always. ran is how it ended.
func (a *artifacts) job(job Job, out string, ran error) ([]result.Line, error) {
	if a.stats == nil {
		a.stats, a.bench, a.evals = map[string]*stat{}, map[string][]byte{}, map[string][]byte{}
	}
	s := a.stats[job.Row.Str("runner")]
	if s == nil {
		s = &stat{}
		a.stats[job.Row.Str("runner")] = s
	}
	s.Total++
	logs := a.logs(job, out)
	src, err := readResult(filepath.Join(out, result.RowsFile))
	if errors.Is(err, fs.ErrNotExist) { // it was killed, or had no room
		lines := job.lostLines(result.Failed, cmp.Or(text(ran), errNoRows.Error()))
		a.lines = append(a.lines, lines...)
		return lines, errors.Join(errNoRows, logs)
	}
	if err != nil {
		return nil, errors.Join(err, logs)
	}
	lines, err := result.ReadLines(bytes.NewReader(src))
	if err != nil {
		return nil, errors.Join(err, logs)
	}
	a.lines = append(a.lines, lines...)
	ok := true
	for _, l := range lines {
		switch {
		case l.Row != nil && l.Row.Result == result.Passed:
			err = errors.Join(err, a.benchmark(job, out))
		case l.Eval != nil && l.Eval.Result == result.Passed:
			err = errors.Join(err, a.eval(job, out))
		default:
			ok = false
		}
	}
	if ok && err == nil {
		s.Success++
	}
	return lines, errors.Join(err, logs)
}

func (a *artifacts) benchmark(job Job, out string) error {
	name := "agg_" + job.Name + ".json"
	src, err := readResult(filepath.Join(out, name))
	if err != nil {
		return err
	}
	a.bench[name] = src
	return a.write("bmk_"+job.Name, name, src)
}

func (a *artifacts) eval(job Job, out string) error {
	set := fileName("eval_" + job.Row.Str("exp-name") + "_" + job.Name)
	entries, err := os.ReadDir(filepath.Join(out, evalDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		src, err := readResult(filepath.Join(out, evalDir, e.Name()))
		if err != nil {
			return err
		}
		a.evals[set+"/"+e.Name()] = src
		if err := a.write(set, e.Name(), src); err != nil {
			return err
		}
	}
	return nil
}

// logs keeps the logs and the raw result: what a person looks at when the
// figures are strange.
func (a *artifacts) logs(job Job, out string) error {
	for _, name := range []string{"server.log", "recipe.log", "job.log", "job.json", endingFile, job.Name + ".json"} {
		src, err := tailOf(filepath.Join(out, name), maxLog) // the end tells more than the beginning
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = a.write(logsOf(job), name, job.hideSecrets(src))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish writes the collections over all jobs.
func (a *artifacts) finish() error {
	var rows bytes.Buffer
	if err := result.WriteLines(&rows, a.lines); err != nil {
		return err
	}
	if err := a.write(result.RowsArtifact, result.RowsFile, rows.Bytes()); err != nil {
		return err
	}
	if len(a.bench) > 0 {
		src, err := result.CollectBenchmarks(a.bench)
		if err != nil {
			return err
		}
		if err := a.write("results_bmk", "agg_bmk.json", src); err != nil {
			return err
		}
	}
	if len(a.evals) > 0 {
		src, err := result.CollectEvals(a.evals)
		if err != nil {
			return err
		}
		if err := a.write("eval_results_all", "agg_eval_all.json", src); err != nil {
			return err
		}
	}
	if a.stats == nil {
		a.stats = map[string]*stat{}
	}
	src, err := json.MarshalIndent(a.stats, "", "  ")
	if err != nil {
		return err
	}
	return a.write("run-stats", "run_stats.json", src)
}
