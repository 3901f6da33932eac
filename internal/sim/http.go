package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// ClockHeader says on which clock the "sent_ns" of streamed chunks was read:
// "monotonic <boot id>". Only a process of the same boot may compare.
const ClockHeader = "X-Refit-Clock"

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /version", s.version)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.Handle("GET /metrics", s.metrics)
	mux.HandleFunc("POST /tokenize", s.tokenize)
	mux.HandleFunc("POST /v1/completions", s.generate(false))
	mux.HandleFunc("POST /v1/chat/completions", s.generate(true))
	return mux
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	if err := s.available(); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// available refuses while the engine loads or drains.
func (s *Server) available() error {
	switch {
	case !s.ready.Load():
		return &refusal{http.StatusServiceUnavailable, "server_error", "loading", "the model is loading"}
	case s.draining.Load():
		return &refusal{http.StatusServiceUnavailable, "server_error", "draining", "the server is shutting down"}
	}
	return nil
}

func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"version": s.config.Profile.Version})
}

type modelList struct {
	Object string      `json:"object"`
	Data   []modelCard `json:"data"`
}

type modelCard struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Root        string `json:"root"`
	MaxModelLen int    `json:"max_model_len"`
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, modelList{"list", []modelCard{{
		s.settings.ServedName, "model", s.created, "simengine", s.settings.ModelPath, s.settings.ContextLength}}})
}

type tokenized struct {
	Count       int   `json:"count"`
	MaxModelLen int   `json:"max_model_len"`
	Tokens      []int `json:"tokens"`
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt   string    `json:"prompt"`
		Messages []message `json:"messages"`
	}
	if err := readJSON(w, r, &body); err != nil {
		refuse(w, err)
		return
	}
	ids := TokenIDs(body.Prompt)
	for _, m := range body.Messages {
		ids = append(ids, make([]int, messageTokens)...)
		ids = append(ids, TokenIDs(m.Content)...)
	}
	writeJSON(w, http.StatusOK, tokenized{len(ids), s.settings.ContextLength, ids})
}

// generate answers a text completion or a chat completion.
func (s *Server) generate(chat bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, q, err := s.prepare(w, r, chat)
		if err != nil {
			refuse(w, err)
			return
		}
		number := s.accepted.Add(1)
		if n := s.config.Profile.Faults.DieAfterRequests; n > 0 && number > int64(n) {
			s.die.Do(func() { close(s.dead) })
			<-r.Context().Done() // the process ends; nobody is answered any more
			return
		}
		id := fmt.Sprintf("cmpl-%d", number)
		if chat {
			id = "chat" + id
		}
		if p.Stream {
			s.stream(w, p, q, id)
			return
		}
		s.collect(w, r, p, q, id)
	}
}

func (s *Server) prepare(w http.ResponseWriter, r *http.Request, chat bool) (prompt, *sequence, error) {
	if err := s.available(); err != nil {
		return prompt{}, nil, err
	}
	p, err := readPrompt(w, r, chat)
	if err != nil {
		return prompt{}, nil, err
	}
	if p.Model != "" && p.Model != s.settings.ServedName {
		return prompt{}, nil, &refusal{http.StatusNotFound, "invalid_request_error", "model_not_found", fmt.Sprintf("The model `%s` does not exist.", p.Model)}
	}
	q, err := p.sequence(s.config.Profile.Answers, s.settings.ContextLength)
	return p, q, err
}

// stream takes the connection over and leaves it to the scheduler.
func (s *Server) stream(w http.ResponseWriter, p prompt, q *sequence, id string) {
	s.streams.Add(1)
	defer s.streams.Done()
	conn, out, err := s.takeOver(w)
	if err != nil {
		refuse(w, err)
		return
	}
	defer conn.Close()
	created := s.config.Now().Unix()
	model := s.settings.ServedName
	if p.chat {
		out.chatFrames(id, model, created)
	} else {
		out.completionFrames(id, model, created)
	}
	if p.StreamOptions.IncludeUsage {
		out.usage = usageEvent(p, q, id, model, created)
	}
	q.sink = out
	if !s.scheduler.enqueue(q) {
		conn.Write([]byte("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
		return
	}
	go func() { // ends when the connection does
		var one [1]byte
		conn.Read(one[:])
		q.gone.Store(true)
		out.cut()
	}()
	<-out.done
	q.gone.Store(true)
}

func (s *Server) takeOver(w http.ResponseWriter) (*net.TCPConn, *stream, error) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return nil, nil, badRequest("stream: HTTP/1.1 is required")
	}
	raw, _, err := hijacker.Hijack()
	if err != nil {
		return nil, nil, badRequest("stream: %v", err)
	}
	conn, ok := raw.(*net.TCPConn)
	if !ok {
		raw.Close()
		return nil, nil, errors.New("stream: not a TCP connection")
	}
	out, err := newStream(conn, s.scheduler.clock, s.streamHeader())
	if err != nil {
		conn.Close()
	}
	return conn, out, err
}

func (s *Server) streamHeader() string {
	return "HTTP/1.1 200 OK\r\n" +
		"Content-Type: text/event-stream; charset=utf-8\r\n" +
		"Cache-Control: no-cache\r\n" +
		"Connection: close\r\n" +
		"Transfer-Encoding: chunked\r\n" +
		ClockHeader + ": monotonic " + s.boot + "\r\n\r\n"
}

// usageEvent is the message after the last token: no choices, only counts.
func usageEvent(p prompt, q *sequence, id, model string, created int64) func(int) string {
	object := "text_completion"
	if p.chat {
		object = "chat.completion.chunk"
	}
	return func(tokens int) string {
		return fmt.Sprintf(`data: {"id":%s,"object":%q,"created":%d,"model":%s,"choices":[],"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}}`+"\n\n",
			quote(id), object, created, quote(model), q.promptTokens, q.promptTokens+tokens, tokens)
	}
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	Index        int      `json:"index"`
	Text         *string  `json:"text,omitempty"`
	Message      *message `json:"message,omitempty"`
	Logprobs     *string  `json:"logprobs"`
	FinishReason string   `json:"finish_reason"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	TotalTokens      int `json:"total_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// collect answers in one piece.
func (s *Server) collect(w http.ResponseWriter, r *http.Request, p prompt, q *sequence, id string) {
	out := newCollector()
	q.sink = out
	if !s.scheduler.enqueue(q) {
		refuse(w, &refusal{http.StatusServiceUnavailable, "server_error", "overloaded", "the engine takes no more requests"})
		return
	}
	select {
	case <-out.done:
	case <-r.Context().Done():
		q.gone.Store(true)
		return
	}
	if out.finish == "" {
		refuse(w, &refusal{http.StatusInternalServerError, "server_error", "aborted", "the request was cut off"})
		return
	}
	text := string(out.text)
	c := choice{Text: &text, FinishReason: out.finish}
	object := "text_completion"
	if p.chat {
		object, c.Text, c.Message = "chat.completion", nil, &message{"assistant", text}
	}
	writeJSON(w, http.StatusOK, completion{id, object, s.config.Now().Unix(), s.settings.ServedName, []choice{c},
		usage{q.promptTokens, q.promptTokens + out.tokens, out.tokens}})
}

// refuse answers with an error in OpenAI's form.
func refuse(w http.ResponseWriter, err error) {
	r := &refusal{http.StatusInternalServerError, "server_error", "internal", err.Error()}
	errors.As(err, &r)
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	writeJSON(w, r.status, map[string]detail{"error": {r.message, r.kind, nil, r.code}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone; nobody to tell
}
