package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/workspace"
)

// evalOptions are the flags of `refit eval`.
type evalOptions struct {
	config           eval.Config
	data, sha, train string
	limit            string
	context          int
	dir              string
}

// EvalCommand is `refit eval`, and what the seam's run_eval calls: it asks the
// questions, writes the harness's files and the score with its answers into
// --result-dir, when one is given, and prints the score.
func EvalCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseEval(args, stderr)
	if err != nil {
		return err
	}
	if err := o.load(); err != nil {
		return err
	}
	told := 0
	score, err := eval.Run(ctx, o.config, func(done, total int) {
		if quarter := 4 * done / total; quarter > told {
			told = quarter
			fmt.Fprintf(stderr, "%s: %d of %d questions\n", o.config.Task, done, total)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s %s %.4f, standard error %.4f, %d samples\n", score.Task, score.Metric, score.Score, score.StdErr, score.Samples)
	if o.dir == "" {
		return nil
	}
	return o.write(score)
}

func (o evalOptions) write(score eval.Score) error {
	if err := score.WriteFiles(o.dir, eval.MetaFromEnv(environMap(os.Environ()))); err != nil {
		return err
	}
	b, err := json.Marshal(score)
	if err != nil {
		return fmt.Errorf("eval: %w", err)
	}
	return workspace.WriteFile(filepath.Join(o.dir, scoreFile), b, 0o644)
}

func environMap(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	return env
}

func parseEval(args []string, stderr io.Writer) (evalOptions, error) {
	var o evalOptions
	f := pflag.NewFlagSet("eval", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.config.Target.URL, "base-url", "http://127.0.0.1:8000", "http://host:port of the server")
	f.StringVar(&o.config.Target.Model, "model", "", "model name")
	f.StringVar(&o.config.Task, "task", "gsm8k", "name of the task in file names and scores")
	f.StringVar(&o.data, "data", "", "questions in GSM8K's file format")
	f.StringVar(&o.sha, "sha256", "", "digest that the questions' file must have")
	f.StringVar(&o.train, "train", "", "questions to take examples from")
	f.IntVar(&o.config.Shots, "shots", 0, "examples before each question")
	f.IntVar(&o.config.Concurrency, "concurrency", 64, "questions at a time")
	f.StringVar(&o.limit, "limit", "", "ask only the first questions; empty, 0 or full = all")
	f.IntVar(&o.context, "context", 0, "tokens that prompt and answer share; 0 = unknown")
	f.IntVar(&o.config.MaxTokens, "max-tokens", 0, "of an answer; 0 = by --context")
	f.StringVar(&o.dir, "result-dir", "", "folder for the result files")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: eval: %w", bench.ErrUsage, err)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%w: eval: unexpected argument %q", bench.ErrUsage, f.Arg(0))
	case o.config.Target.Model == "":
		return o, fmt.Errorf("%w: eval: --model is required", bench.ErrUsage)
	case o.data == "":
		return o, fmt.Errorf("%w: eval: --data is required", bench.ErrUsage)
	case o.config.Concurrency < 1:
		return o, fmt.Errorf("%w: eval: concurrency %d must be positive", bench.ErrUsage, o.config.Concurrency)
	}
	o.config.Target.Token = os.Getenv("OPENAI_API_KEY")
	return o, nil
}

// load reads the questions.
func (o *evalOptions) load() (err error) {
	if o.config.Questions, err = eval.LoadQuestions(o.data, o.sha); err != nil {
		return err
	}
	if o.train != "" {
		if o.config.Train, err = eval.LoadQuestions(o.train, ""); err != nil {
			return err
		}
	}
	if o.limit != "" && o.limit != "full" {
		n, err := strconv.Atoi(o.limit)
		if err != nil || n < 0 {
			return fmt.Errorf("%w: eval: limit %q", bench.ErrUsage, o.limit)
		}
		if n > 0 && n < len(o.config.Questions) {
			o.config.Questions = o.config.Questions[:n]
		}
	}
	if o.config.MaxTokens == 0 {
		o.config.MaxTokens = eval.MaxTokens(o.context)
	}
	return nil
}
