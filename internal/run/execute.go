package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// Ending is how a job ended, by both accounts: the recipe's exit code, which
// recipes and launchers lose, and the files, which say more.
type Ending struct {
	ExitCode int      `json:"exit-code"` // of the recipe; -1 when it was killed or never started
	Said     string   `json:"said"`      // the last line of its output that speaks of an error
	Problems []string `json:"problems"`  // with processes and files, empty when all is well
	Port     int      `json:"port"`
}

// Execute runs a job to its end, whatever that is: no process of the job is
// left. An error means that the job has no valid result; what there is lies in
// job.Out all the same: job.json, ending.json, rows.jsonl, the raw and
// aggregated result, the eval's files, server.log, recipe.log.
func Execute(ctx context.Context, job Job, d Deps) error {
	if err := job.check(); err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	if d.Grace == 0 {
		d.Grace = 10 * time.Second
	}
	if err := job.prepare(); err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	port, err := freePort()
	if err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	env := contract(job, port)
	job.Provenance.Started = d.Now().UTC()
	end := Ending{ExitCode: -1, Port: port, Problems: []string{}}
	if err := job.recipe(ctx, d, env, &end); err != nil {
		end.Problems = append(end.Problems, err.Error())
	}
	job.Provenance.Ended = d.Now().UTC()
	lost := result.Failed
	if ctx.Err() != nil {
		lost = result.Cancelled
	}
	if err := job.collect(env, lost, &end); err != nil {
		end.Problems = append(end.Problems, err.Error())
	}
	if err := writeJSON(filepath.Join(job.Out, endingFile), end); err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("job %s: %w", job.Name, context.Cause(ctx))
	}
	if err := end.problem(); err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	return nil
}

// endingFile is where a job's ending is recorded.
const endingFile = "ending.json"

// problem is nil when both accounts say that all is well.
func (e Ending) problem() error {
	var all []error
	if e.ExitCode != 0 {
		all = append(all, fmt.Errorf("recipe ended with exit code %d%s", e.ExitCode, because(e.Said)))
	}
	for _, p := range e.Problems {
		all = append(all, errors.New(p))
	}
	return errors.Join(all...)
}

// prepare makes the job's folders, records it and puts the seam in.
func (j Job) prepare() error {
	for _, dir := range []string{j.Out, j.home(), j.temp()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	shown := j
	shown.Env = slices.Clone(j.Env)
	for i, kv := range shown.Env {
		shown.Env[i] = string(j.hideSecrets([]byte(kv)))
	}
	if err := writeJSON(filepath.Join(j.Out, "job.json"), shown); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(j.Checkout, filepath.FromSlash(j.Script))); err != nil {
		return fmt.Errorf("recipe: %w", err)
	}
	if j.Provenance.Client != OwnClient {
		return nil
	}
	return sew(j.Checkout)
}

// Load clients that a job can have.
const (
	OwnClient    = "refit"
	RecipeClient = "recipe"
)

// recipe runs the bash recipe and ends whatever it started.
func (j Job) recipe(ctx context.Context, d Deps, contract map[string]string, end *Ending) error {
	limit := j.TimeLimit
	if limit == 0 {
		limit = DefaultTimeLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("time limit of %v is over", limit))
	defer cancel()
	log, err := os.Create(filepath.Join(j.Out, "recipe.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	mark := fmt.Sprintf("%s-%d-%d", j.Key, os.Getpid(), d.Now().UnixNano())
	g, err := startGroup(mark)
	if err != nil {
		return err
	}
	cmd := exec.Command("bash", filepath.FromSlash(j.Script))
	cmd.Dir, cmd.Env = j.Checkout, j.environment(contract, d.Refit, mark)
	last := &tail{most: 16 << 10}
	said := io.MultiWriter(&bounded{w: log, left: maxLog}, last, orDiscard(d.Stderr))
	fmt.Fprintf(orDiscard(d.Stdout), "engine starts on port %d\n", end.Port)
	err = g.runInto(ctx, cmd, said, d.Grace)
	if cmd.ProcessState != nil {
		end.ExitCode = cmd.ProcessState.ExitCode()
	}
	if end.ExitCode != 0 {
		end.Said = string(j.hideSecrets([]byte(last.complaint())))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) { // the exit code says it
		err = nil
	}
	return errors.Join(err, released(end.Port, d.Grace))
}

// maxLog bounds each log of a job.
const maxLog = 64 << 20

// bounded passes on what fits and drops the rest.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if _, err := b.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return workspace.WriteFile(path, append(b, '\n'), 0o644)
}
