package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// shorten makes room in the prompts for the tokens of the server's chat
// template, as the reference does with its own rendering: what the server
// reads is then as long as was asked for.
func (o *options) shorten(ctx context.Context, stderr io.Writer) error {
	s := newSide(o.served())
	defer s.close()
	s.http.Timeout = o.work.IdleTimeout
	tokens, err := s.templateTokens(ctx)
	if err != nil {
		return fmt.Errorf("bench: --use-chat-template: %w", err)
	}
	if tokens >= o.work.InputTokens {
		return fmt.Errorf("bench: --use-chat-template: the server's template alone has %d tokens, %d were asked for", tokens, o.work.InputTokens)
	}
	fmt.Fprintf(stderr, "the server's chat template has %d tokens: prompts are shorter by them\n", tokens)
	o.work.InputTokens -= tokens
	o.work.Template = tokens
	return nil
}

// templateTokens are those that the server reads beside a letter.
func (s side) templateTokens(ctx context.Context) (int, error) {
	status, answer, err := s.ask(ctx, http.MethodPost, endpoint(s.target), probe(s.target, "a"))
	if err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", endpoint(s.target), refusal(status, answer))
	}
	var got struct {
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return 0, fmt.Errorf("%s: %w", endpoint(s.target), err)
	}
	if got.Usage.Prompt < 1 {
		return 0, fmt.Errorf("%s: the server does not say how many tokens it read", endpoint(s.target))
	}
	return got.Usage.Prompt - 1, nil
}
