package eval

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// An answer in llama.cpp's shape, with its timings, and its refusals: while it
// loads a model, and for a prompt that is longer than a slot.
func TestLlamaServer(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
			return
		}
		io.WriteString(w, `{"choices":[{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"1 + 1 = 2\n#### 2"}}],"created":1,"model":"tiny.gguf",`+
			`"object":"chat.completion","usage":{"completion_tokens":12,"prompt_tokens":32,"total_tokens":44,"prompt_tokens_details":{"cached_tokens":31}},"id":"chatcmpl-1",`+
			`"timings":{"cache_n":31,"prompt_n":1,"prompt_ms":18.827,"predicted_n":12,"predicted_ms":104.011}}`)
	}))
	defer server.Close()
	c := config(server)
	c.Questions = c.Questions[:1]
	s, err := Run(t.Context(), c, nil)
	if err != nil || s.Score != 1 || s.Answers[0].Filtered != "2" || s.Cut() != 0 || calls.Load() != 2 {
		t.Errorf("score %+v, error %v after %d calls", s, err, calls.Load())
	}
}

// A response that the token limit ends is scored as it stands, and known.
func TestCutResponses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"choices":[{"finish_reason":"length","index":0,"message":{"role":"assistant","content":"30 plus 23 is 53.\n#### 5"}}]}`)
	}))
	defer server.Close()
	s, err := Run(t.Context(), config(server), nil)
	if err != nil || s.Cut() != 3 || s.Score != 0 || !s.Answers[2].Cut || s.Answers[2].Filtered != "5" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestLlamaContextOverflow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"code":400,"message":"request (1601 tokens) exceeds the available context size (1024 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1601,"n_ctx":1024}}`)
	}))
	defer server.Close()
	_, err := Run(t.Context(), config(server), nil)
	if err == nil || !strings.Contains(err.Error(), "exceeds the available context size (1024 tokens)") {
		t.Errorf("got %v", err)
	}
}
