package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// own are the flags of refit's own spelling of a measurement, for a person at
// a terminal: `--url http://127.0.0.1:8080 --profile 1k1k --conc 1,2,4`. The
// reference's flags beside them keep their meaning.
type own struct {
	asked    bool // any of the flags was given
	concs    []int
	requests int
	profile  string
	chat     bool
	wait     time.Duration
}

func (o *options) ownFlags(f *pflag.FlagSet) {
	f.StringVar(&o.target.URL, "url", "", "same as --base-url; asks the server for its model, waits until it is ready")
	f.StringVar(&o.own.profile, "profile", "", "input and output tokens: 128x32, 1k1k, 8k1k")
	f.IntSliceVar(&o.own.concs, "conc", nil, "requests at a time, one measurement each: 1,2,4")
	f.IntVar(&o.own.requests, "requests", 0, "measured requests at each concurrency; 0 = 10 x concurrency, or what a request rate releases in 30 s")
	f.BoolVar(&o.own.chat, "chat", false, "measure chat completions")
	f.DurationVar(&o.own.wait, "wait", time.Minute, "how long to wait for a server that is not ready")
}

// sameThing are flags that must not be given together.
var sameThing = [][2]string{
	{"url", "base-url"}, {"conc", "max-concurrency"}, {"requests", "num-prompts"},
	{"profile", "random-input-len"}, {"profile", "random-output-len"}, {"chat", "backend"},
}

// settleOwn turns refit's own flags into the workload. Without any of them
// nothing changes.
func (o *options) settleOwn(f *pflag.FlagSet) error {
	for _, name := range []string{"url", "profile", "conc", "requests", "chat", "wait"} {
		o.own.asked = o.own.asked || f.Changed(name)
	}
	if !o.own.asked {
		return nil
	}
	for _, pair := range sameThing {
		if f.Changed(pair[0]) && f.Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s say the same thing: give one", pair[0], pair[1])
		}
	}
	if o.own.profile != "" {
		in, out, err := parseProfile(o.own.profile)
		if err != nil {
			return err
		}
		o.work.InputTokens, o.work.OutputTokens = in, out
	}
	if f.Changed("num-prompts") {
		o.own.requests = o.work.Requests
	}
	for _, c := range o.own.concs {
		if c < 1 {
			return fmt.Errorf("concurrency %d must be positive", c)
		}
	}
	if len(o.own.concs) > 1 && o.file != "" {
		return fmt.Errorf("--result-filename names one file, but %d concurrencies are measured", len(o.own.concs))
	}
	if !f.Changed("ignore-eos") { // a length is asked for, so it is what should be measured
		o.work.IgnoreEOS = true
	}
	if !f.Changed("num-warmups") {
		o.work.Warmups = -1
	}
	if !f.Changed("seed") { // a second run on the same server must not find its prompts in the prefix cache
		o.work.Seed = time.Now().UnixMilli() % (1 << 31)
	}
	if len(o.own.concs) == 0 {
		o.own.concs = []int{o.work.Concurrency}
		if o.work.Concurrency == 0 && o.work.Rate == 0 {
			o.own.concs = []int{1}
		}
	}
	switch {
	case o.own.chat:
		o.backend = "openai-chat"
	case !f.Changed("backend") && o.work.Trace == nil:
		o.backend = "openai"
	}
	o.target.URL = strings.TrimSuffix(strings.TrimSuffix(o.target.URL, "/"), "/v1")
	return nil
}

// atRate is how many seconds of an open loop are measured by default.
const atRate = 30

// works are the workloads to be measured, one after the other.
func (o options) works() []Workload {
	if !o.own.asked {
		return []Workload{o.work}
	}
	var ws []Workload
	for i, c := range o.own.concs {
		w := o.work
		w.Seed += int64(i) << 32 // other prompts, the same lengths
		w.Concurrency, w.Requests = c, o.own.requests
		if w.Requests == 0 {
			w.Requests = 10 * max(c, 1)
			if w.Rate > 0 {
				w.Requests = max(10, int(math.Ceil(atRate*w.Rate)))
			}
		}
		ws = append(ws, w)
	}
	return ws
}

// maxProfile bounds the lengths of a profile.
const maxProfile = 1 << 24

// parseProfile reads "128x32", "1k1k" or "8kx1k" as tokens in and out, with k
// for 1024.
func parseProfile(s string) (in, out int, err error) {
	first, rest := length(s)
	second, rest := length(strings.TrimPrefix(rest, "x"))
	if first == 0 || second == 0 || rest != "" {
		return 0, 0, fmt.Errorf("profile %q: want input and output tokens, as in 128x32, 1k1k or 8k1k", s)
	}
	return first, second, nil
}

// length takes a length off the beginning of a text, 0 when there is none.
func length(s string) (n int, rest string) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	rest, kilo := strings.CutPrefix(s[digits:], "k")
	if kilo {
		n *= 1024
	}
	if err != nil || n > maxProfile {
		return 0, rest
	}
	return n, rest
}
