package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"
)

// plan is one request that is ready to be sent: the bytes on the wire are
// made before the clock starts.
type plan struct {
	wire          []byte
	input, output int
	measured      bool
}

// plans writes n requests of a phase. tokenized says that input lengths are
// the server's own count.
func plans(ctx context.Context, s side, w Workload, phase string, n int) (ps []plan, tokenized bool, err error) {
	seed := w.Seed
	if phase == warming {
		seed++ // other lengths and other words than the measured ones
	}
	in, out := lengths(seed, n, w.InputTokens, w.OutputTokens, w.RangeRatio)
	wr := &writer{seed: w.promptSeed(), phase: phase, count: s.count}
	if _, err := s.count(ctx, "one two three"); err != nil {
		if !errors.Is(err, errNoTokenizer) {
			return nil, false, err
		}
		wr.count = nil
	}
	for i := range n {
		text, tokens, err := wr.prompt(ctx, i, in[i])
		if err != nil {
			return nil, false, fmt.Errorf("prompt %d: %w", i, err)
		}
		wire, err := wireRequest(s.target, text, out[i], w.IgnoreEOS)
		if err != nil {
			return nil, false, err
		}
		ps = append(ps, plan{wire: wire, input: tokens, output: out[i], measured: phase == measuring})
	}
	return ps, wr.count != nil, nil
}

// promptSeed differs between the points of a sweep, which share one seed and
// may share one engine: a prompt that was seen before is in its prefix cache.
func (w Workload) promptSeed() int64 {
	h := fnv.New64a()
	fmt.Fprint(h, w.Seed, w.Requests, w.Concurrency, w.InputTokens, w.OutputTokens)
	return int64(h.Sum64())
}

// Phases of a run.
const (
	warming   = "w"
	measuring = "m"
)

// wireRequest is a whole HTTP/1.1 request.
func wireRequest(t Target, prompt string, tokens int, ignoreEOS bool) ([]byte, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", t.URL, err)
	}
	body, err := requestBody(t, prompt, tokens, ignoreEOS)
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\n", strings.TrimSuffix(u.EscapedPath(), "/")+endpoint(t), u.Host)
	b.WriteString("Content-Type: application/json\r\nAccept: text/event-stream\r\n")
	if t.Token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", t.Token)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return []byte(b.String()), nil
}

// endpoint is the path of a target's API.
func endpoint(t Target) string {
	if t.API == "chat" {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

// probe is the body of a request for one token, not streamed.
func probe(t Target) ([]byte, error) {
	var body struct {
		Model    string        `json:"model"`
		Prompt   string        `json:"prompt,omitempty"`
		Messages []chatMessage `json:"messages,omitempty"`
		Most     int           `json:"max_tokens"`
	}
	body.Model, body.Most = t.Model, 1
	if t.API == "chat" {
		body.Messages = []chatMessage{{"user", "one"}}
	} else {
		body.Prompt = "one"
	}
	return json.Marshal(body)
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func requestBody(t Target, prompt string, tokens int, ignoreEOS bool) ([]byte, error) {
	if t.API == "chat" {
		return json.Marshal(struct {
			Model       string        `json:"model"`
			Messages    []chatMessage `json:"messages"`
			Temperature float64       `json:"temperature"`
			Most        int           `json:"max_completion_tokens"`
			Stream      bool          `json:"stream"`
			Options     streamOptions `json:"stream_options"`
			IgnoreEOS   bool          `json:"ignore_eos,omitempty"`
		}{t.Model, []chatMessage{{"user", prompt}}, 0, tokens, true, streamOptions{true}, ignoreEOS})
	}
	return json.Marshal(struct {
		Model       string        `json:"model"`
		Prompt      string        `json:"prompt"`
		Temperature float64       `json:"temperature"`
		BestOf      int           `json:"best_of"`
		Most        int           `json:"max_tokens"`
		LogProbs    *int          `json:"logprobs"`
		Stream      bool          `json:"stream"`
		Options     streamOptions `json:"stream_options"`
		IgnoreEOS   bool          `json:"ignore_eos,omitempty"`
	}{t.Model, prompt, 0, 1, tokens, nil, true, streamOptions{true}, ignoreEOS})
}
