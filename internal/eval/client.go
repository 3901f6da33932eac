package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// maxBody bounds what an endpoint may answer.
const maxBody = 16 << 20

var stops = []string{"</s>", "<|im_end|>"}

type client struct {
	config Config
	http   *http.Client
}

func newClient(c Config) client {
	return client{config: c, http: &http.Client{
		Timeout:       c.Timeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: c.Concurrency, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// request is the body of a chat completion, keys in the reference's order.
type request struct {
	Messages    []message `json:"messages"`
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature float64   `json:"temperature"`
	Stop        []string  `json:"stop"`
	Seed        int       `json:"seed"`
	TopP        float64   `json:"top_p"`
}

// said is an answer of an endpoint. Cut says that the token limit ended it.
type said struct {
	text string
	cut  bool
}

// answer asks until an attempt succeeds or the attempts are used up.
func (c client) answer(ctx context.Context, prompt []message) (said, error) {
	body, err := json.Marshal(request{prompt, c.config.Target.Model, c.config.MaxTokens, 0, stops, fewShotSeed, 1})
	if err != nil {
		return said{}, fmt.Errorf("chat request: %w", err)
	}
	for attempt := 0; ; attempt++ {
		got, err := c.attempt(ctx, body)
		if err == nil {
			return got, nil
		}
		if attempt == len(c.config.Waits) || ctx.Err() != nil {
			return said{}, fmt.Errorf("attempt %d: %w", attempt+1, err)
		}
		if err := wait(ctx, c.config.Waits[attempt]); err != nil {
			return said{}, err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (c client) attempt(ctx context.Context, body []byte) (said, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.Target.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return said{}, fmt.Errorf("chat request: %w", err)
	}
	token := c.config.Target.Token
	if token == "" {
		token = "EMPTY"
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return said{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return said{}, fmt.Errorf("chat answer: %w", err)
	case len(data) > maxBody:
		return said{}, fmt.Errorf("chat answer: larger than %d bytes", maxBody)
	case resp.StatusCode != http.StatusOK:
		return said{}, fmt.Errorf("chat answer: status %d: %s", resp.StatusCode, excerpt(data))
	}
	return content(data)
}

func excerpt(data []byte) string {
	const most = 200
	return strings.TrimSpace(workspace.Printable(string(data[:min(len(data), most)])))
}

// content is the answer's text: the message's content or, when that is empty,
// its reasoning.
func content(data []byte) (said, error) {
	var got struct {
		Choices []struct {
			Message struct {
				Content   json.RawMessage `json:"content"`
				Reasoning *string         `json:"reasoning_content"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return said{}, fmt.Errorf("chat answer: %w", err)
	}
	if len(got.Choices) != 1 {
		return said{}, fmt.Errorf("chat answer: %d choices, want one", len(got.Choices))
	}
	m := got.Choices[0].Message
	var text string
	switch raw := string(m.Content); raw {
	case "", "null", "[]":
	default:
		if err := json.Unmarshal(m.Content, &text); err != nil {
			return said{}, fmt.Errorf("chat answer: content is not a text")
		}
	}
	if text == "" && m.Reasoning != nil {
		text = *m.Reasoning
	}
	return said{text, got.Choices[0].Finish == "length"}, nil
}
