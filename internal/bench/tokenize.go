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

// tokenization is what servers answer to /tokenize.
type tokenization struct {
	Count  *int              `json:"count"`
	Tokens []json.RawMessage `json:"tokens"`
}

// tokenization asks the server for the tokens of a text, special ones left
// out. Servers differ in the name of the text's key.
func (s side) tokenization(ctx context.Context, text string) (tokenization, error) {
	var got tokenization
	body, err := json.Marshal(map[string]any{
		"model": s.target.Model, "prompt": text, "content": text, "add_special_tokens": false,
	})
	if err != nil {
		return got, fmt.Errorf("tokenize: %w", err)
	}
	answer, err := s.fetch(ctx, http.MethodPost, "/tokenize", body)
	if err != nil {
		return got, err
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return got, fmt.Errorf("tokenize: %w", err)
	}
	return got, nil
}

// tokenize asks the server for the token ids of a text.
func (s side) tokenize(ctx context.Context, text string) ([]int, error) {
	got, err := s.tokenization(ctx, text)
	if err != nil {
		return nil, err
	}
	ids := make([]int, len(got.Tokens))
	for i, t := range got.Tokens {
		if err := json.Unmarshal(t, &ids[i]); err != nil {
			return nil, fmt.Errorf("tokenize: token %d is no id: %w", i, err)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("tokenize: no token ids in the answer: %w", errNoTokenizer)
	}
	return ids, nil
}

// detokenize asks the server for the text of token ids.
func (s side) detokenize(ctx context.Context, ids []int) (string, error) {
	body, err := json.Marshal(map[string]any{"model": s.target.Model, "tokens": ids})
	if err != nil {
		return "", fmt.Errorf("detokenize: %w", err)
	}
	answer, err := s.fetch(ctx, http.MethodPost, "/detokenize", body)
	if err != nil {
		return "", err
	}
	var got struct {
		Prompt, Content, Text *string
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", fmt.Errorf("detokenize: %w", err)
	}
	for _, text := range []*string{got.Prompt, got.Content, got.Text} {
		if text != nil {
			return *text, nil
		}
	}
	return "", fmt.Errorf("detokenize: no text in the answer: %w", errNoTokenizer)
}

// askVocabulary is the number of token ids of the model, 0 where the list of
// models does not have it.
func (s side) askVocabulary(ctx context.Context) int {
	status, answer, err := s.ask(ctx, http.MethodGet, "/v1/models", nil)
	var got struct {
		Data []struct {
			ID   string `json:"id"`
			Meta struct {
				Vocabulary int `json:"n_vocab"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &got) != nil {
		return 0
	}
	for _, m := range got.Data {
		if m.ID == s.target.Model || len(got.Data) == 1 {
			return max(m.Meta.Vocabulary, 0)
		}
	}
	return 0
}

// count asks the server how many tokens a text has, special ones left out.
func (s side) count(ctx context.Context, text string) (int, error) {
	got, err := s.tokenization(ctx, text)
	if err != nil {
		return 0, err
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
