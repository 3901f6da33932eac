package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// speaker is a server that speaks one protocol on one path and keeps the
// bodies that it was sent.
type speaker struct {
	path   string
	media  string
	pieces []string
	mu     sync.Mutex
	bodies []string
}

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != s.path {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	w.Header().Set("Content-Type", s.media)
	say(w, s.pieces...)
}

// asked measures two requests of a server and returns the second one's record
// and body.
func asked(t *testing.T, s *speaker, api string, change func(*Workload)) (Request, string) {
	t.Helper()
	if s.media == "" {
		s.media = "text/event-stream"
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	w := Workload{Requests: 2, Concurrency: 1, InputTokens: 4, OutputTokens: 3, KeepTexts: true, IdleTimeout: time.Minute}
	if change != nil {
		change(&w)
	}
	r, err := Run(context.Background(), Target{URL: server.URL, Model: "m", API: api}, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Requests[1], s.bodies[1]
}

func TestTGI(t *testing.T) {
	token := func(text, rest string) string {
		return fmt.Sprintf(`data:{"index":1,"token":{"id":23,"text":%q,"logprob":-0.5,"special":false},%s}`+"\n\n", text, rest)
	}
	s := &speaker{path: "/generate_stream", pieces: []string{": ping\n\n", token(" a", `"generated_text":null,"details":null`), token(" b", `"generated_text":null,"details":null`),
		token(" c", `"generated_text":" a b c","details":{"finish_reason":"length","generated_tokens":3,"seed":null}`)}}
	q, body := asked(t, s, TGI, nil)
	if q.Error != "" || q.OutputTokens != 3 || q.TokensFrom != "usage" || len(q.ITLs) != 2 || q.Text != " a b c" {
		t.Errorf("got %+v", q)
	}
	if ref := q.reference(); ref.Error != "" || ref.OutputTokens != 0 || len(ref.ITLs) != 2 {
		t.Errorf("reference: %+v, want success with 0 tokens", ref)
	}
	if want := `"parameters": {"best_of": 1, "max_new_tokens": 3, "do_sample": true, "temperature": 0.01, "top_p": 0.99, "truncate": 4}}`; !strings.HasPrefix(body, `{"inputs": "`) || !strings.HasSuffix(body, want) {
		t.Errorf("body %s, want inputs and %s", body, want)
	}
	q, _ = asked(t, &speaker{path: "/generate_stream", pieces: []string{token(" a", `"details":null`), `data:{"error":"out of memory","error_type":"generation"}` + "\n\n"}}, TGI, nil)
	if q.ErrorKind != "stream" || !strings.Contains(q.Error, "out of memory") || q.Reference.Error == "" {
		t.Errorf("an error in the stream: %+v", q)
	}
}

func TestTensorRT(t *testing.T) {
	message := func(text string) string {
		return fmt.Sprintf(`data: {"context_logits":0.0,"model_name":"ensemble","model_version":"1","output_log_probs":[0.0,0.0],"sequence_end":false,"sequence_id":0,"text_output":%q}`+"\n\n", text)
	}
	s := &speaker{path: "/v2/models/ensemble/generate_stream", pieces: []string{message("a"), message(" b"), message(" c")}}
	q, body := asked(t, s, TensorRT, func(w *Workload) { w.IgnoreEOS = true })
	if q.Error != "" || q.TokensFrom != "" || len(q.ITLs) != 2 || q.Text != "a b c" {
		t.Errorf("got %+v, want three messages and tokens that nobody counted", q)
	}
	if ref := q.reference(); ref.Error != "" || ref.OutputTokens != 0 {
		t.Errorf("reference: %+v", ref)
	}
	if want := `"temperature": 0.0, "top_p": 1.0, "max_tokens": 3, "stream": true, "min_length": 3}`; !strings.HasPrefix(body, `{"accumulate_tokens": true, "text_input": "`) || !strings.HasSuffix(body, want) {
		t.Errorf("body %s, want %s", body, want)
	}
}

func TestDeepSpeedMII(t *testing.T) {
	s := &speaker{path: "/generate", media: "application/json", pieces: []string{`{"text": ["say \"a\"`, ` b"], "n": 1}`}}
	q, body := asked(t, s, DeepSpeedMII, nil)
	if q.Error != "" || q.Text != `say "a" b` || len(q.ITLs) != 0 {
		t.Errorf("got %+v", q)
	}
	if ref := q.reference(); ref.Error != "" || ref.TTFT != 0 || ref.Latency <= 0 || ref.OutputTokens != 0 {
		t.Errorf("reference: %+v, want TTFT 0 and a latency", ref)
	}
	if want := `"max_tokens": 3, "temperature": 0.01, "top_p": 1.0}`; !strings.HasPrefix(body, `{"prompt": "`) || !strings.HasSuffix(body, want) {
		t.Errorf("body %s, want %s", body, want)
	}
	if q, _ := asked(t, &speaker{path: "/generate", media: "application/json", pieces: []string{`{"error": "no"}`}}, DeepSpeedMII, nil); q.ErrorKind != "stream" || q.Reference.Error == "" {
		t.Errorf("an answer without text: %+v", q)
	}
}

func TestSGLangNative(t *testing.T) {
	message := func(text string, n int, finish string) string {
		return fmt.Sprintf(`data: {"text":%q,"output_ids":[1],"meta_info":{"id":"x","finish_reason":%s,"prompt_tokens":4,"completion_tokens":%d,"cached_tokens":2}}`+"\n\n", text, finish, n)
	}
	pieces := []string{message("a", 1, "null"), message("a b", 2, "null"), message("a b c", 3, `{"type":"length","length":3}`), "data: [DONE]\n\n"}
	q, body := asked(t, &speaker{path: "/generate", pieces: pieces}, SGLang, func(w *Workload) { w.Prompts, w.Vocabulary, w.IgnoreEOS = IDs, 1000, true })
	if q.Error != "" || q.OutputTokens != 3 || q.PromptTokens != 4 || q.InputTokens != 4 || q.Cached == nil || *q.Cached != 2 || q.Text != "a b c" || q.Reference != nil {
		t.Errorf("got %+v", q)
	}
	d := draw(Workload{InputTokens: 4, OutputTokens: 3}, 2, 1000)
	ids := d.ids(1, 1000)
	want := fmt.Sprintf(`{"input_ids": [%d, %d, %d, %d], "sampling_params": {"temperature": 0.0, "max_new_tokens": 3, "ignore_eos": true}, "stream": true}`, ids[0], ids[1], ids[2], ids[3])
	if body != want {
		t.Errorf("body %s, want %s", body, want)
	}
	q, _ = asked(t, &speaker{path: "/generate", pieces: []string{message("", 0, `{"type":"abort","message":"too long"}`), "data: [DONE]\n\n"}}, SGLang, nil)
	if q.ErrorKind != "stream" || !strings.Contains(q.Error, "too long") {
		t.Errorf("an aborted request: %+v", q)
	}
}

func TestOpenAIBodies(t *testing.T) {
	two := 2
	check := func(name, api string, w Workload, a ask, want string) {
		t.Helper()
		body, err := requestBody(Target{Model: "m", API: api}, w, a)
		if err != nil || string(body) != want {
			t.Errorf("%s: %s, %v\nwant %s", name, body, err, want)
		}
	}
	const tail = `"stream": true, "stream_options": {"include_usage": true}`
	check("completions", "", Workload{}, ask{text: "é<a>", most: 5},
		`{"model": "m", "prompt": "\u00e9<a>", "temperature": 0.0, "best_of": 1, "max_tokens": 5, "logprobs": null, `+tail+`}`)
	check("all options", Completions, Workload{BestOf: 3, LogProbs: &two, IgnoreEOS: true, ExtraBody: [][2]string{{"top_k", "1"}, {"model", `"n"`}}}, ask{ids: []int{7, 8}, most: 5, model: "lora"},
		`{"model": "n", "prompt": [7, 8], "temperature": 0.0, "best_of": 3, "max_tokens": 5, "logprobs": 2, `+tail+`, "ignore_eos": true, "top_k": 1}`)
	check("chat", Chat, Workload{IgnoreEOS: true}, ask{text: "hi", most: 5},
		`{"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.0, "max_completion_tokens": 5, `+tail+`, "ignore_eos": true}`)
	check("conversation", Chat, Workload{}, ask{turns: []chatMessage{{"user", "a"}, {"assistant", "b"}}, most: 1},
		`{"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "temperature": 0.0, "max_completion_tokens": 1, `+tail+`}`)
}

// FuzzDialects holds the scans against a decoder: what is an object for the
// decoder is none that they call malformed.
func FuzzDialects(f *testing.F) {
	f.Add([]byte(`{"token":{"text":"a"},"generated_text":null,"details":{"generated_tokens":3}}`))
	f.Add([]byte(`{"text_output":"a","error":"x"}`))
	f.Add([]byte(`{"text":"\"","meta_info":{"finish_reason":{"type":"abort"},"completion_tokens":1e3}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var keys map[string]json.RawMessage
		object := json.Unmarshal(in, &keys) == nil && keys != nil
		for name, d := range map[string]*dialect{"tgi": &tgiDialect, "tensorrt-llm": &tensorrtDialect, "sglang": &sglangDialect} {
			ev := d.event(&exchange{}, bytes.TrimSpace(in))
			if object && ev.malformed && nested(in) < maxDepth/2 {
				t.Errorf("%s: %q is an object, but the scan calls it malformed", name, in)
			}
		}
	})
}
