package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// CI is one workflow run: what `refit ci run-sweep` and `refit ci e2e-tests` do.
type CI struct {
	Name    string // run-sweep | e2e-tests
	Event   []byte // GitHub-shaped payload
	Repo    workspace.Repo
	Config  workspace.Config // used when the base branch has no refit.yaml
	Images  image.Library
	Cache   image.Cache
	Site    Site   // of this machine
	Out     string // each directory directly below becomes an artifact
	Refit   string // path of this binary
	RunID   int64
	Attempt int
	Log     io.Writer
	Now     func() time.Time

	Checkout string        // repository to use when Repo is empty
	Work     string        // folder for the folders of jobs; empty = the system's temporary folder
	Grace    time.Duration // of jobs that are told to end
}

// placed is an image that is ready to run.
type placed struct {
	Image image.Image
	Root  string
	Env   []string
}

// Run decides, plans, measures and writes the artifacts. The error is around
// ErrSkipped when the event asks for no sweep. A failed job fails the run, yet
// the other jobs run and every artifact is written.
func (c CI) Run(ctx context.Context) error {
	if c.Repo.Dir == "" {
		c.Repo.Dir = c.Checkout
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	in, err := c.intend(ctx)
	if err != nil {
		return fmt.Errorf("ci %s: %w", c.Name, err)
	}
	for _, w := range in.Plan.Warnings {
		fmt.Fprintf(c.Log, "warning: %s\n", w)
	}
	if err := c.measure(ctx, in); err != nil {
		return fmt.Errorf("ci %s: %w", c.Name, err)
	}
	return nil
}

// measure runs the jobs of a plan, one after another.
func (c CI) measure(ctx context.Context, in intent) error {
	todo, err := c.check(ctx, in)
	if err != nil {
		return err
	}
	images, err := c.place(ctx, in)
	if err != nil {
		return err
	}
	a := artifacts{dir: c.Out}
	if err := a.plan(manifest(c, in, images), in); err != nil {
		return err
	}
	work, release, err := workDir(c.Work)
	if err != nil {
		return err
	}
	defer release()
	local := Local{Refit: c.Refit, Repo: c.Repo, Dir: work, Grace: c.Grace}
	var failed []error
	broken := map[string]bool{} // families that fail-fast ended
	for i, t := range todo {
		if ctx.Err() != nil {
			failed = append(failed, context.Cause(ctx))
			break
		}
		say := func(line string) { fmt.Fprintf(c.Log, "[%d/%d] %s: %s\n", i+1, len(todo), t.title(), line) }
		if broken[t.Family.ID] {
			say("not measured, an earlier point of the family failed")
			continue
		}
		err := c.job(ctx, in, t, images[t.Family.Entry.Image], local, filepath.Join(work, fmt.Sprintf("out-%d", i)), &a, say)
		if err != nil {
			failed = append(failed, err)
			broken[t.Family.ID] = in.FailFast
		}
		if errors.As(err, new(*fullError)) {
			_ = a.finish() // the rows may be what there is room for; that there is none is said
			return errors.Join(failed...)
		}
	}
	return errors.Join(append(failed, a.finish())...)
}

// check lists the jobs and refuses, before anything is started, what would
// fail for lack of a recipe.
func (c CI) check(ctx context.Context, in intent) ([]task, error) {
	tree, err := c.Repo.FS(ctx, in.Head)
	if err != nil {
		return nil, err
	}
	defer closeTree(tree)
	cat, _, err := c.catalogue(ctx, in)
	if err != nil {
		return nil, err
	}
	var todo []task
	for _, p := range in.Plan.Families {
		weights, err := c.Site.Weights(cat.Runners, p.Family.Entry)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Family.ID, err)
		}
		for _, t := range tasks(p) {
			if t.Family.Entry.Multinode {
				return nil, fmt.Errorf("%s: multi-node families cannot run on one machine", t.Family.ID)
			}
			t.Weights = weights
			script, err := t.script(tree)
			if err != nil {
				return nil, err
			}
			if err := t.verify(tree, script); err != nil {
				return nil, fmt.Errorf("%s: %w", t.title(), err)
			}
			todo = append(todo, t)
		}
	}
	if len(todo) == 0 {
		return nil, errors.New("the plan has no points")
	}
	return todo, nil
}

func closeTree(tree fs.FS) {
	if t, ok := tree.(io.Closer); ok {
		_ = t.Close() // only ends a reading process
	}
}

func (t task) script(tree fs.FS) (string, error) {
	script, _, err := recipe.ScriptPath(tree, t.Family.Entry, t.Point.Settings().Scenario, t.Point.Row.Str("spec-decoding"))
	if err != nil {
		return "", fmt.Errorf("%s: %w", t.Family.ID, err)
	}
	return script, nil
}

// place resolves and unpacks every image of the plan, once each.
func (c CI) place(ctx context.Context, in intent) (map[string]placed, error) {
	images := map[string]placed{}
	for _, p := range in.Plan.Families {
		name := p.Family.Entry.Image
		if _, ok := images[name]; ok {
			continue
		}
		ref, err := image.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Family.ID, err)
		}
		img, err := c.Images.Resolve(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Family.ID, err)
		}
		root, err := c.Cache.Root(ctx, img)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Family.ID, err)
		}
		images[name] = placed{Image: img, Root: root, Env: c.Cache.Env(img)}
	}
	return images, nil
}

// job runs one task and keeps what it left.
func (c CI) job(ctx context.Context, in intent, t task, p placed, local Local, out string, a *artifacts, say func(string)) error {
	tree, err := c.Repo.FS(ctx, in.Head)
	if err != nil {
		return err
	}
	script, err := t.script(tree)
	closeTree(tree)
	if err != nil {
		return err
	}
	runner := fileName(t.Point.Row.Str("runner")) + "_local"
	job := Job{
		Version: JobVersion, Name: resultName(t.Point.Row, t.Point.Fingerprint, runner),
		Family: t.Family.ID, Key: t.Point.Key, Fingerprint: t.Point.Fingerprint, Label: t.Point.Label(), Row: t.Point.Row,
		Throughput: t.Throughput, Eval: t.Eval, Image: t.Family.Entry.Image, Digest: p.Image.Digest, Root: p.Root, Weights: t.Weights,
		Env: append(passed(in.Config.Jobs.Env), p.Env...), Script: script,
		Provenance: result.Provenance{RunID: c.RunID, Attempt: c.Attempt, Head: in.Head, Branch: in.Branch, Event: in.Event,
			Runner: runner, Client: cmp.Or(in.Config.Jobs.Client, OwnClient)},
		EvalTask: in.Config.Evals.Task, EvalData: in.Config.Evals.Data.Path, EvalSHA256: in.Config.Evals.Data.SHA256,
	}
	ran := local.Run(ctx, job, in.Head, out, say)
	lines, err := a.job(job, out, ran)
	if ran == nil || !errors.Is(err, errNoRows) { // why there are none is known then
		ran = errors.Join(ran, err)
	}
	if noRoom := new(fullError); errors.As(err, &noRoom) { // everything else is because of it
		ran = noRoom
	}
	if ran != nil {
		say("failed: " + strings.ReplaceAll(ran.Error(), "\n", "; "))
		if _, err := os.Stat(filepath.Join(c.Out, logsOf(job))); err == nil {
			say("its logs: artifact " + logsOf(job))
		}
		return fmt.Errorf("%s: %w", t.title(), ran)
	}
	say(sentence(lines))
	return nil
}

// passed is the part of this process's environment that jobs.env lets through.
func passed(names []string) []string {
	env := []string{}
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
