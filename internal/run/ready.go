package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/bench"
)

// readiness is one wait for an engine.
type readiness struct {
	port    int
	engine  process
	log     *engineLog
	timeout time.Duration
	every   time.Duration
	health  string // path
}

// Defaults of a wait.
const (
	readyTimeout = 2 * time.Hour
	readyEvery   = 50 * time.Millisecond
	readyPath    = "/health"
)

// waiting are the flags of wait-ready.
type waiting struct {
	readiness
	pid            int
	path           string // of the log
	command        []string
	phase          string
	died           string        // where a death is written down
	patience       time.Duration // with a command whose engine is gone
	stdout, stderr io.Writer
}

// WaitReadyCommand is `refit job wait-ready --port P --pid N --log FILE`: it
// returns when the engine answers on /health, and an error at once when its
// process is gone or its log holds a line after which no engine gets ready.
//
// With `-- COMMAND` it then runs the command for as long as the engine lives,
// and leaves in --died how it died. Without --port it waits for nothing first.
func WaitReadyCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	w := waiting{stdout: stdout, stderr: stderr}
	if err := w.parse(args); err != nil {
		return err
	}
	var err error
	if w.log, err = newEngineLog(w.path, nil, inherited()); err != nil {
		return err
	}
	w.engine = processOf(w.pid)
	if w.port != 0 {
		if err := w.ready(ctx); err != nil {
			return err
		}
	}
	if len(w.command) == 0 {
		return nil
	}
	return w.guard(ctx)
}

func (w *waiting) parse(args []string) error {
	f := pflag.NewFlagSet("wait-ready", pflag.ContinueOnError)
	f.SetOutput(w.stderr)
	f.IntVar(&w.port, "port", 0, "port of the engine")
	f.IntVar(&w.pid, "pid", 0, "process of the engine")
	f.StringVar(&w.path, "log", "", "log of the engine")
	f.DurationVar(&w.timeout, "timeout", readyTimeout, "longest wait")
	f.DurationVar(&w.every, "every", readyEvery, "time between two looks")
	f.StringVar(&w.health, "health", readyPath, "path that answers 200 when the engine is ready")
	f.StringVar(&w.phase, "phase", loadPhase, "what the command does, for messages")
	f.StringVar(&w.died, "died", "", "file that says how the engine died while the command ran")
	f.DurationVar(&w.patience, "patience", patience, "time for the command to end by itself once the engine is gone")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: wait-ready: %w", bench.ErrUsage, err)
	}
	w.command = f.Args()
	if w.port < 0 || w.port > 65535 || w.pid < 1 || w.path == "" || w.every <= 0 || w.port == 0 && len(w.command) == 0 {
		return fmt.Errorf("%w: wait-ready: --port, --pid and --log are required", bench.ErrUsage)
	}
	return nil
}

// ready waits and shows the end of the log when the wait was in vain.
func (w *waiting) ready(ctx context.Context) error {
	took, err := w.wait(ctx)
	if err != nil {
		if tail, readErr := w.log.secrets.tail(w.path, 8<<10); readErr == nil {
			fmt.Fprintf(w.stderr, "%s\n", lastLines(tail, 50))
		}
		return err
	}
	fmt.Fprintf(w.stdout, "engine ready after %.1f s\n", took.Seconds())
	return nil
}

// guard runs the command beside the engine.
func (w *waiting) guard(ctx context.Context) error {
	said := &tail{most: 4 << 10}
	cmd := exec.Command(w.command[0], w.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, w.stdout, io.MultiWriter(w.stderr, said)
	err := watch{engine: w.engine, log: w.log, phase: w.phase, patience: w.patience}.run(ctx, cmd)
	var death *Death
	var exit *exec.ExitError
	switch {
	case errors.As(err, &death) && w.died != "":
		return errors.Join(err, writeJSON(w.died, death))
	case errors.As(err, &exit):
		return errors.New(cmp.Or(said.complaint(), fmt.Sprintf("%s: %v", w.phase, err)))
	}
	return err
}

// wait looks at process, log and endpoint until one of them decides.
func (r readiness) wait(ctx context.Context) (time.Duration, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	started := time.Now()
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		gone := !r.engine.alive() // looked at before the log, which then is complete
		line := r.log.fatalLine()
		first, last := "", ""
		if gone || time.Since(started) > r.timeout {
			first, last = r.log.firstError()
		}
		switch {
		case gone:
			return 0, fmt.Errorf("engine died before it was ready%s", because(line, first, last))
		case line != "":
			return 0, fmt.Errorf("engine cannot become ready: %s", line)
		case r.answers(ctx, client):
			return time.Since(started), r.owned()
		case first != "" && time.Since(started) > r.timeout:
			return 0, fmt.Errorf("engine not ready after %v: %s", r.timeout, first)
		case time.Since(started) > r.timeout:
			return 0, fmt.Errorf("engine not ready after %v, its log names no error and ends with %q", r.timeout, last)
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (r readiness) answers(ctx context.Context, client *http.Client) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", r.port, r.health), nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode >= 200 && resp.StatusCode < 400 && r.engine.alive()
}

// owned refuses an answer of somebody else: who had the port before the engine
// answers for it until the engine notices.
func (r readiness) owned() error {
	others := holders(r.port)
	if len(others) == 0 || slices.ContainsFunc(others, r.engine.family) {
		return nil
	}
	return fmt.Errorf("port %d is in use: process %d answers there, which is none of the job's", r.port, others[0])
}
