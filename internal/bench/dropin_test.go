package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryOptionOfTheReference(t *testing.T) {
	args := strings.Fields(`--backend openai --base-url http://127.0.0.1:9 --host h --port 1 --endpoint /v1/completions
		--model org/m --served-model-name s --tokenizer org/t --tokenizer-mode slow --dataset-name random
		--random-input-len 100 --random-output-len 20 --random-range-ratio 0.5 --random-prefix-len 3 --random-num-workers 2
		--num-prompts 7 --num-warmups 2 --max-concurrency 4 --request-rate 2.5 --burstiness 0.5 --seed 9 --best-of 2 --logprobs 3 --ignore-eos
		--percentile-metrics ttft,itl --metric-percentiles 50,99 --goodput ttft:100 tpot:20.5
		--save-result --save-detailed --result-dir d --result-filename f.json --metadata a=b c=d=e
		--profile --lora-modules x y --disable-tqdm --trust-remote-code`)
	o, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	w := o.work
	if o.target.URL != "http://127.0.0.1:9" || endpoint(o.target) != "/v1/completions" || o.target.Model != "org/m" || o.served().Model != "s" || o.tokenizer != "org/t" {
		t.Errorf("target %+v", o.target)
	}
	if w.InputTokens != 100 || w.OutputTokens != 20 || w.RangeRatio != 0.5 || w.SharedPrefix != 3 || w.Workers != 2 || w.Requests != 7 || w.Warmups != 2 || w.Concurrency != 4 {
		t.Errorf("workload %+v", w)
	}
	if w.Rate != 2.5 || w.Burstiness != 0.5 || w.Seed != 9 || w.BestOf != 2 || *w.LogProbs != 3 || !w.IgnoreEOS || !w.Profile || !w.KeepTexts || !slices.Equal(w.Models, []string{"x", "y"}) {
		t.Errorf("workload %+v", w)
	}
	if !slices.Equal(o.familyList(), []string{"ttft", "itl"}) || !slices.Equal(o.percentileList(), []float64{50, 99}) {
		t.Errorf("families %v, percentiles %v", o.familyList(), o.percentileList())
	}
	if slo := o.slo(); len(slo) != 2 || slo["ttft"] != 100*time.Millisecond || slo["tpot"] != 20500*time.Microsecond {
		t.Errorf("goodput %v", slo)
	}
	if want := [][2]string{{"a", "b"}, {"c", "d"}}; !slices.Equal(o.pairs(), want) || o.path(Result{}) != filepath.Join("d", "f.json") {
		t.Errorf("metadata %v, path %s", o.pairs(), o.path(Result{}))
	}
}

func TestDefaultsOfTheReference(t *testing.T) {
	o, err := parse([]string{"--model", "org/m", "--dataset-name", "random"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	w := o.work
	if o.backend != "vllm" || o.target.URL != "http://127.0.0.1:8000" || endpoint(o.target) != "/v1/completions" ||
		w.InputTokens != 1024 || w.OutputTokens != 128 || w.RangeRatio != 1 || w.SharedPrefix != 0 || w.Requests != 1000 || w.Warmups != 0 ||
		w.Concurrency != 0 || w.Rate != 0 || w.Burstiness != 1 || w.Seed != 0 || w.BestOf != 1 || w.LogProbs != nil || w.IgnoreEOS || o.save {
		t.Errorf("got %+v", o)
	}
	ended := time.Date(2026, 8, 1, 10, 0, 2, 0, time.UTC)
	if got, want := o.path(Result{Ended: ended, Workload: w}), "vllm-infqps-m-20260801-100002.json"; got != want {
		t.Errorf("file %s, want %s", got, want)
	}
	o, err = parse([]string{"--model", "org/m", "--dataset-name", "random", "--request-rate", "5", "--max-concurrency", "8", "--result-dir", "d"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.path(Result{Ended: ended, Workload: o.work}), filepath.Join("d", "vllm-5.0qps-concurrency8-m-20260801-100002.json"); got != want {
		t.Errorf("file %s, want %s", got, want)
	}
}

func TestEveryBackendHasItsEndpoint(t *testing.T) {
	check := func(backend, path, want string) {
		t.Helper()
		args := []string{"--model", "m", "--dataset-name", "random", "--backend", backend}
		if path != "" {
			args = append(args, "--endpoint", path)
		}
		o, err := parse(args, io.Discard)
		if err != nil || endpoint(o.target) != want {
			t.Errorf("%s %s: %s, %v; want %s", backend, path, endpoint(o.target), err, want)
		}
	}
	for _, backend := range []string{"vllm", "lmdeploy", "openai", "scalellm", "sglang"} {
		check(backend, "", "/v1/completions")
	}
	check("openai", "/start/profile", "/start/profile")
	check("openai", "/serve/v1/completions", "/serve/v1/completions")
	check("openai-chat", "", "/v1/chat/completions")
	check("tgi", "", "/generate_stream")
	check("tensorrt-llm", "/v2/models/m/generate_stream", "/v2/models/m/generate_stream")
	check("deepspeed-mii", "/mii/llama", "/mii/llama")
	check("sglang-native", "", "/generate")
}

func TestRefusedOptions(t *testing.T) {
	check := func(want string, args ...string) {
		t.Helper()
		_, err := parse(append([]string{"--model", "m", "--dataset-name", "random"}, args...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
	check("tokens are counted by the server", "--tokenizer-mode", "custom")
	check("tokens are counted by the server", "--tokenizer-mode", "deepseek_v4")
	check("give --use-chat-template", "--dsv4")
	check("give --use-chat-template", "--dsv4", "--use-chat-template")
	check("does not end in chat/completions", "--backend", "openai-chat", "--endpoint", "/v1/completions")
	check("does not end in generate_stream", "--backend", "tgi", "--endpoint", "/v1/completions")
	check("does not end in completions or profile", "--endpoint", "/generate")
	check("is no path", "--endpoint", "v1/completions")
	check("backend tgi cannot be asked for it", "--backend", "tgi", "--ignore-eos")
	check("backend tgi takes text only", "--backend", "tgi", "--prompts", "ids")
	check("has no chat endpoint", "--backend", "tgi", "--use-chat-template")
	check("requests of backend tgi name no model", "--backend", "tgi", "--lora-modules", "a")
	check("cannot be had with --prompts ids", "--use-chat-template", "--prompts", "ids")
	check(`prompts "poems" are none of`, "--prompts", "poems")
	check("--best-of 0", "--best-of", "0")
	check("--request-timeout", "--request-timeout", "0s")
	check("want a JSON object", "--extra-body", "[1]")
	check("want a JSON object", "--extra-body", `{"a":1} x`)
	check(`dataset "sharegpt"`, "--url", "http://127.0.0.1:1", "--dataset-name", "sharegpt")
	check(`unexpected argument "y"`, "--seed", "1", "y")
	check("burstiness", "--burstiness", "0")
	check("--random-range-ratio 0: want a number above 0 up to 1", "--random-range-ratio", "0")
	check("--random-range-ratio 1.5", "--random-range-ratio", "1.5")
	check("--idle-timeout -1s must not be negative", "--idle-timeout", "-1s")
	check("a user or a password is not taken", "--base-url", "http://u:secret@h")
}

func TestReferenceArgs(t *testing.T) {
	check := func(in, want string) {
		t.Helper()
		if got := strings.Join(referenceArgs(strings.Fields(in)), " "); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	check("--goodput ttft:1 tpot:2 --seed 3", "--goodput=ttft:1 --goodput=tpot:2 --seed 3")
	check("--metadata a=b --profile", "--metadata=a=b --server-profile")
	check("--profile --model m", "--server-profile --model m")
	check("--profile 8k1k", "--profile 8k1k")
	check("--metadata", "--metadata")
	check("-- --profile", "-- --profile")
}

func TestExtraBodyKeepsItsOrder(t *testing.T) {
	got, err := pairsOf(` {"z": {"b": 1, "a": [2, 3]}, "a": 1e5} `)
	if want := [][2]string{{"z", `{"b":1,"a":[2,3]}`}, {"a", "1e5"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// templated is a server whose chat template adds 9 tokens to a text of words.
func templated(t *testing.T, bodies *[]string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var c completion
		_ = json.Unmarshal(body, &c)
		words := len(strings.Fields(c.Messages[0].Content))
		if !c.Stream {
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, words+9)
			return
		}
		*bodies = append(*bodies, string(body))
		say(w, `data: {"choices":[{"delta":{"content":"x"}}]}`+"\n\n", usage(words+9, 1), "data: [DONE]\n\n")
	})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var c completion
		_ = json.NewDecoder(r.Body).Decode(&c)
		fmt.Fprintf(w, `{"count": %d}`, len(strings.Fields(c.Prompt)))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// What the server's template adds is taken off the prompts, so that the server
// reads as many tokens as were asked for.
func TestChatTemplateOfTheServer(t *testing.T) {
	var bodies []string
	dir := t.TempDir()
	target := Target{URL: templated(t, &bodies)}
	args := append(reference(target, dir), "--use-chat-template", "--random-range-ratio", "1", "--max-concurrency", "1", "--num-prompts", "3", "--num-warmups", "0")
	var said bytes.Buffer
	if err := Command(context.Background(), args, io.Discard, &said); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "template has 9 tokens") || !strings.Contains(string(raw), `"input_lens": [20, 20, 20]`) || !strings.Contains(string(raw), `"server_prompt_tokens": [20, 20, 20]`) {
		t.Errorf("said %s, file %.900s", said.String(), raw)
	}
	var c completion
	if err := json.Unmarshal([]byte(bodies[0]), &c); err != nil || len(strings.Fields(c.Messages[0].Content)) != 11 {
		t.Errorf("body %s: want a message of 11 words", bodies[0])
	}
	args = append(args, "--random-input-len", "9")
	if err := Command(context.Background(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "template alone has 9 tokens, 9 were asked for") {
		t.Errorf("a prompt that is all template: %v", err)
	}
}

// The profiler is started with the first request's body, and its stop lies
// within the measured duration.
func TestServerProfile(t *testing.T) {
	var calls []string
	h := &honest{answer: full}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "_profile") {
			h.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var got struct {
			Steps int `json:"num_steps"`
			Model string
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%s: body %s: %v", r.URL.Path, body, err)
		}
		calls = append(calls, fmt.Sprintf("%s %s %d after %d", r.URL.Path, got.Model, got.Steps, len(h.prompts)))
	}))
	defer front.Close()
	w := small()
	w.Profile, w.Warmups = true, 0
	r, err := Run(context.Background(), Target{URL: front.URL, Model: "m"}, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/start_profile m 1 after 0", "/stop_profile m 0 after 6"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	last := time.Duration(0)
	for _, q := range r.Requests {
		last = max(last, q.Sent+q.Latency)
	}
	if r.Duration <= last {
		t.Errorf("duration %v ends before the profiler was stopped, %v", r.Duration, last)
	}
	if _, err := Run(context.Background(), (&honest{answer: full}).start(t), w, nil); err == nil || !strings.Contains(err.Error(), "/start_profile: 404") {
		t.Errorf("a server without a profiler: %v", err)
	}
}

// profiling is a server with a profiler, which is stopped with a status. Every
// body must be JSON.
func profiling(t *testing.T, h *honest, stop int) Target {
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 && !json.Valid(body) {
			t.Errorf("%s: body of %d bytes is not JSON, it ends with %s", r.URL.Path, len(body), body[max(len(body)-100, 0):])
		}
		switch r.URL.Path {
		case "/start_profile":
		case "/stop_profile":
			w.WriteHeader(stop)
		default:
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return Target{URL: front.URL, Model: "m"}
}

// What is sent to the profiler is not written into the first request.
func TestServerProfileLeavesTheRequestsAlone(t *testing.T) {
	h := &honest{answer: full}
	for words := 900; words < 920; words++ { // 5 KB; how much room is behind a request depends on its length
		w := Workload{Requests: 1, Concurrency: 1, InputTokens: words, OutputTokens: 1, Profile: true}
		if r, err := Run(context.Background(), profiling(t, h, http.StatusOK), w, nil); err != nil || r.Requests[0].Error != "" {
			t.Fatalf("%d words: %v, %+v", words, err, r.Requests)
		}
	}
}

// A profiler that cannot be stopped takes nothing from what was measured.
func TestProfilerThatDoesNotStop(t *testing.T) {
	w := small()
	w.Profile, w.Warmups = true, 0
	r, err := Run(context.Background(), profiling(t, &honest{answer: full}, http.StatusInternalServerError), w, nil)
	if err != nil || r.finished() != 6 || r.Duration == 0 {
		t.Fatalf("got %v, %d finished in %v", err, r.finished(), r.Duration)
	}
	if h := r.Health; h.Verdict != Unhealthy || !slices.Contains(h.Reasons, "profile: /stop_profile: 500 Internal Server Error") {
		t.Errorf("health %s: %q", h.Verdict, h.Reasons)
	}
}
