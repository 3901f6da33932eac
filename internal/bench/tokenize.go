package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errNoTokenizer says that the server offers no /tokenize.
var errNoTokenizer = errors.New("server has no tokenizer")

// side is the client for everything around the measurement: token counts and
// metrics, never a measured request.
type side struct {
	target Target
	http   *http.Client
}

func newSide(t Target) side {
	return side{target: t, http: &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4},
	}}
}

func (s side) close() { s.http.CloseIdleConnections() }

// count asks the server how many tokens a text has, special ones left out.
func (s side) count(ctx context.Context, text string) (int, error) {
	body, err := json.Marshal(map[string]any{
		"model": s.target.Model, "prompt": text, "content": text, "add_special_tokens": false,
	})
	if err != nil {
		return 0, fmt.Errorf("tokenize: %w", err)
	}
	answer, err := s.fetch(ctx, http.MethodPost, "/tokenize", body)
	if err != nil {
		return 0, err
	}
	var got struct {
		Count  *int              `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return 0, fmt.Errorf("tokenize: %w", err)
	}
	switch {
	case got.Count != nil && *got.Count > 0:
		return *got.Count, nil
	case len(got.Tokens) > 0:
		return len(got.Tokens), nil
	}
	return 0, fmt.Errorf("tokenize: no count in the answer: %w", errNoTokenizer)
}

// fetch answers errNoTokenizer for every status but 200, and 503: that is a
// server which is not ready, and may have one.
func (s side) fetch(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	status, answer, err := s.ask(ctx, method, path, body)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("%s: %s", path, refusal(status, answer))
	case status != http.StatusOK:
		return nil, fmt.Errorf("%s: status %d: %w", path, status, errNoTokenizer)
	}
	return answer, nil
}

// ask sends one request and returns the whole answer, whatever its status.
func (s side) ask(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.target.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.target.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.target.Token)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	defer resp.Body.Close()
	const most = 64 << 20
	answer, err = io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(answer) > most {
		return 0, nil, fmt.Errorf("%s: answer over %d bytes", path, most)
	}
	return resp.StatusCode, answer, nil
}
