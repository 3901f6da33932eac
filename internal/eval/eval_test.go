package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
)

func three() []Question {
	return []Question{{"What is 1 plus 1?", "#### 2"}, {"What is 2 plus 2?", "#### 4"}, {"What is 3 plus 3?", "#### 6"}}
}

// reply writes a chat completion.
func reply(w http.ResponseWriter, message string) {
	fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant",%s}}]}`, message)
}

// ended is a time two seconds after the start, in the place of a clock.
func clockOf() func() time.Time {
	var n atomic.Int64
	return func() time.Time {
		return time.Date(2026, 9, 18, 10, 11, 12, 0, time.UTC).Add(time.Duration(n.Add(2)-2) * time.Second)
	}
}

func config(server *httptest.Server) Config {
	return Config{
		Target: bench.Target{URL: server.URL, Model: "m"}, Questions: three(),
		Concurrency: 2, MaxTokens: 24, Waits: []time.Duration{0, 0}, Now: clockOf(),
	}
}

func TestRunScores(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		bodies = append(bodies, string(body))
		mu.Unlock()
		if got := r.Header.Get("Authorization"); got != "Bearer EMPTY" {
			t.Errorf("authorization %q, want Bearer EMPTY", got)
		}
		switch {
		case strings.Contains(string(body), "1 plus 1"):
			reply(w, `"content":"#### 2"`)
		case strings.Contains(string(body), "2 plus 2"):
			reply(w, `"content":null,"reasoning_content":"it is 4"`) // reasoning only, and no marker
		default:
			reply(w, `"content":"#### 7"`)
		}
	}))
	defer server.Close()
	var seen []int
	s, err := Run(t.Context(), config(server), func(done, total int) { seen = append(seen, done*10+total) })
	if err != nil {
		t.Fatal(err)
	}
	if s.Samples != 3 || s.Score != 1.0/3 || s.Flexible != 2.0/3 || s.Task != "gsm8k" || s.Metric != "em_strict" {
		t.Errorf("score %+v, want 1/3 strict and 2/3 flexible of 3", s)
	}
	if a := s.Answers[1]; a.DocID != 1 || a.Response != "it is 4" || a.Filtered != Invalid || a.Correct || a.QuestionDigest != Digest("What is 2 plus 2?") {
		t.Errorf("answer 1: %+v", a)
	}
	if fmt.Sprint(seen) != "[13 23 33]" {
		t.Errorf("progress %v, want 1, 2, 3 of 3", seen)
	}
	want := `{"messages":[{"role":"user","content":"Question: What is 1 plus 1?\nEnd your response with the answer on the last line, formatted as: #### [number]\nAnswer:"}],` +
		`"model":"m","max_tokens":24,"temperature":0,"stop":["\u003c/s\u003e","\u003c|im_end|\u003e"],"seed":1234,"top_p":1}`
	if all := strings.Join(bodies, "\n"); !strings.Contains(all, want) {
		t.Errorf("bodies:\n%s\nwant one to be\n%s", all, want)
	}
}

func TestRunRepeatsFailedAttempts(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch calls.Add(1) {
		case 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case 2:
			fmt.Fprint(w, `{"choices":[]}`)
		default:
			reply(w, `"content":"#### 2"`)
		}
	}))
	defer server.Close()
	c := config(server)
	c.Questions = c.Questions[:1]
	s, err := Run(t.Context(), c, nil)
	if err != nil || s.Score != 1 || calls.Load() != 3 {
		t.Errorf("score %v, error %v after %d calls; want 1 after 3", s.Score, err, calls.Load())
	}
}

func TestRunGivesUp(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Error(w, `{"error":"no such model"}`, http.StatusNotFound)
	}))
	defer server.Close()
	c := config(server)
	c.Questions, c.Concurrency = c.Questions[:1], 1
	_, err := Run(t.Context(), c, nil)
	want := `eval gsm8k: question 0: attempt 3: chat answer: status 404: {"error":"no such model"}`
	if err == nil || err.Error() != want || calls.Load() != 3 {
		t.Errorf("error %v after %d calls, want %q after 3", err, calls.Load(), want)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a lost client noticed
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	if _, err := Run(ctx, config(server), nil); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error %v, want context canceled", err)
	}
}

func TestRunRejectsBadArguments(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no-questions", Config{}, "no questions"},
		{"too-few-examples", Config{Questions: three(), Shots: 5}, "5 shots out of 0 examples"},
	} {
		if _, err := Run(t.Context(), c.config, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestWriteFiles(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(w, `"content":"caf\u00e9 <b>\n#### 2"`)
	}))
	defer server.Close()
	s, err := Run(t.Context(), config(server), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	meta := MetaFromEnv(map[string]string{"FRAMEWORK": "sim", "PRECISION": "fp8", "TP": "1", "CONC": "8", "ISL": "256", "OSL": "64", "MODEL": "lab/tiny-a", "RUNNER_TYPE": "cpu", "MODEL_PREFIX": "laba", "SPEC_DECODING": "none"})
	if err := s.WriteFiles(dir, meta); err != nil {
		t.Fatal(err)
	}
	results := read(t, dir, "results_2026-09-18T10-11-14.000000.json")
	for _, want := range []string{
		"{\n  \"results\": {\n    \"gsm8k\": {\n      \"alias\": \"gsm8k\",\n      \"exact_match,strict-match\": 0.3333333333333333,\n" +
			"      \"exact_match_stderr,strict-match\": 0.33333333333333337,\n      \"exact_match,flexible-extract\": 0.3333333333333333,",
		"\"n-samples\": {\n    \"gsm8k\": {\n      \"original\": 3,\n      \"effective\": 3\n",
		"\"model_name\": \"\"", "\"total_evaluation_time_seconds\": \"2\"", "\"metadata\": {\n        \"version\": 3.0,\n        \"model\": \"m\"",
	} {
		if !strings.Contains(results, want) {
			t.Errorf("results:\n%s\nwant in it\n%s", results, want)
		}
	}
	samples := strings.Split(strings.TrimSuffix(read(t, dir, "samples_gsm8k_2026-09-18T10-11-14.000000.jsonl"), "\n"), "\n")
	if len(samples) != 6 || !strings.Contains(samples[2], `"filter": "strict-match"`) || !strings.Contains(samples[3], `"filter": "flexible-extract"`) {
		t.Errorf("%d samples, want three strict, then three flexible", len(samples))
	}
	if want := `{"doc_id": 0, "doc": {"question": "What is 1 plus 1?", "answer": "#### 2"}, "target": "#### 2", "arguments": {"gen_args_0": {"arg_0": ["[{\"role\": \"user\", `; !strings.HasPrefix(samples[0], want) {
		t.Errorf("first sample\n%s\nwant it to begin\n%s", samples[0], want)
	}
	if want := `"resps": [["café <b>\n#### 2"]], "filtered_resps": ["2"], "filter": "strict-match", "metrics": ["exact_match"], "doc_hash": "`; !strings.Contains(samples[0], want) {
		t.Errorf("first sample\n%s\nwant in it\n%s", samples[0], want)
	}
	env := read(t, dir, "meta_env.json")
	for _, want := range []string{"{\n  \"is_multinode\": false,\n  \"framework\": \"sim\",", "\"conc\": 8,\n  \"ep\": 1,", "\"prefill_num_workers\": 1,", "\"hw\": \"cpu\",\n  \"isl\": \"256\",\n  \"osl\": \"64\"\n}\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("meta_env:\n%s\nwant in it\n%s", env, want)
		}
	}
	if err := (Score{}).WriteFiles(dir, meta); err == nil {
		t.Error("a score without its questions was written")
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Case 53.
func TestHashes(t *testing.T) {
	doc, err := spell(object{{"question", "Q"}, {"answer", "A\n#### 1"}}, "  ")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := digest(doc), "879409457511dbafe094980c71de9d24bfa93ff248dd79bb099b2002ec6e9d25"; got != want {
		t.Errorf("doc_hash %s, want %s", got, want)
	}
	if got, want := digest([]byte("A\n#### 1")), "a92dd7e04fedf45eb2634d0714ca6ccbf88acf2f65fe470fb4bab938b461f465"; got != want {
		t.Errorf("target_hash %s, want %s", got, want)
	}
}

func TestSpelling(t *testing.T) {
	got, err := spell([]any{1e-5, 1e16, 0.0001, 1e15, 3.0, 3, "a<b>\u2028\u00e9\x01\\u2028", nil, true, object{}, []string{}}, "")
	want := "[1e-05, 1e+16, 0.0001, 1000000000000000.0, 3.0, 3, \"a<b>\u2028\u00e9\\u0001\\\\u2028\", null, true, {}, []]"
	if err != nil || string(got) != want {
		t.Errorf("spelled %s (%v), want %s", got, err, want)
	}
	zero := 0.0
	if _, err := spell(1/zero, ""); err == nil {
		t.Error("infinity was spelled")
	}
}

func TestMetaFromEnv(t *testing.T) {
	m := MetaFromEnv(map[string]string{
		"RESULT_FILENAME": "laba_256_64_fp4_sim_tp2-x", "FRAMEWORK": "sim", "TP": "2", "DP_ATTENTION": "True", "IS_MULTINODE": "yes",
		"EVAL_CONCURRENT_REQUESTS": "4 16", "CONC": "64", "PREFILL_EP": "1", "PREFILL_ENABLE_EP": "1", "PREFILL_TP": "8", "DECODE_NUM_WORKERS": "3",
	})
	if m.Precision != "fp4" || m.Conc != 4 || !m.Multinode || !m.Shape.DPAttention || m.SpecDecoding != "unknown" || m.InputLength != "0" {
		t.Errorf("meta %+v", m)
	}
	if m.Prefill.EP != 8 || m.Prefill.Workers != 1 || m.Decode.TP != 2 || m.Decode.Workers != 3 {
		t.Errorf("roles %+v %+v", m.Prefill, m.Decode)
	}
}
