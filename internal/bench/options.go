package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/refit-bench/refit/internal/workspace"
)

// options are the flags of `refit bench`.
type options struct {
	target        Target
	backend       string
	host          string
	port          int
	tokenizer     string
	dataset       string
	work          Workload
	save          bool
	dir, file     string
	families      string
	percentiles   string
	goodput       []string
	metadata      []string
	healthRetries int
	tokenFile     string
	jsonOut       bool
	own           own
	load          loadFlags
	dropIn        dropIn
}

// ErrUsage is around mistakes in the arguments.
var ErrUsage = errors.New("usage")

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { help(f, stderr) }
	f.StringVar(&o.backend, "backend", "vllm", "kind of server: "+backendNames())
	f.StringVar(&o.target.URL, "base-url", "", "http://host:port of the server")
	f.StringVar(&o.host, "host", "127.0.0.1", "host, without --base-url")
	f.IntVar(&o.port, "port", 8000, "port, without --base-url")
	f.StringVar(&o.target.Path, "endpoint", "", "path of the endpoint; must be one of the backend's; empty = the backend's own")
	f.StringVar(&o.target.Model, "model", "", "model name; with --url the server is asked")
	f.StringVar(&o.tokenizer, "tokenizer", "", "recorded in the result; tokens are counted by the server")
	f.StringVar(&o.dataset, "dataset-name", "sharegpt", "must be random, as for the reference; not needed with refit's own flags")
	f.IntVar(&o.work.InputTokens, "random-input-len", 1024, "input tokens")
	f.IntVar(&o.work.OutputTokens, "random-output-len", 128, "output tokens")
	f.Float64Var(&o.work.RangeRatio, "random-range-ratio", 1, "shortest length as a part of the longest")
	f.IntVar(&o.work.Requests, "num-prompts", 1000, "measured requests")
	f.IntVar(&o.work.Warmups, "num-warmups", 0, "requests before the clock starts; -1 = 2 x concurrency, which refit's own flags have by default")
	f.IntVar(&o.work.Concurrency, "max-concurrency", 0, "requests at a time, the others wait in the client; 0 = no cap")
	f.Int64Var(&o.work.Seed, "seed", 0, "of lengths and prompts; with --url another one each time")
	f.BoolVar(&o.work.IgnoreEOS, "ignore-eos", false, "ask the server to generate all tokens")
	f.DurationVar(&o.work.IdleTimeout, "idle-timeout", 10*time.Minute, "longest silence inside a request")
	f.BoolVar(&o.save, "save-result", false, "write the raw result file")
	f.StringVar(&o.dir, "result-dir", "", "folder of the raw result file")
	f.StringVar(&o.file, "result-filename", "", "name of the raw result file")
	f.StringVar(&o.families, "percentile-metrics", "ttft,tpot,itl,e2el", "metrics in the raw result file")
	f.StringVar(&o.percentiles, "metric-percentiles", "90,99,99.9", "percentiles in the raw result file")
	f.StringArrayVar(&o.goodput, "goodput", nil, "name:milliseconds of ttft, tpot, e2el")
	f.StringArrayVar(&o.metadata, "metadata", nil, "KEY=VALUE for the raw result file")
	f.IntVar(&o.healthRetries, "health-retries", 0, "measure again this often while the client is unhealthy")
	f.StringVar(&o.tokenFile, "token-file", "", "file with the bearer token; else OPENAI_API_KEY")
	f.BoolVar(&o.jsonOut, "json", false, "print the raw result instead of the summary, a line for each concurrency")
	o.ownFlags(f)
	o.load.flags(f, &o.work)
	o.dropIn.flags(f, &o.work)
	f.Bool("disable-tqdm", false, "accepted for compatibility")
	f.Bool("trust-remote-code", false, "accepted for compatibility")
	if err := f.Parse(referenceArgs(args)); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: bench: %w", ErrUsage, err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%w: bench: unexpected argument %q", ErrUsage, f.Arg(0))
	}
	for _, settle := range []func(*pflag.FlagSet) error{o.settleDropIn, o.settleLoad, o.settleOwn} {
		if err := settle(f); err != nil {
			return o, fmt.Errorf("%w: bench: %w", ErrUsage, err)
		}
	}
	return o, o.check()
}

func (o *options) settleDropIn(f *pflag.FlagSet) error {
	o.dropIn.dataset = f.Changed("dataset-name")
	return o.dropIn.settle(f, &o.work)
}

// check refuses what would measure something else than was asked for.
func (o *options) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: bench: "+format, append([]any{ErrUsage}, args...)...)
	}
	if o.target.Model == "" && !o.own.asked { // else the server is asked
		return refuse("--model is required")
	}
	if err := o.checkBackend(); err != nil {
		return refuse("%v", err)
	}
	switch ratio := o.work.RangeRatio; {
	case !(ratio > 0 && ratio <= 1):
		return refuse("--random-range-ratio %v: want a number above 0 up to 1", ratio)
	case o.work.IdleTimeout < 0:
		return refuse("--idle-timeout %v must not be negative", o.work.IdleTimeout)
	}
	if needed := !o.own.asked && o.work.Trace == nil; o.dataset != "random" && (needed || o.dropIn.dataset) {
		return refuse("dataset %q is not supported, by the reference neither: give --dataset-name random", o.dataset)
	}
	if o.target.URL == "" {
		o.target.URL = fmt.Sprintf("http://%s:%d", o.host, o.port)
	}
	if err := checkUser(o.target.URL); err != nil {
		return refuse("%v", err)
	}
	if err := o.checkLists(); err != nil {
		return refuse("%v", err)
	}
	o.work.SLO = o.slo()
	return o.token()
}

// checkBackend finds the API of the backend, and refuses what it cannot do.
func (o *options) checkBackend() error {
	api, known := backends[o.backend]
	if !known {
		return fmt.Errorf("backend %q is none of %s", o.backend, backendNames())
	}
	if o.target.API = api; o.dropIn.template {
		if api != Completions && api != Chat {
			return fmt.Errorf("--use-chat-template: backend %s has no chat endpoint, where the server would apply its template", o.backend)
		}
		o.target.API, o.target.Path = Chat, chatPath(o.target.Path)
	}
	if err := o.target.checkAPI(); err != nil {
		return err
	}
	switch p := o.target.protocol(); {
	case api == TGI && o.work.IgnoreEOS && !o.own.asked:
		return errors.New("--ignore-eos: backend tgi cannot be asked for it, and its answers end when the model says so")
	case o.work.Prompts == IDs && !p.ids:
		return fmt.Errorf("--prompts ids: backend %s takes text only", o.backend)
	case len(o.work.Models) > 0 && api != Completions && api != Chat:
		return fmt.Errorf("--lora-modules: requests of backend %s name no model", o.backend)
	}
	return nil
}

// chatPath is the chat endpoint beside a completions endpoint.
func chatPath(path string) string {
	if before, ok := strings.CutSuffix(path, "/completions"); ok && !strings.HasSuffix(before, "/chat") {
		return before + "/chat/completions"
	}
	return path
}

func (o *options) token() error {
	o.target.Token = os.Getenv("OPENAI_API_KEY")
	if o.tokenFile == "" {
		return nil
	}
	b, err := workspace.ReadFile(o.tokenFile, 64<<10)
	if err != nil {
		return fmt.Errorf("bench: token: %w", err)
	}
	o.target.Token = strings.TrimSpace(string(b))
	return nil
}

func (o *options) checkLists() error {
	for _, name := range o.familyList() {
		if !strings.Contains(",ttft,tpot,itl,e2el,", ","+name+",") {
			return fmt.Errorf("metric %q is none of ttft, tpot, itl, e2el", name)
		}
	}
	for s := range strings.SplitSeq(o.percentiles, ",") {
		if p, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err != nil || !(p >= 0 && p <= 100) {
			return fmt.Errorf("percentile %q", s)
		}
	}
	for _, g := range o.goodput {
		name, ms, _ := strings.Cut(g, ":")
		if v, err := strconv.ParseFloat(ms, 64); err != nil || !(v >= 0) || !strings.Contains(",ttft,tpot,e2el,", ","+name+",") {
			return fmt.Errorf("goodput %q: want ttft, tpot or e2el, a colon and milliseconds", g)
		}
	}
	for _, m := range o.metadata {
		if !strings.Contains(m, "=") {
			return fmt.Errorf("metadata %q: want KEY=VALUE", m)
		}
	}
	return nil
}

func (o options) familyList() []string {
	var names []string
	for s := range strings.SplitSeq(o.families, ",") {
		if s = strings.TrimSpace(s); s != "" {
			names = append(names, s)
		}
	}
	return names
}

func (o options) percentileList() []float64 {
	var ps []float64
	for s := range strings.SplitSeq(o.percentiles, ",") {
		if p, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			ps = append(ps, p)
		}
	}
	return ps
}

func (o options) slo() SLO {
	slo := SLO{}
	for _, g := range o.goodput {
		name, ms, _ := strings.Cut(g, ":")
		if v, err := strconv.ParseFloat(ms, 64); err == nil {
			slo[name] = time.Duration(v * float64(time.Millisecond))
		}
	}
	return slo
}

// pairs splits metadata; text behind a second "=" is lost, as in the
// reference.
func (o options) pairs() [][2]string {
	var pairs [][2]string
	for _, m := range o.metadata {
		parts := strings.SplitN(m, "=", 3)
		pairs = append(pairs, [2]string{parts[0], parts[1]})
	}
	return pairs
}

// path is where the raw file goes. An absolute file name wins.
func (o options) path(r Result) string {
	name := o.file
	if name == "" {
		model := filepath.Base(o.target.Model)
		name = fmt.Sprintf("%s-%sqps%s-%s-%s.json", o.backend, o.load.rate, o.load.cap(r.Workload), model, r.Ended.Format("20060102-150405"))
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.dir, name)
}
