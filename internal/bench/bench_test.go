package bench

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func small() Workload {
	return Workload{Requests: 6, Concurrency: 2, Warmups: 4, InputTokens: 20, OutputTokens: 5, RangeRatio: 0.8, IgnoreEOS: true}
}

func TestRunAgainstHonestServer(t *testing.T) {
	h := &honest{answer: full}
	r, err := Run(context.Background(), h.start(t), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := lengths(0, 6, 20, 5, 0.8)
	for i, q := range r.Requests {
		if q.Error != "" || q.TokensFrom != "usage" {
			t.Fatalf("request %d: error %q, tokens from %q", i, q.Error, q.TokensFrom)
		}
		if q.InputTokens != in[i] || q.PromptTokens != in[i]+1 || q.OutputTokens != out[i] || q.Requested != out[i] {
			t.Errorf("request %d: input %d prompt %d output %d, want %d %d %d", i, q.InputTokens, q.PromptTokens, q.OutputTokens, in[i], in[i]+1, out[i])
		}
		if len(q.ITLs) != out[i]-1 || q.TTFT <= 0 || q.Latency < q.TTFT || q.FirstText != q.TTFT {
			t.Errorf("request %d: %d gaps, ttft %v, first text %v, latency %v", i, len(q.ITLs), q.TTFT, q.FirstText, q.Latency)
		}
	}
	total := 0
	for _, n := range out {
		total += n
	}
	if r.Health.DelaySource != "server-stamp" || r.Health.Samples != total || r.Health.Errors != 0 {
		t.Errorf("health: %+v, want %d samples of server stamps", r.Health, total)
	}
	if len(h.prompts) != 10 {
		t.Fatalf("server saw %d requests, want 4 warm-ups and 6 measured", len(h.prompts))
	}
}

func TestPromptsShareNoBeginning(t *testing.T) {
	h := &honest{answer: full}
	if _, err := Run(context.Background(), h.start(t), small(), nil); err != nil {
		t.Fatal(err)
	}
	first := map[string]bool{}
	for _, p := range h.prompts {
		word := strings.Fields(p)[0]
		if first[word] {
			t.Errorf("two prompts begin with %q", word)
		}
		first[word] = true
	}
}

func TestSeedRepeatsPrompts(t *testing.T) {
	sent := func(seed int64, concurrency int) []string {
		h := &honest{answer: full}
		w := small()
		w.Seed, w.Concurrency = seed, concurrency
		if _, err := Run(context.Background(), h.start(t), w, nil); err != nil {
			t.Fatal(err)
		}
		slices.Sort(h.prompts)
		return h.prompts
	}
	if !slices.Equal(sent(7, 2), sent(7, 2)) {
		t.Error("equal seeds gave different prompts")
	}
	if slices.Equal(sent(7, 2), sent(8, 2)) {
		t.Error("different seeds gave equal prompts")
	}
	if slices.Equal(sent(7, 2), sent(7, 3)) {
		t.Error("two points of a sweep gave equal prompts")
	}
}

// one runs a single request without warm-up against a scripted answer.
func one(t *testing.T, h *honest) Request {
	t.Helper()
	w := Workload{Requests: 1, Concurrency: 1, InputTokens: 4, OutputTokens: 3, IdleTimeout: time.Minute}
	r, err := Run(context.Background(), h.start(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Requests[0]
}

func TestStreams(t *testing.T) {
	tok := func(s string) string { return `data: {"choices":[{"text":"` + s + `"}]}` + "\n\n" }
	cases := []struct {
		name   string
		pieces []string
		tokens int
		gaps   int
	}{
		{"plain", []string{tok("a"), tok(""), tok("b"), usage(4, 3), "data: [DONE]\n\n"}, 3, 2},
		{"crlf", []string{"data: {\"choices\":[{\"text\":\"a\"}]}\r\n\r\n", "data: {\"choices\":[{\"text\":\"b\"}]}\r\n\r\n" + usage(4, 2), "data: [DONE]\r\n\r\n"}, 2, 1},
		{"comments and events", []string{": ping\n\n", "event: message\nid: 1\nretry: 5\n", tok("a"), ": ping\n", tok("b"), usage(4, 2), "data: [DONE]\n\n"}, 2, 1},
		{"no space after data", []string{`data:{"choices":[{"text":"a"}]}` + "\n\n", `data:{"choices":[{"text":"b"}]}` + "\n\n", usage(4, 2), "data:[DONE]\n\n"}, 2, 1},
		{"no blank line between", []string{`data: {"choices":[{"text":"a"}]}` + "\n" + `data: {"choices":[{"text":"b"}]}` + "\n", usage(4, 2), "data: [DONE]\n\n"}, 2, 1},
		{"half messages", []string{`data: {"cho`, `ices":[{"te`, `xt":"a"}]}`, "\n", "\n" + tok("b") + "da", "ta: [DO", "NE]\n\n" + usage(4, 2)}, 2, 1},
		{"usage with choices", []string{tok("a"), `data: {"choices":[{"text":"b"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}` + "\n\n", "data: [DONE]\n\n"}, 2, 1},
		{"usage on every message", []string{`data: {"choices":[{"text":"a"}],"usage":{"completion_tokens":1}}` + "\n\n", `data: {"choices":[{"text":"b"}],"usage":{"completion_tokens":2}}` + "\n\n", "data: [DONE]\n\n"}, 2, 1},
		{"usage and no done", []string{tok("a"), tok("b"), usage(4, 2)}, 2, 1},
		{"last line without end", []string{tok("a"), tok("b"), usage(4, 2), "data: [DONE]"}, 2, 1},
		{"text that looks like a key", []string{tok(`\"usage\":{\"completion_tokens\":99}`), tok(`\\`), usage(4, 2), "data: [DONE]\n\n"}, 2, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := one(t, &honest{answer: script(c.pieces...), noCount: true})
			if q.Error != "" || q.OutputTokens != c.tokens || q.TokensFrom != "usage" || len(q.ITLs) != c.gaps {
				t.Errorf("got error %q, %d tokens from %q, %d gaps; want %d tokens, %d gaps", q.Error, q.OutputTokens, q.TokensFrom, len(q.ITLs), c.tokens, c.gaps)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	tok := `data: {"choices":[{"text":"a"}]}` + "\n\n"
	cases := []struct {
		name, kind, text string
		answer           func(http.ResponseWriter, int, completion)
	}{
		{"500 with body", "status", "500 Internal Server Error: out of memory", func(w http.ResponseWriter, _ int, _ completion) { http.Error(w, "out of memory", 500) }},
		{"201", "status", "201 Created", func(w http.ResponseWriter, _ int, _ completion) { w.WriteHeader(201) }},
		{"redirect", "status", "302", func(w http.ResponseWriter, _ int, _ completion) { w.Header().Set("Location", "/x"); w.WriteHeader(302) }},
		{"reset after one token", "cut", "after 1 messages", func(w http.ResponseWriter, _ int, _ completion) { say(w, tok); cut(w) }},
		{"closed before the header", "reset", "unexpected EOF", func(w http.ResponseWriter, _ int, _ completion) { cut(w) }},
		{"clean end without done, finish reason or usage", "cut", "without [DONE], finish reason or usage of its own", script(tok)},
		{"error in the stream", "stream", `{"message":"boom"}`, script(tok, `data: {"error":{"message":"boom"}}`+"\n\n", "data: [DONE]\n\n")},
		{"not json", "stream", "not JSON: {oops", script("data: {oops\n\n", "data: [DONE]\n\n")},
		{"only done", "stream", "no token", script("data: [DONE]\n\n")},
		{"only usage", "stream", "no token", script(usage(4, 3), "data: [DONE]\n\n")},
		{"no stream at all", "stream", `{"detail": "use POST"}`, script(`{"detail": "use POST"}`)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := one(t, &honest{answer: c.answer})
			if q.ErrorKind != c.kind || !strings.HasPrefix(q.Error, c.kind+": ") || !strings.Contains(q.Error, c.text) {
				t.Errorf("got %q: %q, want %s with %q", q.ErrorKind, q.Error, c.kind, c.text)
			}
			if q.Latency != 0 || q.OutputTokens != 0 {
				t.Errorf("failed request has latency %v and %d tokens", q.Latency, q.OutputTokens)
			}
		})
	}
}

func TestOneFailureDoesNotStopTheRun(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, n int, c completion) {
		if n == 5 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		full(w, n, c)
	}}
	r, err := Run(context.Background(), h.start(t), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Totals(nil)
	if got.Completed != 5 || got.Failed != 1 || r.Health.Verdict != Unhealthy || r.Health.Errors != 1 {
		t.Errorf("totals %+v, health %+v", got, r.Health)
	}
}

func TestNoUsageIsCountedByTheServer(t *testing.T) {
	tok := func(s string) string { return `data: {"choices":[{"text":"` + s + `"}]}` + "\n\n" }
	answer := script(tok(`say \"one`), tok(` two\"`), tok(" three"), "data: [DONE]\n\n")
	if q := one(t, &honest{answer: answer}); q.OutputTokens != 4 || q.TokensFrom != "count" {
		t.Errorf("with tokenizer: %d tokens from %q, want 4 from count", q.OutputTokens, q.TokensFrom)
	}
	q := one(t, &honest{answer: answer, noCount: true})
	if q.Error != "" || q.TokensFrom != "" {
		t.Errorf("without tokenizer: error %q, tokens from %q, want unknown tokens", q.Error, q.TokensFrom)
	}
}

func TestInputFromUsageWithoutTokenizer(t *testing.T) {
	q := one(t, &honest{answer: script(token("a"), usage(9, 1), "data: [DONE]\n\n"), noCount: true})
	if q.InputTokens != 9 {
		t.Errorf("input tokens %d, want the server's 9", q.InputTokens)
	}
}

func TestServerThatClosesEveryConnection(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, n int, c completion) {
		w.Header().Set("Connection", "close")
		full(w, n, c)
	}}
	r, err := Run(context.Background(), h.start(t), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Totals(nil); got.Completed != 6 {
		t.Errorf("completed %d of 6: %s", got.Completed, r.firstError())
	}
}

func TestUnstampedServerUsesKernelStamps(t *testing.T) {
	h := &honest{answer: func(w http.ResponseWriter, _ int, c completion) {
		w.Header().Set("X-Refit-Clock", "monotonic another-boot")
		for range c.MaxTokens {
			say(w, token("x"))
		}
		say(w, usage(1, c.MaxTokens), "data: [DONE]\n\n")
	}}
	target := h.start(t)
	for range 200 { // the kernel begins to stamp some time after it was asked
		r, err := Run(context.Background(), target, small(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Health.DelaySource == "server-stamp" {
			t.Fatal("stamps of another boot were trusted")
		}
		if r.Health.DelaySource == "kernel" && r.Health.Samples > 0 {
			return
		}
	}
	t.Skip("this kernel stamps no received data")
}

func TestChat(t *testing.T) {
	delta := func(s string) string { return `data: {"choices":[{"delta":` + s + `}]}` + "\n\n" }
	h := &honest{answer: script(delta(`{"role":"assistant","content":""}`), delta(`{"reasoning_content":"hm"}`), delta(`{"content":"b"}`), usage(4, 2), "data: [DONE]\n\n")}
	target := h.start(t)
	target.API = "chat"
	r, err := Run(context.Background(), target, Workload{Requests: 1, Concurrency: 1, InputTokens: 4, OutputTokens: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := r.Requests[0]
	if q.Error != "" || q.OutputTokens != 2 || len(q.ITLs) != 2 || q.FirstText < q.TTFT {
		t.Errorf("got %+v", q)
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	h := &honest{answer: func(w http.ResponseWriter, _ int, _ completion) {
		say(w, token("a"))
		cancel()
		<-w.(interface{ CloseNotify() <-chan bool }).CloseNotify()
	}}
	_, err := Run(ctx, h.start(t), small(), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestNobodyListens(t *testing.T) {
	r, err := Run(context.Background(), Target{URL: "http://127.0.0.1:1", Model: "m"}, small(), nil)
	if err == nil {
		t.Fatalf("got %d requests, want an error", len(r.Requests))
	}
}

func TestBadArguments(t *testing.T) {
	ok := small()
	check := func(name string, target Target, change func(*Workload), want string) {
		t.Helper()
		w := ok
		if change != nil {
			change(&w)
		}
		_, err := Run(context.Background(), target, w, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	good := Target{URL: "http://127.0.0.1:1", Model: "m"}
	check("no requests", good, func(w *Workload) { w.Requests = 0 }, "must be positive")
	check("no tokens", good, func(w *Workload) { w.OutputTokens = 0 }, "must be positive")
	check("ratio", good, func(w *Workload) { w.RangeRatio = 1.5 }, "range ratio")
	check("api", Target{URL: good.URL, API: "soap"}, nil, `api "soap"`)
	check("endpoint", Target{URL: good.URL, API: TGI, Path: "/v1/completions"}, nil, "does not end in generate_stream")
	check("scheme", Target{URL: "https://127.0.0.1:1"}, nil, "want http://host:port")
	check("port", Target{URL: "http://127.0.0.1:99999"}, nil, "port")
	check("token", Target{URL: good.URL, Token: "a\r\nb"}, nil, "line end")
}

func TestProgressCountsEveryRequest(t *testing.T) {
	h := &honest{answer: full}
	var seen []int
	var last Progress
	told := func(p Progress) {
		if last = p; p.Ended != nil {
			seen = append(seen, p.Done)
		}
	}
	if _, err := Run(context.Background(), h.start(t), small(), told); err != nil {
		t.Fatal(err)
	}
	if !last.Over || last.Done != 6 || last.Total != 6 || last.Running != 0 || last.Messages == 0 || last.Tokens != float64(last.Messages) || last.TTFT <= 0 || last.Left != 0 {
		t.Errorf("the last word is %+v", last)
	}
	if !slices.Equal(seen, []int{1, 2, 3, 4, 5, 6}) {
		t.Errorf("progress %v", seen)
	}
}
