package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"encoding/json"
)

// honest is a small server that remembers what it was sent, stamps what it
// sends and counts tokens as words.
type honest struct {
	mu      sync.Mutex
	prompts []string
	answer  func(w http.ResponseWriter, n int, body completion) // n counts completions from 0
	noCount bool                                                // no /tokenize
	page    func(completions int) string                        // /metrics, nil = none
	loading int                                                 // requests that are answered with 503 first
	models  []string                                            // of /v1/models, nil = none
	noText  bool                                                // no /v1/completions
}

type completion struct {
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens"`
	IgnoreEOS bool   `json:"ignore_eos"`
	Model     string `json:"model"`
	Stream    bool   `json:"stream"`
	Messages  []struct {
		Content string `json:"content"`
	} `json:"messages"`
	Most int `json:"max_completion_tokens"`
}

func (h *honest) start(t *testing.T) Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Target{URL: s.URL, Model: "m"}
}

func (h *honest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var c completion
	_ = json.Unmarshal(body, &c)
	if h.notReady(w) {
		return
	}
	switch r.URL.Path {
	case "/metrics":
		if h.page == nil {
			http.NotFound(w, r)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		io.WriteString(w, h.page(len(h.prompts)))
	case "/v1/models":
		h.list(w, r)
	case "/tokenize":
		if h.noCount {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `{"count": %d}`, len(strings.Fields(c.Prompt)))
	case "/v1/completions", "/v1/chat/completions":
		if h.noText && r.URL.Path == "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		if !c.Stream { // a client that asks whether there is somebody
			io.WriteString(w, `{"choices":[{"text":"one"}]}`)
			return
		}
		h.mu.Lock()
		n := len(h.prompts)
		h.prompts = append(h.prompts, c.Prompt)
		h.mu.Unlock()
		w.Header().Set("X-Refit-Clock", "monotonic "+bootID())
		w.Header().Set("Content-Type", "text/event-stream")
		h.answer(w, n, c)
	default:
		http.NotFound(w, r)
	}
}

func (h *honest) notReady(w http.ResponseWriter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loading == 0 {
		return false
	}
	h.loading--
	w.WriteHeader(http.StatusServiceUnavailable)
	io.WriteString(w, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
	return true
}

func (h *honest) list(w http.ResponseWriter, r *http.Request) {
	if h.models == nil {
		http.NotFound(w, r)
		return
	}
	var data []map[string]string
	for _, m := range h.models {
		data = append(data, map[string]string{"id": m, "object": "model"})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

// say sends pieces, each on its own.
func say(w http.ResponseWriter, pieces ...string) {
	for _, p := range pieces {
		io.WriteString(w, p)
		w.(http.Flusher).Flush()
	}
}

// token is a stamped message with one word.
func token(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"text\":%q,\"finish_reason\":null}],\"sent_ns\":%d}\n\n", text, newClock().now())
}

func usage(prompt, completion int) string {
	return fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n", prompt, completion)
}

// full answers as asked.
func full(w http.ResponseWriter, _ int, c completion) {
	for range c.MaxTokens {
		say(w, token(" word"))
	}
	say(w, usage(len(strings.Fields(c.Prompt))+1, c.MaxTokens), "data: [DONE]\n\n")
}

func script(pieces ...string) func(http.ResponseWriter, int, completion) {
	return func(w http.ResponseWriter, _ int, _ completion) { say(w, pieces...) }
}

// cut ends the connection in the middle of the body.
func cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}
