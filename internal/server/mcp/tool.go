package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/refit-bench/refit/internal/workspace"
)

// Answer is what every tool answers.
type Answer struct {
	Code   int      `json:"code" jsonschema:"the exit code of the command: 0 done, 3 refused by a gate, 4 waiting"`
	Result any      `json:"result" jsonschema:"what the command prints with --json"`
	Cut    []string `json:"cut,omitempty" jsonschema:"what is not shown in full, because the answer is bounded"`
}

// The codes that an answer can have; errors are told as errors.
const (
	done    = 0
	refused = 3
	waiting = 4
)

// nature is what a tool does to the world, for clients that ask before a call.
type nature struct {
	writes     bool
	destroys   bool // what was there may be gone afterwards
	idempotent bool
	outside    bool // it asks a forge or registries
}

func (n nature) annotations(title string) *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{
		Title: title, ReadOnlyHint: !n.writes, DestructiveHint: &n.destroys,
		IdempotentHint: n.idempotent || !n.writes, OpenWorldHint: &n.outside,
	}
}

// tool adds a tool with typed, strict input. do returns the result and its code.
func tool[In any](srv *sdk.Server, s *Server, name, title, about string, n nature, do func(context.Context, In) (any, int, error)) {
	sdk.AddTool(srv, &sdk.Tool{Name: name, Title: title, Description: about, Annotations: n.annotations(title)},
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Answer, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := ctx.Err(); err != nil { // it was taken back while another call was busy
				return nil, Answer{}, err
			}
			result, code, err := do(ctx, in)
			var raw json.RawMessage
			var cut []string
			if err == nil {
				raw, cut, err = bound(result, maxResult)
			}
			if err != nil {
				return nil, Answer{}, errors.New(s.words(err))
			}
			return nil, Answer{Code: code, Result: raw, Cut: cut}, nil
		})
}

// words are those in which the command tells an error.
func (s *Server) words(err error) string {
	text := "refit: " + printable(err.Error())
	if h := s.Hint(err); h != "" {
		text += "\nrefit: hint: " + printable(h)
	}
	return text
}

// printable keeps the lines of a text and drops what is no text.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = workspace.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
