package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/workspace"
)

// loadFlags are the flags of the load's shape and of what is told beside the
// raw file.
type loadFlags struct {
	rate     string // as the file's name says it
	trace    string
	maxDelay time.Duration
	maxIdle  time.Duration
	slo      []string
	csv, hdr string
	metrics  string
}

func (l *loadFlags) flags(f *pflag.FlagSet, w *Workload) {
	f.StringVar(&l.rate, "request-rate", "inf", "requests released per second, whatever the server does; inf = all at once")
	f.Float64Var(&w.Burstiness, "burstiness", 1, "of the intervals at a request rate: 1 = Poisson, below in bursts, above more even")
	f.StringVar(&w.Spacing, "spacing", Gamma, "of the requests at a request rate: gamma, or constant")
	f.IntVar(&w.SharedPrefix, "shared-prefix", 0, "tokens, besides the input tokens, that all prompts begin with")
	f.StringVar(&l.trace, "trace", "", "file with recorded conversations, a session a line, to be replayed as chat completions")
	f.DurationVar(&l.maxDelay, "trace-max-delay", 5*time.Minute, "longest time between an answer of a trace and the next turn")
	f.DurationVar(&l.maxIdle, "trace-max-idle", 10*time.Second, "longest time without any request of a trace under way; then all pauses are cut")
	f.StringSliceVar(&l.slo, "slo", nil, "same as --goodput, in one list: ttft:200,tpot:50,e2el:5000")
	f.StringVar(&l.csv, "csv", "", "file for a line about every request")
	f.StringVar(&l.hdr, "hdr", "", "file for an HDR histogram log of the latencies")
	f.StringVar(&l.metrics, "metrics-listen", "", "address of this machine, such as 127.0.0.1:0, for a Prometheus page while it runs")
}

// settleLoad turns the flags into the workload.
func (o *options) settleLoad(f *pflag.FlagSet) error {
	l := &o.load
	if l.rate != "inf" {
		rate, err := strconv.ParseFloat(l.rate, 64)
		if err != nil || !(rate > 0 && rate <= maxRate) {
			return fmt.Errorf("request rate %q: want requests per second up to %.0f, or inf", l.rate, float64(maxRate))
		}
		o.work.Rate = rate
		if l.rate, err = spell(rate); err != nil {
			return err
		}
	}
	switch {
	case !(o.work.Burstiness > 0):
		return fmt.Errorf("burstiness %v: must be positive", o.work.Burstiness)
	case o.work.Spacing != Gamma && o.work.Spacing != Constant:
		return fmt.Errorf("spacing %q is neither %s nor %s", o.work.Spacing, Gamma, Constant)
	case o.work.Rate == 0 && f.Changed("spacing"):
		return errors.New("--spacing is of the requests at a finite --request-rate: give one")
	case o.work.Concurrency < 0:
		return fmt.Errorf("--max-concurrency %d must be positive, or 0 for no cap", o.work.Concurrency)
	case o.work.SharedPrefix < 0:
		return fmt.Errorf("--shared-prefix %d must not be negative", o.work.SharedPrefix)
	case l.maxDelay < 0 || l.maxIdle <= 0:
		return fmt.Errorf("--trace-max-delay %v must not be negative, --trace-max-idle %v must be positive", l.maxDelay, l.maxIdle)
	}
	o.goodput = append(o.goodput, l.slo...)
	if l.trace == "" {
		return nil
	}
	for _, name := range []string{"num-prompts", "requests"} {
		if f.Changed(name) {
			return fmt.Errorf("--%s beside --trace: a trace says itself how many requests there are", name)
		}
	}
	if !f.Changed("backend") {
		o.backend = "openai-chat"
	}
	return o.loadTrace()
}

func (o *options) loadTrace() error {
	file, err := os.Open(o.load.trace)
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	defer file.Close()
	t, err := ParseTrace(o.load.trace, file)
	if err != nil {
		return err
	}
	t.MaxIdle = o.load.maxIdle
	o.work.Trace = t.capped(o.load.maxDelay)
	return nil
}

// cap is the part of a file's name that says the concurrency.
func (l loadFlags) cap(w Workload) string {
	if w.Concurrency == 0 {
		return ""
	}
	return fmt.Sprintf("-concurrency%d", w.Concurrency)
}

// listen starts the page of --metrics-listen. stop ends it, watch books the
// progress of a measurement; without the flag they do nothing.
func (l loadFlags) listen(ctx context.Context, stderr io.Writer) (watch func(Workload) func(Progress), stop func(), err error) {
	if l.metrics == "" {
		return func(Workload) func(Progress) { return nil }, func() {}, nil
	}
	x, err := listenForMetrics(ctx, l.metrics)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(stderr, "metrics at %s\n", x.url())
	return x.watch, x.close, nil
}

// writable says before anything is measured that a file of --csv or --hdr
// cannot be written.
func (l loadFlags) writable() error {
	for _, path := range []string{l.csv, l.hdr} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("bench: %s is a folder", path)
		}
		f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp*")
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
	}
	return nil
}

// write leaves the files of --csv and --hdr.
func (l loadFlags) write(rs []Result) error {
	for _, file := range []struct {
		path  string
		write func(io.Writer, []Result) error
	}{{l.csv, writeCSV}, {l.hdr, writeHDR}} {
		if file.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := file.write(&b, rs); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if err := workspace.WriteFile(file.path, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
	}
	return nil
}
