package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Lines of streams in llama.cpp's shape. Between text messages come no role,
// no usage; the last message with choices has no text; timings stand in the
// last message of all.
const llamaTail = `,"created":1,"model":"tiny.gguf","system_fingerprint":"b1","id":"chatcmpl-1"`

func llamaText(s string) string {
	return `data: {"choices":[{"text":"` + s + `","index":0,"logprobs":null,"finish_reason":null}]` + llamaTail + `,"object":"text_completion"}`
}

func llamaDelta(delta, finish string) string {
	return `data: {"choices":[{"finish_reason":` + finish + `,"index":0,"delta":` + delta + `}]` + llamaTail + `,"object":"chat.completion.chunk"}`
}

func llamaUsage(prompt, completion, cached int) string {
	return fmt.Sprintf(`"usage":{"completion_tokens":%d,"prompt_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, completion, prompt, prompt+completion, cached)
}

func llamaTimings(cached, prompt int, promptMS float64, predicted int, predictedMS float64) string {
	return fmt.Sprintf(`"timings":{"cache_n":%d,"prompt_n":%d,"prompt_ms":%v,"prompt_per_token_ms":9.5,"prompt_per_second":1e2,"predicted_n":%d,"predicted_ms":%v,"predicted_per_token_ms":3.25,"predicted_per_second":307.6}`,
		cached, prompt, promptMS, predicted, predictedMS)
}

func llamaFinish(more ...string) string {
	return `data: {"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}]` + llamaTail + `,` + strings.Join(more, ",") + `}`
}

// arrival is a line of a stream and when it is read.
type arrival struct {
	ms   float64
	line string
}

// read plays a stream to an exchange that was sent at time zero.
func read(chat bool, arrivals ...arrival) Request {
	const origin = int64(time.Hour)
	x := &exchange{chat: chat, sent: origin, delays: &delays{}, prompt: -1, completion: -1, cached: -1, plan: plan{input: 6, output: 4, measured: true}}
	for _, a := range arrivals {
		x.stamp = origin + int64(a.ms*1e6)
		x.line([]byte(a.line))
	}
	x.finish(true)
	return x.request(origin)
}

func millis(ds ...float64) []time.Duration {
	var out []time.Duration
	for _, d := range ds {
		out = append(out, time.Duration(d*1e6))
	}
	return out
}

func TestLlamaCompletions(t *testing.T) {
	q := read(false, arrival{100, llamaText(" a")}, arrival{110, ""}, arrival{130, ": ping"}, arrival{150, llamaText(" b")}, arrival{210, llamaText(" c")},
		arrival{210.5, llamaFinish(llamaUsage(7, 3, 1), llamaTimings(1, 6, 90.25, 3, 109.8))}, arrival{211, "data: [DONE]"})
	if q.Error != "" || q.OutputTokens != 3 || q.TokensFrom != "usage" || q.PromptTokens != 7 {
		t.Errorf("got error %q, %d tokens from %q, prompt %d", q.Error, q.OutputTokens, q.TokensFrom, q.PromptTokens)
	}
	if q.TTFT != 100*time.Millisecond || q.FirstText != q.TTFT || q.Decode != 110500*time.Microsecond {
		t.Errorf("first %v, first text %v, decode %v", q.TTFT, q.FirstText, q.Decode)
	}
	// The empty last message is a gap for the reference and none for a reader.
	if want := millis(50, 60, 0.5); !slices.Equal(q.ITLs, want) || !slices.Equal(q.TextITLs, want[:2]) {
		t.Errorf("gaps %v, between texts %v", q.ITLs, q.TextITLs)
	}
	want := Timings{Cached: 1, Prompted: 6, Predicted: 3, Prompt: 90250 * time.Microsecond, Decode: 109800 * time.Microsecond}
	if q.Server == nil || *q.Server != want || q.Cached == nil || *q.Cached != 1 {
		t.Errorf("server %+v, cached %v, want %+v", q.Server, q.Cached, want)
	}
}

func TestLlamaChat(t *testing.T) {
	q := read(true, arrival{100, llamaDelta(`{"role":"assistant","content":null}`, "null")}, arrival{101, llamaDelta(`{"content":"I"}`, "null")},
		arrival{151, llamaDelta(`{"content":"'m"}`, "null")}, arrival{151.5, llamaDelta(`{}`, `"length"`)},
		arrival{152, `data: {"choices":[]` + llamaTail + `,` + llamaUsage(32, 2, 20) + `,` + llamaTimings(20, 12, 90, 2, 50) + `}`}, arrival{152, "data: [DONE]"})
	if q.Error != "" || q.OutputTokens != 2 || q.TTFT != 100*time.Millisecond || q.FirstText != 101*time.Millisecond {
		t.Errorf("got error %q, %d tokens, first %v, first text %v", q.Error, q.OutputTokens, q.TTFT, q.FirstText)
	}
	if want := millis(50); !slices.Equal(q.TextITLs, want) || len(q.ITLs) != 3 {
		t.Errorf("between texts %v, want %v; %d gaps, want 3", q.TextITLs, want, len(q.ITLs))
	}
	if q.Decode != 50500*time.Microsecond || q.Latency != 152*time.Millisecond { // the reference's chat clock runs on to the usage
		t.Errorf("decode %v, latency %v", q.Decode, q.Latency)
	}
	if q.Server == nil || q.Server.Decode != 50*time.Millisecond || *q.Cached != 20 {
		t.Errorf("server %+v, cached %v", q.Server, q.Cached)
	}
}

// A token that is no whole character is held back by the server: its text
// comes with that of the tokens which complete it.
func TestLlamaMergesTokensOfOneCharacter(t *testing.T) {
	q := read(false, arrival{120, llamaText("😊")}, arrival{180, llamaText("😏")}, arrival{220, llamaFinish(llamaUsage(9, 8, 0), llamaTimings(0, 9, 80, 8, 140))}, arrival{220, "data: [DONE]"})
	if q.OutputTokens != 8 || q.FirstText != 120*time.Millisecond || len(q.TextITLs) != 1 {
		t.Errorf("%d tokens, first text %v, gaps %v", q.OutputTokens, q.FirstText, q.TextITLs)
	}
	a := Result{Requests: []Request{q}}.agreement()
	if a == nil || a.Merged != 1 || a.Decodes != 0 || a.DecodeOutside != 0 || !strings.Contains(a.String(), "no decode time to compare, tokens equal") {
		t.Errorf("got %+v", a)
	}
}

// With timings on every message the last ones count.
func TestLlamaTimingsPerToken(t *testing.T) {
	with := func(line, more string) string { return strings.TrimSuffix(line, "}") + "," + more + "}" }
	q := read(false, arrival{50, with(llamaText(" a"), llamaTimings(0, 3, 40, 1, 0.001))}, arrival{60, with(llamaText(" b"), llamaTimings(0, 3, 40, 2, 10))},
		arrival{60, llamaFinish(llamaUsage(3, 2, 0), llamaTimings(0, 3, 40, 2, 10))}, arrival{60, "data: [DONE]"})
	if q.Server == nil || q.Server.Predicted != 2 || q.Server.Decode != 10*time.Millisecond {
		t.Errorf("server %+v", q.Server)
	}
}

func TestLlamaErrorInTheStream(t *testing.T) {
	q := read(false, arrival{50, llamaText(" a")}, arrival{60, `data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`})
	if q.ErrorKind != "stream" || !strings.Contains(q.Error, "Context size has been exceeded") || q.Server != nil || q.Latency != 0 {
		t.Errorf("got %q, server %v, latency %v", q.Error, q.Server, q.Latency)
	}
}

func TestLlamaContextOverflow(t *testing.T) {
	const said = `{"error":{"code":400,"message":"request (1601 tokens) exceeds the available context size (1024 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1601,"n_ctx":1024}}`
	q := one(t, &honest{answer: func(w http.ResponseWriter, _ int, _ completion) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, said)
	}})
	if q.ErrorKind != "status" || !strings.Contains(q.Error, "exceeds the available context size (1024 tokens)") {
		t.Errorf("got %q", q.Error)
	}
}

// Tokens that vLLM or SGLang took from their caches stand in the usage.
func TestCachedTokensOfTheUsage(t *testing.T) {
	q := read(false, arrival{1, llamaText("a")}, arrival{2, `data: {"choices":[],` + llamaUsage(40, 1, 16) + `}`}, arrival{2, "data: [DONE]"})
	if q.Cached == nil || *q.Cached != 16 || q.Server != nil {
		t.Errorf("cached %v, server %v", q.Cached, q.Server)
	}
	q = read(false, arrival{1, llamaText("a")}, arrival{2, `data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1,"prompt_tokens_details":null}}`}, arrival{2, "data: [DONE]"})
	if q.Cached != nil {
		t.Errorf("cached %v of a server that does not say", *q.Cached)
	}
}

func TestTimingsThatAreNone(t *testing.T) {
	for _, timings := range []string{`null`, `[]`, `"x"`, `7`} {
		if ev := parseEvent([]byte(`{"timings":` + timings + `}`)); ev.timed || ev.malformed {
			t.Errorf("timings %s: timed %v, malformed %v", timings, ev.timed, ev.malformed)
		}
	}
	ev := parseEvent([]byte(`{"timings":{"cache_n":-3,"prompt_n":1.5,"prompt_ms":"9","predicted_n":4,"predicted_ms":-1,"prompt_per_second":{"x":[1]}}}`))
	if want := (Timings{Predicted: 4}); !ev.timed || ev.malformed || ev.timings != want {
		t.Errorf("got %+v, malformed %v, want %+v", ev.timings, ev.malformed, want)
	}
	for text, want := range map[string]time.Duration{"2194.333": 2194333 * time.Microsecond, "1e3": time.Second, "0.001": time.Microsecond, "1e99": 0, "NaN": 0, "86400001": 0} {
		if ev := parseEvent([]byte(`{"timings":{"predicted_ms":` + text + `}}`)); ev.timings.Decode != want {
			t.Errorf("%s ms: got %v, want %v", text, ev.timings.Decode, want)
		}
	}
}

// timed is a request as both sides read it.
func timed(decode, server time.Duration, tokens, predicted int) Request {
	return Request{FirstText: 100 * time.Millisecond, Decode: decode, OutputTokens: tokens, TokensFrom: "usage", TextITLs: make([]time.Duration, predicted-1),
		Server: &Timings{Predicted: predicted, Prompt: 80 * time.Millisecond, Decode: server}}
}

func TestServerAgreement(t *testing.T) {
	good := timed(1004*time.Millisecond, time.Second, 10, 10)
	failed := timed(5*time.Second, time.Second, 3, 10)
	failed.Error = "stream: x"
	one := timed(0, time.Microsecond, 1, 1)
	a := Result{Requests: []Request{good, timed(time.Second, time.Second, 10, 10), timed(999*time.Millisecond, time.Second, 10, 10), one, failed, {FirstText: 1}}}.agreement()
	if a == nil || !a.Agree() || a.Requests != 4 || a.Decodes != 3 || a.WaitMedian != 20*time.Millisecond || a.DecodeMaxGap != 4*time.Millisecond {
		t.Fatalf("got %+v", a)
	}
	if got, want := a.String(), "client and server agree within 0.4 % on decode time (median 0.1 %, at most 4ms), tokens equal, 4 requests"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	early := good
	early.FirstText = 79 * time.Millisecond
	a = Result{Requests: []Request{good, timed(1021*time.Millisecond, time.Second, 10, 10), timed(time.Second, time.Second, 9, 10), early}}.agreement()
	if a.Agree() || a.DecodeOutside != 1 || a.TokensDiffer != 1 || a.TokensMaxDiff != 0.1 || a.FirstImpossible != 1 {
		t.Errorf("got %+v", a)
	}
	for _, want := range []string{"client and server disagree by up to 2.1 % on decode time", "tokens differ in 1 by at most 10.0 %", "1 decode times further apart than 2 %", "1 first tokens earlier"} {
		if !strings.Contains(a.String(), want) {
			t.Errorf("%q does not say %q", a, want)
		}
	}
	h := Health{Verdict: Healthy, Reasons: []string{}}
	if bad := h.compared(a); bad.Verdict != Unhealthy || len(bad.Reasons) != 1 || bad.Reasons[0] != a.String() || bad.Agreement != a {
		t.Errorf("a client that disagrees with the server: %+v", bad)
	}
	if same := h.compared(nil); same.Verdict != Healthy || len(same.Reasons) != 0 {
		t.Errorf("a server without a clock: %+v", same)
	}
	// 3 % of a short time is a thread's turn.
	short := Result{Requests: []Request{timed(20600*time.Microsecond, 20*time.Millisecond, 10, 10)}}.agreement()
	if ok := h.compared(short); ok.Verdict != Healthy || short.DecodeOutside != 0 {
		t.Errorf("0.6 ms apart: %+v", ok)
	}
	if a := (Result{Requests: []Request{{FirstText: 1}, failed}}).agreement(); a != nil {
		t.Errorf("without timings: got %+v, want nothing", a)
	}
}

// The limit itself still agrees.
func TestAgreementLimit(t *testing.T) {
	if a := (Result{Requests: []Request{timed(102*time.Millisecond, 100*time.Millisecond, 10, 10)}}).agreement(); !a.Agree() {
		t.Errorf("2 %% apart: got %+v", a)
	}
}

const llamaPage = `# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total %d
llamacpp:prompt_tokens_seconds 34.6
llamacpp:requests_processing %d
llamacpp:requests_deferred 0
`

func TestEnginePages(t *testing.T) {
	check := func(text, engine string, running, waiting, prompt, cached float64) {
		t.Helper()
		p := readPage([]byte(text))
		if p == nil || p.engine != engine || *p.running != running || *p.waiting != waiting || *p.prompt != prompt {
			t.Fatalf("%s: got %+v", engine, p)
		}
		if (p.cached == nil) != (cached < 0) || p.cached != nil && *p.cached != cached {
			t.Errorf("%s: cached %v, want %v", engine, p.cached, cached)
		}
	}
	check(fmt.Sprintf(llamaPage, 89, 1), "llama.cpp", 1, 0, 89, -1)
	check(fmt.Sprintf(llamaPage, 89, 1)+"llamacpp:prompt_tokens_cached_total 35\n", "llama.cpp", 1, 0, 89, 35)
	check("vllm:num_requests_running{engine=\"0\"} 2.0\nvllm:num_requests_waiting{engine=\"0\"} 3.0\nvllm:prompt_tokens_total{engine=\"0\"} 40.0\nvllm:prefix_cache_hits_total{engine=\"0\"} 16.0\n", "vllm", 2, 3, 40, 16)
	check("sglang:num_running_reqs{tp_rank=\"0\"} 2.0\nsglang:num_queue_reqs{tp_rank=\"0\"} 1.0\nsglang:prompt_tokens_total{x=\"y\"} 9.0\nsglang:cached_tokens_total{x=\"y\"} 4.0\n", "sglang", 2, 1, 9, 4)
	check("num_requests_running 1\nnum_requests_waiting 0\nprompt_tokens_total 5\nprefix_cache_hits_total 2\n", "simulated", 1, 0, 5, 2)
	if p := readPage([]byte("process_cpu_seconds_total 4\n")); p != nil {
		t.Errorf("got %+v of nobody's page", p)
	}
}

func TestEngineLoadAndCacheHits(t *testing.T) {
	before, after := readPage([]byte(fmt.Sprintf(llamaPage, 89, 1))), readPage([]byte(fmt.Sprintf(llamaPage, 1231, 0)))
	l := load(before, after)
	if l == nil || l.Engine != "llama.cpp" || *l.RunningBefore != 1 || *l.RunningAfter != 0 || *l.PromptTokens != 1142 {
		t.Fatalf("got %+v", l)
	}
	if load(nil, after) != nil || load(before, nil) != nil {
		t.Error("a load out of one page")
	}
	three, four := 3, 4
	if got := cacheHits(before, after, []Request{{Cached: &three}, {}, {Cached: &four}}); got == nil || *got != 7 {
		t.Errorf("without a counter: got %v, want the answers' 7", got)
	}
	counted := func(n float64) *page { return &page{engine: "vllm", cached: &n} }
	if got := cacheHits(counted(10), counted(26), []Request{{Cached: &three}}); got == nil || *got != 16 {
		t.Errorf("with a counter: got %v, want 16", got)
	}
	if got := cacheHits(nil, nil, []Request{{}}); got != nil {
		t.Errorf("nobody said anything: got %v", *got)
	}
}

// The whole way: a server in llama.cpp's shape, its page, the raw file and the
// receipt read back from it.
func TestLlamaServer(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, _ int, c completion) {
		for range c.MaxTokens {
			say(w, llamaText(" x")+"\n\n")
		}
		say(w, llamaFinish(llamaUsage(20, c.MaxTokens, 2), llamaTimings(2, 18, 0.001, c.MaxTokens, 0.5))+"\n\n", "data: [DONE]\n\n")
	}, page: func(completions int) string { return fmt.Sprintf(llamaPage, 20*completions, 0) }}
	w := small()
	w.RangeRatio = 1
	r, err := Run(context.Background(), h.start(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Raw(RawMeta{Backend: "openai"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := HealthOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	if a := got.Agreement; a == nil || *a != *r.Health.Agreement || a.Requests != 6 || a.TokensDiffer != 0 || a.Decodes != 6 || a.FirstImpossible != 0 {
		t.Errorf("agreement %+v", a)
	}
	if e := got.Engine; e == nil || e.Engine != "llama.cpp" || *e.PromptTokens != 120 || *e.RunningBefore != 0 || e.WaitingAfter == nil {
		t.Errorf("engine %+v", e)
	}
	if got.PrefixCacheHits == nil || *got.PrefixCacheHits != 12 {
		t.Errorf("prefix cache hits %v, want 12", got.PrefixCacheHits)
	}
	for _, want := range []string{`"cached_tokens": [2, 2, 2, 2, 2, 2]`, `"server_timings": {"prompt_n": [18, 18, 18, 18, 18, 18], "prompt_ms": [0.001, `,
		`"predicted_n": [5, 5, 5, 5, 5, 5], "predicted_ms": [0.5, `, `"mean_text_itl_ms": `, `"decode_s": [`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("raw file has no %s", want)
		}
	}
	notes := strings.Join(r.notes(), "\n")
	if !strings.Contains(notes, "warning: the server took 12 of 120 prompt tokens from its prefix cache") || !strings.Contains(notes, "6 requests") {
		t.Errorf("notes: %s", notes)
	}
}

// The summary of the reference's flags has the comparison too.
func TestSummaryComparesWithTheServer(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, _ int, c completion) {
		for range c.MaxTokens {
			say(w, llamaText(" x")+"\n\n")
		}
		say(w, llamaFinish(llamaUsage(20, c.MaxTokens, 0), llamaTimings(0, 20, 0.001, c.MaxTokens, 3.6e6))+"\n\n", "data: [DONE]\n\n")
	}}
	var out strings.Builder
	if err := Command(context.Background(), reference(h.start(t), t.TempDir()), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"client and server disagree by up to 100.0 % on decode time", "tokens equal, 6 requests; 6 decode times further apart than 2 %", "for their prompt's turn"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("summary does not say %q:\n%s", want, out.String())
		}
	}
}

// Somebody else's requests show in the engine's counters.
func TestForeignLoadIsSaid(t *testing.T) {
	h := &honest{answer: full, page: func(completions int) string { return fmt.Sprintf(llamaPage, 500*completions, 2) }}
	r, err := Run(context.Background(), h.start(t), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.notes(), "\n")
	if !strings.Contains(notes, "had 2 requests of others") || !strings.Contains(notes, "read 3000 prompt tokens during the run") {
		t.Errorf("notes: %s", notes)
	}
}

// llama.cpp promises to keep the connection and closes it behind every stream.
// Its header comes long before the first token.
func TestLlamaClosesBehindAStream(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, _ int, c completion) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		chunk := func(s string) { fmt.Fprintf(conn, "%x\r\n%s\r\n", len(s), s) }
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nKeep-Alive: timeout=5, max=100\r\n\r\n")
		for range c.MaxTokens {
			chunk(llamaText(" x") + "\n\n")
		}
		chunk(llamaFinish(llamaUsage(20, c.MaxTokens, 0), llamaTimings(0, 20, 0.001, c.MaxTokens, 0.5)) + "\n\n")
		chunk("data: [DONE]\n\n")
		io.WriteString(conn, "0\r\n\r\n")
	}}
	w := small()
	w.Requests = 40
	r, err := Run(context.Background(), h.start(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Totals(nil); got.Completed != 40 || len(h.prompts) != 44 {
		t.Errorf("completed %d of 40, the server saw %d of 44: %s", got.Completed, len(h.prompts), r.firstError())
	}
	for i, q := range r.Requests {
		if q.Connect <= 0 || q.Connect > q.TTFT {
			t.Errorf("request %d: connected in %v, first message after %v", i, q.Connect, q.TTFT)
		}
	}
}
