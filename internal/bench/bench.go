// Package bench puts a load on an OpenAI-compatible endpoint and measures what
// comes back: when each token arrived, how many tokens the server counted, and
// whether the load generator itself was good enough for its figures to be
// believed. It knows nothing about recipes or points.
package bench

import (
	"context"
	"fmt"
	"time"
)

// Target is the endpoint that is measured.
type Target struct {
	URL   string `json:"url"`   // http://host:port, without a path
	Model string `json:"model"` // name sent in every request body
	API   string `json:"api"`   // "completions" (also when empty) or "chat"
	Token string `json:"-"`     // bearer token; empty sends no Authorization header
}

// Workload says what is sent. The zero value of an optional field means its
// default.
type Workload struct {
	Requests     int           `json:"requests"`
	Concurrency  int           `json:"concurrency"`
	Warmups      int           `json:"warmups"` // requests before the clock starts; negative = 2 x Concurrency
	InputTokens  int           `json:"input_tokens"`
	OutputTokens int           `json:"output_tokens"`
	RangeRatio   float64       `json:"range_ratio"` // lengths are uniform in [ratio x n, n]; 0 means 1
	Seed         int64         `json:"seed"`
	IgnoreEOS    bool          `json:"ignore_eos"`
	IdleTimeout  time.Duration `json:"idle_timeout_ns"` // longest silence inside a request; 0 means 10 minutes
}

// Request is one measured request.
type Request struct {
	Sent         time.Duration   // since the start of the run
	Connect      time.Duration   // connection set-up inside this request, 0 when a connection was reused
	TTFT         time.Duration   // first message with choices
	FirstText    time.Duration   // first message with text; the corrected TTFT
	Latency      time.Duration   // last message with choices; 0 for a failed request
	ITLs         []time.Duration // gaps between messages with choices
	TextITLs     []time.Duration // gaps between messages with text; the corrected ITLs
	Decode       time.Duration   // first message with text to last message with choices
	InputTokens  int             // of the prompt, without what a server adds
	PromptTokens int             // as the server reported them, 0 when it did not
	Requested    int             // output tokens asked for
	OutputTokens int             // meaningful only when TokensFrom is set
	TokensFrom   string          // "usage", "count" (the server's tokenizer on the text) or "" = unknown
	Cached       *int            // prompt tokens from the server's prefix cache, nil when it does not say
	Server       *Timings        // the server's own reading, nil when it sends none
	ErrorKind    string          // "", connect, send, reset, cut, idle, status, stream, protocol
	Error        string          // starts with ErrorKind
}

// Result is a finished run. Requests are in the order they were planned.
type Result struct {
	Target   Target
	Workload Workload
	Started  time.Time // just before the first request
	Ended    time.Time
	Duration time.Duration // monotonic, first release to last completion
	Requests []Request
	Health   Health
}

// Run measures. It returns an error only when nothing could be measured (bad
// arguments, an address that cannot be found, ctx ended); failed requests are
// in the result. progress may be nil; it is never called on the measuring
// thread.
func Run(ctx context.Context, t Target, w Workload, progress func(done, total int)) (Result, error) {
	t, w, addr, err := settle(ctx, t, w)
	if err != nil {
		return Result{}, err
	}
	s := newSide(t)
	defer s.close()
	warm, _, err := plans(ctx, s, w, warming, w.Warmups)
	if err != nil {
		return Result{}, fmt.Errorf("bench: warm-up: %w", err)
	}
	measured, tokenized, err := plans(ctx, s, w, measuring, w.Requests)
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	l, err := newLoop(addr, min(w.Concurrency, max(w.Requests, w.Warmups)))
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	defer l.close()
	l.idle, l.chat, l.keep = w.IdleTimeout, t.API == "chat", tokenized
	if _, err := l.run(ctx, warm); err != nil {
		return Result{}, fmt.Errorf("bench: warm-up: %w", err)
	}
	r, xs, err := measure(ctx, l, s, measured, progress)
	if err != nil {
		return Result{}, fmt.Errorf("bench: %w", err)
	}
	r.Target, r.Workload = t, w
	settleTokens(ctx, s, &r, xs, tokenized)
	r.Health = r.Health.compared(r.agreement())
	return r, nil
}
