package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// declared runs a declarative recipe: start the engine, wait for it, load it,
// ask it questions. Whoever calls ends the engine.
func (s session) declared(ctx context.Context, out *os.File) error {
	err := s.steps(ctx, out)
	s.end.ExitCode = 0
	if err == nil {
		return nil
	}
	s.end.ExitCode = 1
	var death *Death
	if ctx.Err() != nil || errors.As(err, &death) {
		return err
	}
	s.end.Said = s.redactor().hideText(err.Error())
	return nil
}

func (s session) steps(ctx context.Context, out *os.File) error {
	src, err := workspace.ReadFile(filepath.Join(s.Checkout, filepath.FromSlash(s.Script)), maxRecipe)
	if err != nil {
		return err
	}
	d, err := recipe.ParseDeclared(src, s.Script)
	if err != nil {
		return err
	}
	engine, err := s.startEngine(d)
	if err != nil {
		return err
	}
	log, err := newEngineLog(s.serverLog(), d.Ready.Fatal, s.redactor())
	if err != nil {
		return err
	}
	r := readiness{port: s.end.Port, engine: engine, log: log, timeout: d.Ready.Timeout, every: readyEvery, health: d.Ready.Path}
	took, err := r.wait(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "engine ready after %.1f s\n", took.Seconds())
	w := watch{engine: engine, log: log, patience: patience}
	if s.Throughput {
		if err := s.beside(ctx, out, w, loadPhase, s.load(d.Workload)); err != nil {
			return err
		}
	}
	if s.Eval {
		return s.beside(ctx, out, w, evalPhase, s.questions(d.Eval))
	}
	return nil
}

// beside runs a client for as long as the engine lives.
func (s session) beside(ctx context.Context, out *os.File, w watch, phase string, args []string) error {
	cmd := exec.Command(s.deps.Refit, args...)
	cmd.Dir, cmd.Env = s.Checkout, s.environment(s.contract, s.deps.Refit, s.mark)
	s.group.join(cmd, out)
	w.phase = phase
	err := w.run(ctx, cmd)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return errors.New(cmp.Or(s.last.complaint(), fmt.Sprintf("%s: %v", phase, err)))
	}
	return err
}

func (s session) serverLog() string { return filepath.Join(s.Checkout, "server.log") }

// startEngine starts the engine as a member of the job's group.
func (s session) startEngine(d recipe.Declared) (process, error) {
	argv, set, err := commandOf(d, s.contract)
	if err != nil {
		return process{}, err
	}
	program, err := s.program(argv[0])
	if err != nil {
		return process{}, err
	}
	log, err := os.Create(s.serverLog())
	if err != nil {
		return process{}, err
	}
	defer log.Close()
	cmd := exec.Command(program, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Env = s.Checkout, append(s.environment(s.contract, s.deps.Refit, s.mark), set...)
	s.group.join(cmd, log)
	engine, err := s.group.start(cmd)
	if err != nil {
		return engine, fmt.Errorf("start the engine: %w", err)
	}
	return engine, nil
}

// commandOf is the engine's argv and environment for a point. An engine that
// is only asked questions gets the room that they need as MAX_MODEL_LEN.
func commandOf(d recipe.Declared, contract map[string]string) (argv, set []string, err error) {
	env := maps.Clone(contract)
	if env["EVAL_ONLY"] == "true" && env["EVAL_MAX_MODEL_LEN"] != "" {
		env["MAX_MODEL_LEN"] = env["EVAL_MAX_MODEL_LEN"]
	}
	argv, err = d.Argv(env)
	set, setErr := d.Environ(env)
	return argv, set, errors.Join(err, setErr)
}

// program finds an engine's program in the image and nowhere else.
func (j Job) program(name string) (string, error) {
	list := environMap(j.Env)["PATH"]
	for _, dir := range filepath.SplitList(list) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("image %s has no program %s in its PATH", j.Image, name)
}

// load are the arguments of the load, those of the seam.
func (s session) load(w recipe.Workload) []string {
	conc := s.Row.Int("conc")
	args := []string{"bench", "--own-gate", "--backend", w.Backend,
		"--base-url", "http://127.0.0.1:" + s.contract["PORT"], "--model", s.contract["MODEL"], "--dataset-name", "random",
		"--random-input-len", s.contract["ISL"], "--random-output-len", s.contract["OSL"],
		"--random-range-ratio", cmp.Or(w.RangeRatio, s.contract["RANDOM_RANGE_RATIO"]),
		"--num-prompts", strconv.Itoa(w.Prompts.For(conc)), "--num-warmups", strconv.Itoa(w.Warmups.For(conc)),
		"--max-concurrency", strconv.Itoa(conc), "--request-rate", "inf", "--save-result", "--percentile-metrics", "ttft,tpot,itl,e2el",
		"--result-dir", s.Checkout, "--result-filename", s.Name + ".json", "--health-retries", "2"}
	if w.IgnoreEOS {
		args = append(args, "--ignore-eos")
	}
	return args
}

// questions are the arguments of the eval, those of the seam.
func (s session) questions(e recipe.Shots) []string {
	args := []string{"eval", "--base-url", "http://127.0.0.1:" + s.contract["PORT"], "--model", s.contract["MODEL"],
		"--task", cmp.Or(s.EvalTask, defaultTask), "--data", s.EvalData, "--sha256", s.EvalSHA256,
		"--concurrency", s.contract["CONC"], "--context", cmp.Or(s.contract["EVAL_MAX_MODEL_LEN"], "0"), "--result-dir", s.Checkout}
	if e.Count > 0 {
		args = append(args, "--shots", strconv.Itoa(e.Count), "--train", e.Train)
	}
	return args
}

// verify refuses, before anything is started, a declarative recipe that the
// task's point cannot run.
func (t task) verify(tree fs.FS, script string) error {
	if !recipe.IsDeclared(script) {
		return nil
	}
	src, err := fs.ReadFile(tree, script)
	if err != nil {
		return err
	}
	d, err := recipe.ParseDeclared(src, script)
	if err != nil {
		return err
	}
	if t.Point.Settings().Scenario != matrix.Fixed {
		return fmt.Errorf("%s: a declarative recipe measures %s, not %s", script, matrix.Fixed, t.Point.Settings().Scenario)
	}
	j := Job{Name: "r", Row: t.Point.Row, Weights: t.Weights, Throughput: t.Throughput, Eval: t.Eval, Provenance: result.Provenance{Runner: "r"}}
	_, _, err = commandOf(d, contract(j, 1))
	return err
}
