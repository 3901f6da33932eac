// Package bench puts a load on an OpenAI-compatible endpoint and measures what
// comes back: when each token arrived, how many tokens the server counted, and
// whether the load generator itself was good enough for its figures to be
// believed. It knows nothing about recipes or points.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Target is the endpoint that is measured.
type Target struct {
	URL   string `json:"url"`   // http://host:port, without a path
	Model string `json:"model"` // name sent in every request body
	API   string `json:"api"`   // Completions (also when empty), Chat, SGLang, TGI, TensorRT or DeepSpeedMII
	Path  string `json:"path"`  // of the endpoint; empty = the API's own
	Token string `json:"-"`     // bearer token; empty sends no Authorization header
}

// Workload says what is sent. The zero value of an optional field means its
// default.
type Workload struct {
	Requests     int           `json:"requests"`
	Concurrency  int           `json:"concurrency"`   // requests at a time, first come first served; 0 = no cap
	Rate         float64       `json:"rate"`          // requests released per second, whatever the server does; 0 = all at once
	Burstiness   float64       `json:"burstiness"`    // of the intervals at Rate: below 1 in bursts, above 1 more even; 0 means 1, Poisson
	Spacing      string        `json:"spacing"`       // of the requests at Rate: Gamma (also when empty) or Constant
	Warmups      int           `json:"warmups"`       // requests before the clock starts; negative = 2 x Concurrency, 16 without a cap
	SharedPrefix int           `json:"shared_prefix"` // tokens, besides InputTokens, that all prompts begin with
	Trace        *Trace        `json:"-"`             // sessions to be replayed instead of drawn requests; nil = none
	InputTokens  int           `json:"input_tokens"`
	OutputTokens int           `json:"output_tokens"`
	RangeRatio   float64       `json:"range_ratio"` // lengths are uniform in [ratio x n, n]; 0 means 1
	Seed         int64         `json:"seed"`
	IgnoreEOS    bool          `json:"ignore_eos"`
	SLO          SLO           `json:"slo,omitempty"`   // what a content user wants, for the goodput
	IdleTimeout  time.Duration `json:"idle_timeout_ns"` // longest silence inside a request; 0 means 10 minutes
	Deadline     time.Duration `json:"deadline_ns"`     // longest request; 0 means 6 hours

	Prompts    string      `json:"prompts"`    // Words (also when empty), IDs or Texts
	Vocabulary int         `json:"vocabulary"` // token ids of the model; 0 = the server is asked
	Workers    int         `json:"workers"`    // that the reference would cut Texts among; 0 = 1
	BestOf     int         `json:"best_of"`    // 0 means 1
	LogProbs   *int        `json:"logprobs"`   // nil = none
	Models     []string    `json:"models"`     // one is drawn for each request; empty = the target's
	ExtraBody  [][2]string `json:"extra_body"` // keys and JSON values for the end of every body
	KeepTexts  bool        `json:"keep_texts"` // leave the generated texts in the result
	Template   int         `json:"template"`   // tokens that the server's chat template adds to each prompt
	Profile    bool        `json:"profile"`    // have the server profile the run
}

// Request is one measured request.
type Request struct {
	Session      int             // of a trace, from 0
	Turn         int             // of the session, from 0
	Intended     time.Duration   // when it should have been sent, since the start of the run: by the schedule, or when its place was free
	Queued       time.Duration   // from its release to a free place under the concurrency cap
	Lag          time.Duration   // from there until it was sent: the client's own delay
	Sent         time.Duration   // since the start of the run
	Ended        time.Duration   // its place was free again, since the start of the run; 0 = never sent
	Connect      time.Duration   // connection set-up inside this request, 0 when a connection was reused
	TTFT         time.Duration   // first message with choices
	FirstText    time.Duration   // first message with text; the corrected TTFT
	Latency      time.Duration   // last message with choices; 0 for a failed request
	ITLs         []time.Duration // gaps between messages with choices
	TextITLs     []time.Duration // gaps between messages with text; the corrected ITLs
	TokenGains   []int           // tokens that came with the message behind each of the TextITLs; nil unless the server counts in every message
	Decode       time.Duration   // first message with text to last message with choices
	InputTokens  int             // of the prompt, without what a server adds
	PromptTokens int             // as the server reported them, 0 when it did not
	Requested    int             // output tokens asked for
	OutputTokens int             // meaningful only when TokensFrom is set
	TokensFrom   string          // "usage", "count" (the server's tokenizer on the text) or "" = unknown
	Cached       *int            // prompt tokens from the server's prefix cache, nil when it does not say
	Server       *Timings        // the server's own reading, nil when it sends none
	Reference    *Reading        // the reference client's reading of the same bytes, nil when it is this one
	Status       int             // of the response, 0 when none came
	RetryAfter   string          // of a response that refuses: the header as it stands
	Text         string          // generated, as the reference puts it together; only with Workload.KeepTexts
	ErrorKind    string          // "", connect, send, reset, cut, idle, deadline, status, content, stream, protocol, interrupted
	Error        string          // starts with ErrorKind
}

// Result is a finished run. Requests are in the order they were planned.
type Result struct {
	Target   Target
	Workload Workload
	Started  time.Time // just before the first request
	Ended    time.Time
	Duration time.Duration // monotonic, first release to last completion
	Partial  bool          // the run was stopped: requests that had not ended are in it as interrupted
	Requests []Request
	Health   Health
}

// Run measures. It returns an error when nothing could be measured (bad
// arguments, an address that cannot be found); failed requests are in the
// result. When ctx ends during the measurement the error says so and the result,
// which is then Partial, has what was measured before. progress may be nil; it
// is called from one goroutine at a time, never on the measuring thread.
func Run(ctx context.Context, t Target, w Workload, progress func(Progress)) (Result, error) {
	t, w, addr, err := settle(ctx, t, w)
	if err != nil {
		return Result{}, err
	}
	defer holdFileLimit()()
	room, users, err := places(addr, w)
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	s := newSide(t)
	defer s.close()
	warm, measured, tokenized, err := bothPlans(ctx, s, w)
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	l, err := newLoop(addr, min(w.Concurrency, max(len(measured), len(warm))))
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	defer l.close()
	l.idle, l.chat, l.keep = w.IdleTimeout, t.API == Chat, tokenized
	l.deadline, l.dialect, l.texts = w.Deadline, t.protocol().dialect, w.KeepTexts
	l.users = cmp.Or(w.Concurrency, warmAtOnce)
	if _, err := l.run(ctx, warm); err != nil {
		return Result{}, fmt.Errorf("bench: warm-up: %w", err)
	}
	l.users = users
	if w.Trace != nil {
		l.pause = w.Trace.MaxIdle
	}
	r, xs, stopped, err := s.profiled(ctx, w, measured, func() (Result, []*exchange, error) {
		return measure(ctx, l, s, measured, progress)
	})
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	r.Target, r.Workload, r.Health.Headroom = t, w, &room
	settleTokens(ctx, s, &r, xs, tokenized)
	r.Health = r.Health.scheduled(r).compared(r.agreement()).doubted()
	if stopped != nil {
		return r, fmt.Errorf("bench: stopped after %d of %d requests: %w", r.finished(), len(r.Requests), stopped)
	}
	return r, nil
}
