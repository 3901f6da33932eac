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
	endpoint      string
	host          string
	port          int
	tokenizer     string
	dataset       string
	rate          string
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
}

// ErrUsage is around mistakes in the arguments.
var ErrUsage = errors.New("usage")

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.backend, "backend", "vllm", "vllm, sglang, openai, lmdeploy or scalellm (completions), openai-chat (chat)")
	f.StringVar(&o.target.URL, "base-url", "", "http://host:port of the server")
	f.StringVar(&o.host, "host", "127.0.0.1", "host, without --base-url")
	f.IntVar(&o.port, "port", 8000, "port, without --base-url")
	f.StringVar(&o.endpoint, "endpoint", "", "/v1/completions or /v1/chat/completions; must agree with the backend")
	f.StringVar(&o.target.Model, "model", "", "model name; with --url the server is asked")
	served := f.String("served-model-name", "", "name in the requests, when it differs")
	f.StringVar(&o.tokenizer, "tokenizer", "", "recorded in the result; tokens are counted by the server")
	f.StringVar(&o.dataset, "dataset-name", "random", "only random")
	f.IntVar(&o.work.InputTokens, "random-input-len", 1024, "input tokens")
	f.IntVar(&o.work.OutputTokens, "random-output-len", 128, "output tokens")
	f.Float64Var(&o.work.RangeRatio, "random-range-ratio", 1, "shortest length as a part of the longest")
	f.IntVar(&o.work.Requests, "num-prompts", 1000, "measured requests")
	f.IntVar(&o.work.Warmups, "num-warmups", -1, "requests before the clock starts; -1 = 2 x concurrency")
	f.IntVar(&o.work.Concurrency, "max-concurrency", 0, "requests at a time; 0 = all")
	f.StringVar(&o.rate, "request-rate", "inf", "only inf: the next request starts when one ends")
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
	f.Bool("disable-tqdm", false, "accepted for compatibility")
	f.Bool("trust-remote-code", false, "accepted for compatibility")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: bench: %w", ErrUsage, err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%w: bench: unexpected argument %q", ErrUsage, f.Arg(0))
	}
	if *served != "" {
		o.target.Model = *served
	}
	if err := o.settleOwn(f); err != nil {
		return o, fmt.Errorf("%w: bench: %w", ErrUsage, err)
	}
	return o, o.check()
}

// check refuses what would measure something else than was asked for.
func (o *options) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: bench: "+format, append([]any{ErrUsage}, args...)...)
	}
	path := "/v1/completions"
	switch o.backend {
	case "vllm", "sglang", "openai", "lmdeploy", "scalellm":
	case "openai-chat":
		o.target.API, path = "chat", "/v1/chat/completions"
	default:
		return refuse("backend %q is not supported", o.backend)
	}
	if o.endpoint != "" && o.endpoint != path {
		return refuse("backend %s wants endpoint %s, not %s", o.backend, path, o.endpoint)
	}
	if o.dataset != "random" {
		return refuse("dataset %q is not supported, only random is", o.dataset)
	}
	if o.rate != "inf" {
		return refuse("request rate %q is not supported, only inf is", o.rate)
	}
	if o.target.Model == "" && !o.own.asked { // else the server is asked
		return refuse("--model is required")
	}
	if o.target.URL == "" {
		o.target.URL = fmt.Sprintf("http://%s:%d", o.host, o.port)
	}
	if o.work.Concurrency == 0 {
		o.work.Concurrency = o.work.Requests
	}
	if err := o.checkLists(); err != nil {
		return refuse("%v", err)
	}
	return o.token()
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
		model := filepath.Base(r.Target.Model)
		name = fmt.Sprintf("%s-infqps-concurrency%d-%s-%s.json", o.backend, r.Workload.Concurrency, model, r.Ended.Format("20060102-150405"))
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.dir, name)
}
