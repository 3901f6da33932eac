package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// Ending is how a job ended, by both accounts: the recipe's exit code, which
// recipes and launchers lose, and the files, which say more.
type Ending struct {
	ExitCode int      `json:"exit-code"`         // of the recipe; -1 when it was killed or never started
	Said     string   `json:"said"`              // the last line of its output that speaks of an error
	Death    *Death   `json:"death,omitempty"`   // of the engine, when it came before its time
	Told     string   `json:"told,omitempty"`    // why the job was told to end, when it was
	Full     string   `json:"full,omitempty"`    // there was no room for a file of the job
	Missing  []string `json:"missing,omitempty"` // what the recipe should have left
	Problems []string `json:"problems"`          // with processes and files, empty when all is well
	Port     int      `json:"port"`
}

// Execute runs a job to its end, whatever that is: no process of the job is
// left, and neither are its home and temporary folders. An error means that
// the job has no valid result; what there is lies in job.Out all the same:
// job.json, ending.json, rows.jsonl, the raw and aggregated result, the eval's
// files, server.log, recipe.log.
func Execute(ctx context.Context, job Job, d Deps) error {
	if err := job.check(); err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	if d.Grace == 0 {
		d.Grace = 10 * time.Second
	}
	// Whoever read this process's output may be gone. It has to go on for as
	// long as it takes to end the job.
	deaf := make(chan os.Signal, 1)
	signal.Notify(deaf, syscall.SIGPIPE)
	defer signal.Stop(deaf)
	if recipe.IsDeclared(job.Script) { // it has no client of its own
		job.Provenance.Client = OwnClient
	}
	made, err := job.prepare()
	defer func() {
		for _, dir := range made {
			if err := os.RemoveAll(dir); err != nil {
				fmt.Fprintf(orDiscard(d.Stderr), "job %s: leave nothing behind: %v\n", job.Name, err)
			}
		}
	}()
	if err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	if err := job.run(ctx, d); err != nil {
		return fmt.Errorf("job %s: %w", job.Name, err)
	}
	return nil
}

// run measures and collects.
func (j Job) run(ctx context.Context, d Deps) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	env := contract(j, port)
	j.Provenance.Started = d.Now().UTC()
	end := Ending{ExitCode: -1, Port: port, Problems: []string{}}
	if err := j.measure(ctx, d, env, &end); err != nil {
		end.add(err)
	}
	j.Provenance.Ended = d.Now().UTC()
	lost := result.Failed
	if ctx.Err() != nil {
		lost, end.Told = result.Cancelled, context.Cause(ctx).Error()
	}
	if err := j.collect(env, lost, &end); err != nil {
		end.add(err)
	}
	end.hide(j.redactor())
	if err := writeJSON(filepath.Join(j.Out, endingFile), end); err != nil {
		end.add(err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return end.problem()
}

// endingFile is where a job's ending is recorded.
const endingFile = "ending.json"

// add notes what went wrong with processes and files. A file that is not there
// is a result that was not left.
func (e *Ending) add(err error) {
	if e.Full == "" && noRoom(err) {
		e.Full = err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Missing = append(e.Missing, err.Error())
		return
	}
	e.Problems = append(e.Problems, err.Error())
}

// hide hides secrets in everything that was said.
func (e *Ending) hide(r *redactor) {
	e.Said, e.Full, e.Told = r.hideText(e.Said), r.hideText(e.Full), r.hideText(e.Told)
	for _, list := range [][]string{e.Missing, e.Problems} {
		for i, text := range list {
			list[i] = r.hideText(text)
		}
	}
	if e.Death != nil {
		e.Death = &Death{e.Death.Phase, r.hideText(e.Death.Line)}
	}
}

// problem is nil when both accounts say that all is well. A full disk,
// a word from outside and a dead engine explain what else is wrong.
func (e Ending) problem() error {
	switch {
	case e.Full != "":
		return full("no room for the files of the job: " + e.Full)
	case e.Told != "":
		return errors.New("job told to end: " + e.Told)
	}
	var all []error
	switch {
	case e.Death != nil:
		all = append(all, e.Death)
	case e.ExitCode != 0:
		all = append(all, fmt.Errorf("recipe ended with exit code %d%s", e.ExitCode, because(e.Said)))
	}
	for _, p := range e.Problems {
		all = append(all, errors.New(p))
	}
	if len(all) == 0 { // else that is why
		for _, m := range e.Missing {
			all = append(all, errors.New(m))
		}
	}
	return errors.Join(all...)
}

// full is an error for lack of room, as it was written down.
type full string

func (f full) Error() string        { return string(f) }
func (f full) Is(target error) bool { return target == syscall.ENOSPC }

func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// prepare makes the job's folders, records it and puts the seam in. It returns
// the folders that did not exist and are to go again.
func (j Job) prepare() (made []string, err error) {
	if err := os.MkdirAll(j.Out, 0o755); err != nil {
		return nil, err
	}
	for _, dir := range []string{j.home(), j.temp()} {
		switch err := os.Mkdir(dir, 0o755); {
		case err == nil:
			made = append(made, dir)
		case !errors.Is(err, fs.ErrExist):
			return made, err
		}
	}
	shown := j
	shown.Env = slices.Clone(j.Env)
	for i, kv := range shown.Env {
		shown.Env[i] = string(j.hideSecrets([]byte(kv)))
	}
	if err := writeJSON(filepath.Join(j.Out, "job.json"), shown); err != nil {
		return made, err
	}
	if _, err := os.Stat(filepath.Join(j.Checkout, filepath.FromSlash(j.Script))); err != nil {
		return made, fmt.Errorf("recipe: %w", err)
	}
	if j.Provenance.Client != OwnClient || recipe.IsDeclared(j.Script) {
		return made, nil
	}
	return made, sew(j.Checkout)
}

// Load clients that a job can have.
const (
	OwnClient    = "refit"
	RecipeClient = "recipe"
)

// measure runs the recipe and ends whatever it started.
func (j Job) measure(ctx context.Context, d Deps, contract map[string]string, end *Ending) error {
	limit := j.TimeLimit
	if limit == 0 {
		limit = DefaultTimeLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("time limit of %v is over", limit))
	defer cancel()
	file, err := os.Create(filepath.Join(j.Out, "recipe.log"))
	if err != nil {
		return err
	}
	log := &bounded{w: file, left: maxLog}
	s := session{Job: j, deps: d, contract: contract, mark: j.mark(d.Now()), end: end, last: &tail{most: 16 << 10}}
	if s.group, err = startGroup(s.mark); err != nil {
		return errors.Join(err, file.Close())
	}
	s.group.below = adopt()
	fmt.Fprintf(orDiscard(d.Stdout), "engine starts on port %d\n", end.Port)
	work := s.bash
	if recipe.IsDeclared(j.Script) {
		work = s.declared
	}
	// Secrets go before anything is cut, because a part of one is one.
	said := j.redactor().writer(io.MultiWriter(log, s.last, &bounded{w: orDiscard(d.Stderr), left: maxLog}))
	err = s.group.within(said, d.Grace, func(out *os.File) error { return work(ctx, out) })
	_ = said.Close() // the writers behind it keep their own mistakes
	errors.As(err, &end.Death)
	if end.ExitCode != 0 && end.Said == "" {
		end.Said = s.last.complaint()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) || end.Death != nil { // told by the exit code and the death
		err = nil
	}
	return errors.Join(err, log.err, file.Close(), leftPort(end.Port, d.Grace))
}

// mark is what the job's processes carry. It continues that of this process,
// by which whoever started it finds them all.
func (j Job) mark(now time.Time) string {
	own := fmt.Sprintf("%.16s-%d-%d", j.Key, os.Getpid(), now.UnixNano())
	if outer := os.Getenv(markName); outer != "" {
		return outer + "." + own
	}
	return own
}

// session is one run of a recipe.
type session struct {
	Job
	deps     Deps
	group    *group
	contract map[string]string
	mark     string
	end      *Ending
	last     *tail // of the output
}

// bash runs a bash recipe, which does everything itself.
func (s session) bash(ctx context.Context, out *os.File) error {
	cmd := exec.Command("bash", filepath.FromSlash(s.Script))
	cmd.Dir, cmd.Env = s.Checkout, s.environment(s.contract, s.deps.Refit, s.mark)
	s.group.join(cmd, out)
	err := s.group.run(ctx, cmd, s.deps.Grace)
	if cmd.ProcessState == nil {
		return err
	}
	s.end.ExitCode = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && ctx.Err() == nil {
		s.end.Said = "it was ended by the signal: " + status.Signal().String()
	}
	var death *Death // looked for before the group is ended, which ends engines too
	if src, lost := readResult(s.deathFile()); ctx.Err() == nil && lost == nil && json.Unmarshal(src, &death) == nil && death != nil {
		return death
	}
	return err
}

// deathFile is where the seam says how the engine died.
func (j Job) deathFile() string { return filepath.Join(j.home(), ".refit-death.json") }

// maxLog bounds each log of a job.
const maxLog = 64 << 20

// bounded passes on what fits and drops the rest. It never fails: a recipe
// must not stop because its log cannot be written. err is the first mistake.
type bounded struct {
	w    io.Writer
	left int
	err  error
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if b.err == nil {
		_, b.err = b.w.Write(p[:n])
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
