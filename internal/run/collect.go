package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// maxResult bounds each result file of a job.
const maxResult = 256 << 20

// scoreFile is where `refit eval` leaves the score with its answers.
const scoreFile = "refit_score.json"

// missing says that a result was not left.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// collect takes the job's files out of the checkout and makes its rows. What
// is missing or wrong becomes a problem and a row with the result lost, never
// no row.
func (j Job) collect(env map[string]string, lost string, end *Ending) error {
	j.keepLog("server.log", end)
	j.keepLog("gpu_metrics.csv", end)
	var lines []result.Line
	if j.Throughput {
		row, err := j.throughput(env)
		if err != nil {
			row.Result = lost
			end.add(err)
		}
		if end.Death != nil && end.Death.Phase == loadPhase { // what it measured is kept
			row.Result = lost
		}
		lines = append(lines, result.Line{Kind: result.KindRow, Row: &row})
	}
	if j.Eval {
		row, err := j.eval()
		if err != nil {
			row.Result, row.Score, row.StdErr = lost, nil, nil
			end.add(err)
		}
		lines = append(lines, result.Line{Kind: result.KindEval, Eval: &row})
	}
	if why := end.problem(); why != nil {
		explain(lines, j.redactor().hideText(why.Error()))
	}
	var b bytes.Buffer
	if err := result.WriteLines(&b, lines); err != nil {
		return err
	}
	return workspace.WriteFile(filepath.Join(j.Out, result.RowsFile), b.Bytes(), 0o644)
}

// explain says in lost rows why they are.
func explain(lines []result.Line, why string) {
	for _, l := range lines {
		if l.Row != nil && l.Row.Result != result.Passed {
			l.Row.Health.Reasons = append(l.Row.Health.Reasons, strings.ReplaceAll(why, "\n", "; "))
		}
	}
}

// keepLog copies a log's end, with secrets hidden, when there is one.
func (j Job) keepLog(name string, end *Ending) {
	src, err := j.redactor().tail(filepath.Join(j.Checkout, name), maxLog)
	if err == nil {
		err = workspace.WriteFile(filepath.Join(j.Out, name), src, 0o644)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		end.add(fmt.Errorf("keep %s: %w", name, err))
	}
}

// emptyRow is the row of the point before anything is known about it.
func (j Job) emptyRow() result.Row {
	return result.Row{
		Family: j.Family, Key: j.Key, Fingerprint: j.Fingerprint, Image: j.Image, Digest: j.Digest, Label: j.Label,
		Conc: j.Row.Int("conc"), ISL: j.Row.Int("isl"), OSL: j.Row.Int("osl"), Scenario: cmp.Or(j.Row.Str("scenario-type"), matrix.Fixed),
		Result: result.Passed, Plan: j.Row, Provenance: j.Provenance,
		Health: bench.Health{Verdict: bench.Unknown, Reasons: []string{"no result"}, DelaySource: "none"},
	}
}

// emptyEval is the same of the eval.
func (j Job) emptyEval() result.EvalRow {
	return result.EvalRow{
		Family: j.Family, Key: j.Key, Fingerprint: j.Fingerprint, Image: j.Image, Digest: j.Digest, Label: j.Label,
		Conc: j.Row.Int("conc"), Suite: cmp.Or(j.EvalTask, defaultTask), Metric: eval.Metric, Result: result.Passed,
		Plan: j.Row, Provenance: j.Provenance,
	}
}

// defaultTask is the eval of a workspace that names none.
const defaultTask = "gsm8k"

// lostLines are the rows of a job that left none, because of why.
func (j Job) lostLines(lost, why string) []result.Line {
	var lines []result.Line
	if j.Throughput {
		row := j.emptyRow()
		row.Result = lost
		lines = append(lines, result.Line{Kind: result.KindRow, Row: &row})
	}
	if j.Eval {
		row := j.emptyEval()
		row.Result = lost
		lines = append(lines, result.Line{Kind: result.KindEval, Eval: &row})
	}
	explain(lines, why)
	return lines
}

// throughput makes the row of the raw result file.
func (j Job) throughput(env map[string]string) (result.Row, error) {
	row := j.emptyRow()
	raw, err := readResult(filepath.Join(j.Checkout, j.Name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return row, missing("recipe left no " + j.Name + ".json")
	}
	if err != nil {
		return row, fmt.Errorf("throughput result: %w", err)
	}
	if err := workspace.WriteFile(filepath.Join(j.Out, j.Name+".json"), raw, 0o644); err != nil {
		return row, err
	}
	if err := readCounts(raw, &row); err != nil {
		return row, err
	}
	agg, metrics, err := result.Normalise(raw, env)
	if err != nil {
		return row, fmt.Errorf("normalise the throughput result: %w", err)
	}
	row.Agg, row.Metrics = json.RawMessage(agg), metrics
	if err := workspace.WriteFile(filepath.Join(j.Out, "agg_"+j.Name+".json"), agg, 0o644); err != nil {
		return row, err
	}
	if t := (bench.Totals{Completed: row.Requests - *row.RequestErrors, Failed: *row.RequestErrors}); !t.Passed() {
		return row, fmt.Errorf("%d of %d requests failed", t.Failed, row.Requests)
	}
	return row, nil
}

// readCounts takes what the aggregate has no key for out of the raw file.
func readCounts(raw []byte, row *result.Row) error {
	n, err := result.CountsOf(raw)
	if err != nil {
		return fmt.Errorf("throughput result: %w", err)
	}
	if n.Conc != row.Conc {
		return fmt.Errorf("throughput result: not measured at concurrency %d", row.Conc)
	}
	failed := n.Requests - n.Completed
	row.Requests, row.RequestErrors = n.Requests, &failed
	health, err := bench.HealthOf(raw)
	row.Health = health
	return err
}

// eval makes the row of the score that `refit eval` left.
func (j Job) eval() (result.EvalRow, error) {
	row := j.emptyEval()
	set, err := j.keepEval()
	if err != nil {
		return row, err
	}
	src, err := readResult(filepath.Join(j.Checkout, scoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return row, missing("eval left no score")
	}
	if err != nil {
		return row, fmt.Errorf("eval result: %w", err)
	}
	var score eval.Score
	if err := json.Unmarshal(src, &score); err != nil {
		return row, fmt.Errorf("eval result: %w", err)
	}
	if score.Samples == 0 || score.Samples != len(score.Answers) {
		return row, fmt.Errorf("eval result: %d samples and %d answers", score.Samples, len(score.Answers))
	}
	row.Suite, row.Metric, row.Samples, row.Answers = score.Task, score.Metric, score.Samples, score.Answers
	row.Score = &score.Score
	if score.Samples > 1 {
		row.StdErr = &score.StdErr
	}
	row.Agg, err = firstOf(set)
	return row, err
}

// keepEval copies the eval's files into one set and returns it.
func (j Job) keepEval() (map[string][]byte, error) {
	set := map[string][]byte{}
	if err := os.MkdirAll(filepath.Join(j.Out, evalDir), 0o755); err != nil {
		return nil, err
	}
	for _, pattern := range []string{"meta_env.json", "results*.json", "sample*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(j.Checkout), pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			src, err := readResult(path)
			if err != nil {
				return nil, fmt.Errorf("eval result: %w", err)
			}
			name := filepath.Base(path)
			set[name] = src
			if err := workspace.WriteFile(filepath.Join(j.Out, evalDir, name), src, 0o644); err != nil {
				return nil, err
			}
		}
	}
	if len(set) == 0 {
		return nil, missing("eval left no files")
	}
	return set, nil
}

// evalDir is the folder of a job's output that holds the eval's files.
const evalDir = "eval"

// firstOf is the aggregate row of an eval set.
func firstOf(set map[string][]byte) (json.RawMessage, error) {
	all, err := result.CollectEvals(set)
	if err != nil {
		return nil, err
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(all, &rows); err != nil {
		return nil, fmt.Errorf("aggregate of the eval: %w", err)
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("aggregate of the eval: %d rows, want 1", len(rows))
	}
	return rows[0], nil
}

// readResult reads a regular file of bounded size.
func readResult(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxResult {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", filepath.Base(path), maxResult)
	}
	return workspace.ReadFile(path, maxResult) // it may have grown
}

// tailOf reads the last bytes of a regular file.
func tailOf(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(max(info.Size()-most, 0), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, most))
}

func escapeGlob(path string) string {
	var b bytes.Buffer
	for _, c := range []byte(path) {
		if bytes.IndexByte([]byte(`*?[\`), c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
