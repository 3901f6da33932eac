package sim

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever a client sends is a request within the limits or a refusal in the
// 4xx range.
func FuzzReadPrompt(f *testing.F) {
	for _, s := range []string{`{"prompt":"a b"}`, `{"prompt":["a"],"max_tokens":3}`, `{"prompt":["a","b"]}`, `{"prompt":7}`, `{"messages":[{"role":"user","content":"What is 2 plus 3?"}],"max_completion_tokens":-1}`,
		`{"prompt":"a","n":2}`, `{"prompt":"a","max_tokens":9223372036854775807}`, `{`, `null`, `{"prompt":"a"}{}`} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, body string, chat bool) {
		const context = 512
		r := httptest.NewRequest("POST", "/v1/completions", strings.NewReader(body))
		p, err := readPrompt(httptest.NewRecorder(), r, chat)
		if err == nil {
			var q *sequence
			if q, err = p.sequence(Answers{}, context); err == nil && (q.limit < 1 || q.promptTokens < 1 || q.promptTokens+q.limit > context) {
				t.Errorf("%q: got %d prompt tokens and a limit of %d in %d", body, q.promptTokens, q.limit, context)
			}
		}
		var no *refusal
		if err != nil && (!errors.As(err, &no) || no.status < 400 || no.status > 499 || no.message == "") {
			t.Errorf("%q: got %v, want a refusal", body, err)
		}
	})
}

// A text of any kind comes back out of the JSON that the engine writes.
func TestQuotesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x00\x1f", "\"\\/", "\u2028<>&", "😀"})).Draw(t, "text")
		var back string
		if err := json.Unmarshal([]byte(quote(s)), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && !strings.Contains(s, "\xff") {
			t.Fatalf("quote(%q) = %s: reads back as %q, %v", s, quote(s), back, err)
		}
	})
}

// The engine's own pieces of text need no more escaping than they get.
func TestPiecesAreEscaped(t *testing.T) {
	for _, line := range []string{"What is 2 plus 3?", "What is 12 times 9?", ""} {
		for _, piece := range pieces((Answers{Accuracy: 1}).Reply(line)) {
			text := `"` + string(appendEscaped(nil, piece)) + `"`
			var back string
			if err := json.Unmarshal([]byte(text), &back); err != nil || back != piece {
				t.Errorf("piece %q of the answer to %q: %s reads back as %q, %v", piece, line, text, back, err)
			}
		}
	}
}
