package run

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/bench"
)

// fatal lists the log lines after which an engine never becomes ready, one
// expression a line.
//
//go:embed fatal.txt
var fatal string

// readiness is one wait for an engine.
type readiness struct {
	port    int
	pid     int
	log     string
	timeout time.Duration
	every   time.Duration
	health  string // path
}

// WaitReadyCommand is `refit job wait-ready --port P --pid N --log FILE`: it
// returns when the engine answers on /health, and an error at once when its
// process is gone or its log holds a line after which no engine gets ready.
func WaitReadyCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var r readiness
	f := pflag.NewFlagSet("wait-ready", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&r.port, "port", 0, "port of the engine")
	f.IntVar(&r.pid, "pid", 0, "process of the engine")
	f.StringVar(&r.log, "log", "", "log of the engine")
	f.DurationVar(&r.timeout, "timeout", 2*time.Hour, "longest wait")
	f.DurationVar(&r.every, "every", 50*time.Millisecond, "time between two looks")
	f.StringVar(&r.health, "health", "/health", "path that answers 200 when the engine is ready")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: wait-ready: %w", bench.ErrUsage, err)
	}
	if r.port < 1 || r.port > 65535 || r.pid < 1 || r.log == "" || r.every <= 0 {
		return fmt.Errorf("%w: wait-ready: --port, --pid and --log are required", bench.ErrUsage)
	}
	took, err := r.wait(ctx)
	if err != nil {
		if tail, readErr := tailOf(r.log, 8<<10); readErr == nil {
			fmt.Fprintf(stderr, "%s\n", lastLines(tail, 50))
		}
		return err
	}
	fmt.Fprintf(stdout, "engine ready after %.1f s\n", took.Seconds())
	return nil
}

// wait looks at process, log and endpoint until one of them decides.
func (r readiness) wait(ctx context.Context) (time.Duration, error) {
	patterns, err := fatalPatterns()
	if err != nil {
		return 0, err
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	started := time.Now()
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		if r.answers(ctx, client) {
			return time.Since(started), nil
		}
		gone := !alive(r.pid) // looked at before the log, which then is complete
		line := r.fatalLine(patterns)
		switch {
		case gone:
			return 0, fmt.Errorf("engine died before it was ready%s", because(line, r.firstError()))
		case line != "":
			return 0, fmt.Errorf("engine cannot become ready: %s", line)
		case time.Since(started) > r.timeout:
			return 0, fmt.Errorf("engine not ready after %v", r.timeout)
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
	return resp.StatusCode >= 200 && resp.StatusCode < 400 && alive(r.pid)
}

// alive says whether a process runs; a zombie does not.
func alive(pid int) bool {
	state, _, err := processState(pid)
	return err == nil && state != 'Z' && state != 'X'
}

func fatalPatterns() ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for line := range strings.Lines(fatal) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		p, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("fatal line %q: %w", line, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// maxScan bounds the part of a log that is searched.
const maxScan = 1 << 20

// fatalLine is the first line of the log's end that matches a pattern.
func (r readiness) fatalLine(patterns []*regexp.Regexp) string {
	src, err := tailOf(r.log, maxScan)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(src) {
		for _, p := range patterns {
			if p.Match(line) {
				return strings.TrimSpace(string(line))
			}
		}
	}
	return ""
}

// firstError is the first line of the log that speaks of an error, else its
// last line.
func (r readiness) firstError() string {
	src, err := tailOf(r.log, maxScan)
	if err != nil {
		return ""
	}
	last := ""
	for line := range bytes.Lines(src) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		last = text
		if low := strings.ToLower(text); strings.Contains(low, "error:") || strings.HasPrefix(low, "error") {
			return text
		}
	}
	return last
}

func because(lines ...string) string {
	for _, line := range lines {
		if line != "" {
			return ": " + line
		}
	}
	return ""
}

func lastLines(text []byte, n int) []byte {
	text = bytes.TrimRight(text, "\n")
	at := len(text)
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
		if at < 0 {
			return text
		}
	}
	return text[at+1:]
}
