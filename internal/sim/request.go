package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	maxBody = 16 << 20
	// messageTokens is what the chat template adds to every message.
	messageTokens = 4
	// defaultCompletionTokens is max_tokens of a text completion that names none.
	defaultCompletionTokens = 16
)

// prompt is the body of a generation request, as far as the engine obeys it.
type prompt struct {
	Model         string          `json:"model"`
	Prompt        json.RawMessage `json:"prompt"`
	Messages      []message       `json:"messages"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	IgnoreEOS bool `json:"ignore_eos"`
	N         *int `json:"n"`
	BestOf    *int `json:"best_of"`

	chat bool
	text string // what the engine reads
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// refusal is an error that a client gets in OpenAI's form.
type refusal struct {
	status              int
	kind, code, message string
}

func (r *refusal) Error() string { return r.message }

func badRequest(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "invalid_request_error", "invalid_value", fmt.Sprintf(format, args...)}
}

func readPrompt(w http.ResponseWriter, r *http.Request, chat bool) (prompt, error) {
	p := prompt{chat: chat}
	if err := readJSON(w, r, &p); err != nil {
		return prompt{}, err
	}
	for name, v := range map[string]*int{"n": p.N, "best_of": p.BestOf} {
		if v != nil && *v != 1 {
			return prompt{}, badRequest("%s: only 1 is supported", name)
		}
	}
	if !chat {
		text, err := promptText(p.Prompt)
		p.text = text
		return p, err
	}
	if len(p.Messages) == 0 {
		return prompt{}, badRequest("messages: at least one is required")
	}
	var b strings.Builder
	for _, m := range p.Messages {
		b.WriteString(m.Content)
		b.WriteByte('\n')
	}
	p.text = b.String()
	return p, nil
}

func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &refusal{http.StatusRequestEntityTooLarge, "invalid_request_error", "body_too_large", fmt.Sprintf("body is larger than %d bytes", maxBody)}
	}
	if err != nil {
		return badRequest("body: %v", err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return badRequest("body: %v", err)
	}
	return nil
}

// promptText accepts a text, or a list of one text.
func promptText(raw json.RawMessage) (string, error) {
	var one string
	if json.Unmarshal(raw, &one) == nil && len(raw) > 0 {
		return one, nil
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		return list[0], nil
	}
	return "", badRequest("prompt: want a text, or a list of one text")
}

// sequence is the request as the engine runs it. It refuses what does not fit
// into the context.
func (p prompt) sequence(a Answers, context int) (*sequence, error) {
	blocks, tokens := promptBlocks(p.text)
	tokens += messageTokens * len(p.Messages)
	if tokens == 0 {
		return nil, badRequest("prompt: it is empty")
	}
	limit := p.limit(context - tokens)
	if limit < 1 {
		return nil, badRequest("max_tokens: at least 1 is required, got %d", limit)
	}
	if tokens+limit > context {
		return nil, &refusal{http.StatusBadRequest, "invalid_request_error", "context_length_exceeded", fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the prompt, %d in the completion).",
			context, tokens+limit, tokens, limit)}
	}
	q := &sequence{promptTokens: tokens, blocks: blocks, limit: limit, ignoreEOS: p.IgnoreEOS}
	if line := QuestionLine(p.question()); line != "" {
		q.answer = pieces(a.Reply(line))
	}
	return q, nil
}

func (p prompt) limit(room int) int {
	switch {
	case p.MaxCompletion != nil:
		return *p.MaxCompletion
	case p.MaxTokens != nil:
		return *p.MaxTokens
	case p.chat:
		return max(room, 1) // a full context is refused by the caller
	}
	return defaultCompletionTokens
}

// question is the text that may hold one: the last user message, or the prompt.
func (p prompt) question() string {
	if !p.chat {
		return p.text
	}
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == "user" {
			return p.Messages[i].Content
		}
	}
	return ""
}
