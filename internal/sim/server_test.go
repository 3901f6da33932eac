package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/refit-bench/refit/internal/engine"
)

// flagsOf declares the flags that the engine obeys.
func flagsOf() engine.Model {
	m := engine.Model{Complete: true, Options: []engine.Option{
		{Names: []string{"--model-path"}, Dest: "model_path", Required: true},
		{Names: []string{"--host"}, Dest: "host", Default: `"127.0.0.1"`},
		{Names: []string{"--disable-prefix-cache"}, Dest: "disable_prefix_cache", Action: "store_true", Default: "False"},
	}}
	for _, name := range []string{"port", "context-length", "max-running-requests", "graph-max-batch-decode", "graph-max-batch-prefill"} {
		m.Options = append(m.Options, engine.Option{
			Names: []string{"--" + name}, Dest: strings.ReplaceAll(name, "-", "_"), Type: "int", Default: "None"})
	}
	return m
}

func fastProfile() Profile {
	return Profile{
		Version: "1.0.0",
		Time:    TimeModel{StepBase: Duration(20 * time.Microsecond), MaxBatch: 64},
		Answers: Answers{Accuracy: 1},
	}
}

// running is a server under test.
type running struct {
	url   string
	log   *lockedBuffer
	stop  context.CancelFunc
	ended chan error
}

// start serves a profile on a free port; it is stopped at the end of the test.
func start(t *testing.T, p Profile, args ...string) *running {
	t.Helper()
	r := &running{log: &lockedBuffer{grown: make(chan struct{}, 1)}, ended: make(chan error, 1)}
	address := make(chan string, 1)
	s, err := New(Config{
		Profile: p,
		Flags:   flagsOf(),
		Args:    append([]string{"--model-path", "lab/tiny-a", "--port", "0"}, args...),
		Log:     r.log,
		Now:     time.Now,
		Listen: func(a string) (net.Listener, error) {
			l, err := net.Listen("tcp", a)
			if err == nil {
				address <- l.Addr().String()
			}
			return l, err
		},
	})
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() { r.ended <- s.Serve(ctx) }()
	r.url = "http://" + <-address
	t.Cleanup(func() { cancel() })
	return r
}

// ready waits for the readiness line of the log.
func (r *running) ready(t *testing.T) *running {
	t.Helper()
	r.log.waitFor("Uvicorn running on " + r.url)
	return r
}

func (r *running) post(t *testing.T, path string, body any) (*http.Response, []byte) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(r.url+path, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatalf("post %s: %v", path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("post %s: body: %v", path, err)
	}
	return resp, answer
}

type fields map[string]any

func TestCompletion(t *testing.T) {
	r := start(t, fastProfile()).ready(t)
	resp, body := r.post(t, "/v1/completions", fields{"model": "lab/tiny-a", "prompt": "one two three four", "max_tokens": 5})
	var got completion
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, body %s: %v", resp.StatusCode, body, err)
	}
	if got.Usage != (usage{5, 10, 5}) {
		t.Errorf("usage %+v, want 5 prompt and 5 completion tokens", got.Usage)
	}
	if c := got.Choices[0]; c.FinishReason != "length" || Tokens(*c.Text) != 5 {
		t.Errorf("choice: finish %q, text %q; want five tokens ended by length", c.FinishReason, *c.Text)
	}
}

func TestChatAnswersArithmetic(t *testing.T) {
	r := start(t, fastProfile()).ready(t)
	ask := fields{"messages": []fields{{"role": "user", "content": "Question: What is 12 plus 30?\nAnswer:"}}, "max_tokens": 64}
	_, body := r.post(t, "/v1/chat/completions", ask)
	var got completion
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("body %s: %v", body, err)
	}
	c := got.Choices[0]
	if want := "12 plus 30 is 42.\n#### 42"; c.Message.Content != want || c.FinishReason != "stop" {
		t.Errorf("answer %q ended by %q, want %q ended by stop", c.Message.Content, c.FinishReason, want)
	}
	ask["max_tokens"] = 3
	_, body = r.post(t, "/v1/chat/completions", ask)
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Choices[0]; c.Message.Content != "12 plus 30" || c.FinishReason != "length" {
		t.Errorf("three tokens: %q ended by %q", c.Message.Content, c.FinishReason)
	}
	ask["max_tokens"], ask["ignore_eos"] = 20, true
	_, body = r.post(t, "/v1/chat/completions", ask)
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Choices[0]; got.Usage.CompletionTokens != 20 || c.FinishReason != "length" {
		t.Errorf("ignore_eos: %d tokens ended by %q, want 20 ended by length", got.Usage.CompletionTokens, c.FinishReason)
	}
}

// event is what a test reads from one message of a stream.
type event struct {
	Object  string
	Choices []struct {
		Text         string
		Delta        message
		FinishReason *string `json:"finish_reason"`
	}
	Usage  *usage
	SentNS int64 `json:"sent_ns"`
}

// stream posts a streamed request and returns its messages.
func (r *running) stream(t *testing.T, path string, body fields) (http.Header, []event) {
	t.Helper()
	body["stream"] = true
	data, _ := json.Marshal(body)
	resp, err := http.Post(r.url+path, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var events []event
	done := false
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case lines.Text() == "":
		case done || !ok:
			t.Fatalf("unexpected line %q", lines.Text())
		case text == "[DONE]":
			done = true
		default:
			var e event
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatalf("message %q: %v", text, err)
			}
			events = append(events, e)
		}
	}
	if !done || lines.Err() != nil {
		t.Fatalf("stream ended without [DONE]: %v", lines.Err())
	}
	return resp.Header, events
}

func TestStreamedCompletion(t *testing.T) {
	r := start(t, fastProfile()).ready(t)
	before := monotonic()
	header, events := r.stream(t, "/v1/completions", fields{
		"prompt": "one two", "max_tokens": 4, "ignore_eos": true, "stream_options": fields{"include_usage": true}})
	after := monotonic()
	if got, want := header.Get(ClockHeader), "monotonic "+bootID(); got != want {
		t.Errorf("%s: %q, want %q", ClockHeader, got, want)
	}
	if len(events) != 5 {
		t.Fatalf("%d messages, want four tokens and the usage", len(events))
	}
	last := before
	for i, e := range events[:4] {
		if len(e.Choices) != 1 || Tokens(e.Choices[0].Text) != 1 || e.Usage != nil {
			t.Errorf("message %d: %+v, want one token and no usage", i, e)
		}
		if e.SentNS < last || e.SentNS > after {
			t.Errorf("message %d sent at %d, not between the one before (%d) and the end (%d)", i, e.SentNS, last, after)
		}
		last = e.SentNS
		if finish := e.Choices[0].FinishReason; (finish != nil) != (i == 3) {
			t.Errorf("message %d: finish reason %v", i, finish)
		}
	}
	if e := events[4]; len(e.Choices) != 0 || e.Usage == nil || *e.Usage != (usage{2, 6, 4}) {
		t.Errorf("last message %+v, want usage 2 + 4 and no choices", e)
	}
}

func TestStreamedChat(t *testing.T) {
	r := start(t, fastProfile()).ready(t)
	_, events := r.stream(t, "/v1/chat/completions", fields{
		"messages": []fields{{"role": "user", "content": "What is 7 times 6?"}}, "max_completion_tokens": 64})
	text := ""
	for i, e := range events {
		if e.Object != "chat.completion.chunk" || (e.Choices[0].Delta.Role == "assistant") != (i == 0) {
			t.Errorf("message %d: %+v", i, e)
		}
		text += e.Choices[0].Delta.Content
	}
	if want := "7 times 6 is 42.\n#### 42"; text != want || len(events) != Tokens(want) {
		t.Errorf("%d messages with %q, want %d with %q", len(events), text, Tokens(want), want)
	}
	if finish := events[len(events)-1].Choices[0].FinishReason; finish == nil || *finish != "stop" {
		t.Errorf("finish reason %v, want stop", finish)
	}
}

func TestRefusals(t *testing.T) {
	r := start(t, fastProfile(), "--context-length", "10").ready(t)
	long := strings.Repeat("word ", 8)
	for _, c := range []struct {
		name, path, body string
		status           int
		code             string
	}{
		{"context", "/v1/completions", `{"prompt":"` + long + `","max_tokens":3}`, 400, "context_length_exceeded"},
		{"context-chat-prompt", "/v1/chat/completions", `{"messages":[{"role":"user","content":"` + long + `"}]}`, 400, "context_length_exceeded"},
		{"fits-exactly", "/v1/completions", `{"prompt":"` + long + `","max_tokens":2}`, 200, ""},
		{"other-model", "/v1/completions", `{"model":"x","prompt":"a"}`, 404, "model_not_found"},
		{"no-tokens", "/v1/completions", `{"prompt":"a","max_tokens":0}`, 400, "invalid_value"},
		{"empty-prompt", "/v1/completions", `{"prompt":" "}`, 400, "invalid_value"},
		{"two-answers", "/v1/completions", `{"prompt":"a","n":2}`, 400, "invalid_value"},
		{"no-json", "/v1/completions", `{`, 400, "invalid_value"},
		{"no-messages", "/v1/chat/completions", `{}`, 400, "invalid_value"},
		{"one-in-a-list", "/v1/completions", `{"prompt":["a b"],"max_tokens":1}`, 200, ""},
	} {
		resp, body := r.post(t, c.path, json.RawMessage(mustJSON(c.body)))
		var got struct {
			Error struct{ Message, Type, Code string }
		}
		_ = json.Unmarshal(body, &got)
		if resp.StatusCode != c.status || got.Error.Code != c.code {
			t.Errorf("%s: status %d code %q (%s), want %d %q", c.name, resp.StatusCode, got.Error.Code, got.Error.Message, c.status, c.code)
		}
	}
}

// mustJSON lets a broken body through json.Marshal as a text.
func mustJSON(s string) string {
	if json.Valid([]byte(s)) {
		return s
	}
	return strconv.Quote(s)
}

func TestTokenizeAgreesWithUsage(t *testing.T) {
	r := start(t, fastProfile()).ready(t)
	text := "a longer prompt, with a wonderful variety of words"
	_, body := r.post(t, "/tokenize", fields{"model": "lab/tiny-a", "prompt": text})
	var counted tokenized
	if err := json.Unmarshal(body, &counted); err != nil {
		t.Fatal(err)
	}
	_, body = r.post(t, "/v1/completions", fields{"prompt": text, "max_tokens": 1})
	var got completion
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if counted.Count != got.Usage.PromptTokens || counted.Count != len(counted.Tokens) || counted.Count != 15 {
		t.Errorf("tokenize says %d (%d ids), usage says %d, want 15", counted.Count, len(counted.Tokens), got.Usage.PromptTokens)
	}
}

func TestMetrics(t *testing.T) {
	r := start(t, fastProfile()).ready(t)
	prompt := strings.Repeat("word ", 40)
	for range 2 {
		r.post(t, "/v1/completions", fields{"prompt": prompt, "max_tokens": 3})
	}
	resp, err := http.Get(r.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"prompt_tokens_total": 80, "generation_tokens_total": 6, "prefix_cache_queries_total": 80,
		"prefix_cache_hits_total": 32, "num_requests_running": 0, "num_requests_waiting": 0,
	} {
		f := families[name]
		if f == nil {
			t.Errorf("metric %s: missing", name)
			continue
		}
		if got := f.Metric[0].GetCounter().GetValue() + f.Metric[0].GetGauge().GetValue(); got != want {
			t.Errorf("metric %s: %v, want %v", name, got, want)
		}
	}
}

func TestHealthWhileLoading(t *testing.T) {
	p := fastProfile()
	p.Faults.NeverReady = true
	r := start(t, p)
	resp, err := http.Get(r.url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("health while loading: %d, want 503", resp.StatusCode)
	}
	if resp, _ := r.post(t, "/v1/completions", fields{"prompt": "a"}); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("completion while loading: %d, want 503", resp.StatusCode)
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Errorf("stopped while loading: %v, want nil", err)
	}
}

func TestDiesAfterRequests(t *testing.T) {
	p := fastProfile()
	p.Faults.DieAfterRequests = 2
	r := start(t, p).ready(t)
	for i := range 2 {
		if resp, _ := r.post(t, "/v1/completions", fields{"prompt": "a", "max_tokens": 1}); resp.StatusCode != http.StatusOK {
			t.Errorf("request %d: status %d, want 200", i, resp.StatusCode)
		}
	}
	if resp, err := http.Post(r.url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a"}`)); err == nil {
		resp.Body.Close()
		t.Errorf("third request: status %d, want a cut connection", resp.StatusCode)
	}
	if err := <-r.ended; !errors.Is(err, ErrDied) {
		t.Errorf("server ended with %v, want ErrDied", err)
	}
	if _, err := http.Get(r.url + "/health"); err == nil {
		t.Error("the dead server still answers")
	}
}

func TestDrainFinishesRunningRequests(t *testing.T) {
	p := fastProfile()
	p.Time.StepBase = Duration(time.Millisecond)
	r := start(t, p).ready(t)
	resp, err := http.Post(r.url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a","max_tokens":50,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r.stop() // the header is here, so the request runs
	body, err := io.ReadAll(resp.Body)
	if err != nil || bytes.Count(body, []byte("data: {")) != 50 || !bytes.HasSuffix(body, []byte("data: [DONE]\n\n")) {
		t.Errorf("drained stream: %d messages, error %v; want 50 and [DONE]", bytes.Count(body, []byte("data: {")), err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("drained server: %v, want nil", err)
	}
}

func TestClientThatLeavesFreesItsPlace(t *testing.T) {
	p := fastProfile()
	p.Time.StepBase = Duration(100 * time.Microsecond)
	r := start(t, p, "--max-running-requests", "1").ready(t)
	resp, err := http.Post(r.url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"a","max_tokens":30000,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close() // 3 s of decoding nobody wants
	if resp, _ := r.post(t, "/v1/completions", fields{"prompt": "a", "max_tokens": 1}); resp.StatusCode != http.StatusOK {
		t.Errorf("the next request: status %d, want 200", resp.StatusCode)
	}
}

func TestEffectiveArgumentsAreLogged(t *testing.T) {
	r := start(t, fastProfile(), "--graph-max-batch-d=16").ready(t)
	want := "server_args=ServerArgs(model_path='lab/tiny-a', host='127.0.0.1', disable_prefix_cache=False, port=0, context_length=None, " +
		"max_running_requests=None, graph_max_batch_decode=16, graph_max_batch_prefill=None)\n"
	if log := r.log.String(); !strings.Contains(log, want) {
		t.Errorf("log:\n%s\nwant the line\n%s", log, want)
	}
}
