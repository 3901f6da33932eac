package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// Command is `refit bench`: it takes the flags of the reference client, so
// that a recipe's call needs no change, measures, writes the raw file and
// prints a summary. An unhealthy measurement is repeated up to
// --health-retries times; the healthiest attempt is published, all are
// recorded. It returns an error when nothing was measured or more than 5 % of
// the requests failed, by refit's reading of the streams or by the reference's
// (--own-gate: by refit's alone); the raw file is written first.
//
// With refit's own flags (--url, --profile, --conc, ...) it waits for the
// server, measures every concurrency after the other and prints one table.
// --json prints the content of each raw file instead, one a line.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if err := o.load.writable(); err != nil {
		return err
	}
	if o.own.asked {
		if err := o.reach(ctx, stderr); err != nil {
			return err
		}
	}
	if o.dropIn.template {
		if err := o.shorten(ctx, stderr); err != nil {
			return err
		}
	}
	watch, stop, err := o.load.listen(ctx, stderr)
	if err != nil {
		return err
	}
	defer stop()
	var rs []Result
	var failed error
	for _, o.work = range o.works() {
		r, err := o.point(ctx, watch(o.work), stdout, stderr)
		if len(r.Requests) > 0 { // what was measured is kept, whatever came then
			rs = append(rs, r)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			break
		}
		failed = cmp.Or(failed, r.refused())
		if !o.own.asked && !o.dropIn.ownGate { // whoever calls the reference's flags goes by its rules too
			failed = cmp.Or(failed, r.reference().refused())
		}
	}
	if o.own.asked && !o.jsonOut {
		failed = errors.Join(failed, table(stdout, rs))
	}
	return errors.Join(failed, o.load.write(rs))
}

// point measures one workload, writes its raw file and prints it, but for the
// line of the table. What was measured is there beside an error too.
func (o options) point(ctx context.Context, watch func(Progress), stdout, stderr io.Writer) (Result, error) {
	attempts, best, stopped := measureUntilHealthy(ctx, o, watch, stderr)
	if len(attempts) == 0 {
		return Result{}, stopped
	}
	r := attempts[best]
	meta := RawMeta{Backend: o.backend, ModelID: o.target.Model, TokenizerID: o.tokenizer, Metadata: o.pairs(), Families: o.familyList(),
		Percentiles: o.percentileList(), SLO: o.slo(), Attempts: attempts, Detailed: o.dropIn.detailed}
	raw, err := r.Raw(meta)
	if err == nil && o.save {
		err = o.write(r, meta, raw, stderr)
	}
	if err != nil {
		err = fmt.Errorf("bench: %w", err)
	}
	switch {
	case raw == nil:
	case o.jsonOut:
		fmt.Fprintf(stdout, "%s\n", raw)
	case !o.own.asked:
		summary(stdout, r)
	}
	return r, errors.Join(stopped, err)
}

// write leaves the raw file and, where the environment asks for it, the one in
// PyTorch's format beside it.
func (o options) write(r Result, meta RawMeta, raw []byte, stderr io.Writer) error {
	path := o.path(r)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := workspace.WriteFile(path, raw, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "wrote %s\n", path)
	if os.Getenv("SAVE_TO_PYTORCH_BENCHMARK_FORMAT") == "" {
		return nil
	}
	records, err := r.pytorch(meta)
	if err != nil {
		return err
	}
	path = strings.TrimSuffix(path, filepath.Ext(path)) + ".pytorch.json"
	if err := workspace.WriteFile(path, records, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "wrote %s\n", path)
	return nil
}

// refused is the failure gate's answer.
func (r Result) refused() error {
	t := r.Totals(nil)
	if t.Passed() {
		return nil
	}
	return fmt.Errorf("bench: %d of %d requests failed, limit %.0f %%: %s", t.Failed, t.Completed+t.Failed, 100*maxFailureRate, r.firstError())
}

// measureUntilHealthy returns every attempt and the index of the best. With an
// error there may be attempts too: what was measured until somebody stopped it.
func measureUntilHealthy(ctx context.Context, o options, watch func(Progress), stderr io.Writer) ([]Result, int, error) {
	var attempts []Result
	for n := 0; ; n++ {
		work := o.work
		work.Seed += int64(n*max(len(o.own.concs), 1)) << 32 // other prompts than all points have, the same lengths
		r, err := Run(ctx, o.served(), work, all(progressLines(stderr, o.work), watch))
		if !o.own.asked { // the caller wants a file with figures
			r.Health = r.Health.counted(r)
		}
		if err != nil && r.finished() > 0 {
			attempts = append(attempts, r)
			return attempts, healthiest(attempts), err
		}
		if err != nil && n > 0 { // the engine is gone: what was measured before is kept
			fmt.Fprintf(stderr, "attempt %d of %d: %v\n", n+1, o.healthRetries+1, err)
			return attempts, healthiest(attempts), ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		attempts = append(attempts, r)
		if r.Health.Verdict != Unhealthy || n >= o.healthRetries {
			return attempts, healthiest(attempts), nil
		}
		fmt.Fprintf(stderr, "measured again, attempt %d of %d: client unhealthy: %s\n", n+2, o.healthRetries+1, strings.Join(r.Health.Reasons, "; "))
	}
}

// served is the target under the name that it is served by.
func (o options) served() Target {
	t := o.target
	t.Model = cmp.Or(o.dropIn.served, t.Model)
	return t
}

// healthiest prefers a verdict that is not unhealthy, then fewer errors, then
// the lower share of read delay. It never looks at the server's speed.
func healthiest(attempts []Result) int {
	best := 0
	for i, a := range attempts {
		if a.Health.better(attempts[best].Health) {
			best = i
		}
	}
	return best
}

func (h Health) better(than Health) bool {
	if sick, other := h.Verdict == Unhealthy, than.Verdict == Unhealthy; sick != other {
		return other
	}
	if h.Errors != than.Errors {
		return h.Errors < than.Errors
	}
	return h.share() < than.share()
}

// share is the read delay as a part of the mean gap.
func (h Health) share() float64 {
	if h.MeanITL <= 0 {
		return 0
	}
	return float64(h.ReadDelayP99) / float64(h.MeanITL)
}

func (r Result) firstError() string {
	for _, q := range r.Requests {
		if q.Error != "" {
			return q.Error
		}
	}
	return ""
}

func summary(w io.Writer, r Result) {
	t := r.Totals(nil)
	fmt.Fprintf(w, "requests   %d completed, %d failed, %.2f s\n", t.Completed, t.Failed, r.Duration.Seconds())
	if t.Unknown > 0 {
		fmt.Fprintf(w, "throughput unknown: the server counted no tokens for %d requests\n", t.Unknown)
	} else {
		fmt.Fprintf(w, "throughput %.1f tok/s output, %.1f tok/s total\n", t.OutputPerSecond, t.TokensPerSecond)
	}
	for _, name := range Families {
		s := r.Stats(name, DefaultPercentiles).scaled(1000)
		fmt.Fprintf(w, "%-10s mean %.2f ms, median %.2f ms, p99 %.2f ms\n", name, s.Mean, s.Median, s.Percentiles[99])
	}
	h := r.Health
	fmt.Fprintf(w, "client     %s: read delay p50 %v, p99 %v (%s), %.2f cores\n", h.Verdict, h.ReadDelayP50.Round(time.Microsecond),
		h.ReadDelayP99.Round(time.Microsecond), h.DelaySource, h.ClientCPU)
	for _, note := range r.notes() {
		fmt.Fprintf(w, "           %s\n", note)
	}
}
