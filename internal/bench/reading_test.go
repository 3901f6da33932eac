package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Lines of streams.
func text(s string) string  { return fmt.Sprintf(`data: {"choices":[{"text":%q}]}`, s) }
func delta(s string) string { return `data: {"choices":[{"delta":` + s + `}]}` }

const (
	doneLine  = "data: [DONE]"
	usageLine = `data: {"choices":[],"usage":{"completion_tokens":3}}`
	errorLine = `data: {"error":{"message":"boom"}}`
)

// readLines has a stream of lines read, one every millisecond. whole says that
// the body ended as it should.
func readLines(chat, whole bool, lines ...string) Request {
	x := &exchange{chat: chat, texts: true, delays: &delays{}, prompt: -1, completion: -1, cached: -1, sent: 5e6}
	for i, line := range lines {
		x.stamp = x.sent + int64(i+1)*1e6
		x.line([]byte(line))
	}
	x.finish(whole)
	return x.request(0)
}

// What the reference makes of a stream, and what refit does.
func TestReferenceReadingOfStreams(t *testing.T) {
	const ok, failed = true, false
	cases := []struct {
		name   string
		chat   bool
		lines  []string
		theirs bool
		tokens int // -1 = counted out of the text
		gaps   int
		text   string
		ours   string // kind of the corrected reading's error
		mine   int    // its tokens
	}{
		{"plain", false, []string{text("a"), text(""), text("b"), usageLine, doneLine}, ok, 3, 2, "ab", "", 3},
		{"comment first", false, []string{": ping", "", text("a"), usageLine, doneLine}, failed, 0, 0, "", "", 3},
		{"comment in the middle", false, []string{text("a"), ": ping", text("b"), text("c"), usageLine, doneLine}, failed, 0, 0, "", "", 3},
		{"event line", false, []string{"event: message", text("a"), usageLine, doneLine}, failed, 0, 0, "", "", 3},
		{"no space behind data", false, []string{`data:{"choices":[{"text":"a"}]}`, usageLine, doneLine}, failed, 0, 0, "", "", 3},
		{"usage beside the last choices", false, []string{text("a"), `data: {"choices":[{"text":"b"}],"usage":{"completion_tokens":2}}`, doneLine}, ok, 0, 1, "ab", "", 2},
		{"usage on every message and by itself", false, []string{`data: {"choices":[{"text":"a"}],"usage":{"completion_tokens":1}}`, usageLine, doneLine}, ok, 3, 0, "a", "", 3},
		{"no usage", false, []string{text("a"), text("b"), doneLine}, ok, 0, 1, "ab", "", 0},
		{"usage without a count", false, []string{text("a"), `data: {"usage":{"prompt_tokens":9}}`, doneLine}, ok, -1, 0, "a", "", 0},
		{"only usage", false, []string{usageLine, doneLine}, failed, 0, 0, "", "stream", 0},
		{"only usage, chat", true, []string{usageLine, doneLine}, ok, 3, 0, "", "stream", 0},
		{"error after a token", false, []string{text("a"), errorLine, doneLine}, ok, 0, 0, "a", "stream", 0},
		{"tokens behind an error", false, []string{text("a"), errorLine, text("b"), usageLine, doneLine}, ok, 3, 1, "ab", "stream", 0},
		{"only an error, chat", true, []string{errorLine}, ok, 0, 0, "", "stream", 0},
		{"only done, chat", true, []string{doneLine}, ok, 0, 0, "", "stream", 0},
		{"only done", false, []string{doneLine}, failed, 0, 0, "", "stream", 0},
		{"no done", false, []string{text("a"), text("b")}, ok, 0, 1, "ab", "cut", 0},
		{"no done, usage by itself", false, []string{text("a"), usageLine}, ok, 3, 0, "a", "", 3},
		{"no done, a finish reason", false, []string{text("a"), `data: {"choices":[{"text":"b","finish_reason":"length"}],"usage":{"completion_tokens":2}}`}, ok, 0, 1, "ab", "", 2},
		{"no done, usage in every message", false, []string{`data: {"choices":[{"text":"a","finish_reason":null}],"usage":{"completion_tokens":1}}`, `data: {"choices":[{"text":"b","finish_reason":null}],"usage":{"completion_tokens":2}}`}, ok, 0, 1, "ab", "cut", 0},
		{"no done, an empty finish reason", false, []string{`data: {"choices":[{"text":"a","finish_reason":""}]}`}, ok, 0, 0, "a", "cut", 0},
		{"no done, a finish reason, chat", true, []string{delta(`{"content":"a"}`), `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":1}}`}, ok, 0, 1, "a", "", 1},
		{"no blank line between", false, []string{text("a"), text("b"), "", usageLine, doneLine}, ok, 3, 1, "ab", "", 3},
		{"chat with a role", true, []string{delta(`{"role":"assistant","content":""}`), delta(`{"content":"a"}`), delta(`{"content":"b"}`), usageLine, doneLine}, ok, 3, 2, "ab", "", 3},
		{"chat with reasoning", true, []string{delta(`{"reasoning_content":"hm"}`), delta(`{"content":"b"}`), usageLine, doneLine}, ok, 3, 1, "b", "", 3},
		{"choice without delta, chat", true, []string{delta(`{"content":"a"}`), `data: {"choices":[{"index":0}]}`, usageLine, doneLine}, failed, 0, 0, "a", "", 3},
		{"message that is not JSON", false, []string{text("a"), "data: {oops", "", doneLine}, failed, 0, 0, "", "stream", 0},
		{"line over the reference's limit", false, []string{text(strings.Repeat("x", maxReferenceLine)), usageLine, doneLine}, failed, 0, 0, "", "", 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := readLines(c.chat, true, c.lines...)
			ref := q.Reference
			if (ref.Error == "") != c.theirs || ref.Tokens != c.tokens || c.theirs && (ref.Gaps != c.gaps || q.Text != c.text) {
				t.Errorf("reference: %+v, text %q; want success %v, %d tokens, %d gaps, text %q", ref, q.Text, c.theirs, c.tokens, c.gaps, c.text)
			}
			if q.ErrorKind != c.ours || q.OutputTokens != c.mine {
				t.Errorf("corrected: error %q, %d tokens; want %q and %d", q.Error, q.OutputTokens, c.ours, c.mine)
			}
		})
	}
}

// A stream that breaks leaves the reference its TTFT and its gaps, no latency
// and no text.
func TestReferenceReadingOfBrokenStreams(t *testing.T) {
	q := readLines(false, false, text("a"), text("b"))
	ref := q.reference()
	if ref.Error == "" || ref.TTFT != time.Millisecond || len(ref.ITLs) != 1 || ref.Latency != 0 || ref.OutputTokens != 0 {
		t.Errorf("got %+v", ref)
	}
	q = readLines(false, true, text("a"), text("b"), ": ping", text("c"))
	if ref := q.reference(); ref.Error == "" || ref.TTFT != time.Millisecond || len(ref.ITLs) != 1 || ref.Latency != 0 {
		t.Errorf("a comment behind two tokens: got %+v", ref)
	}
}

// The reference's chat clock runs on to the usage message, its completions
// clock stops at the last choices.
func TestReferenceLatency(t *testing.T) {
	chat := readLines(true, true, delta(`{"content":"a"}`), delta(`{"content":"b"}`), usageLine, doneLine).reference()
	if chat.Latency != 3*time.Millisecond || chat.TTFT != time.Millisecond {
		t.Errorf("chat: latency %v, TTFT %v, want 3ms and 1ms", chat.Latency, chat.TTFT)
	}
	plain := readLines(false, true, text("a"), text("b"), usageLine, doneLine).reference()
	if plain.Latency != 2*time.Millisecond {
		t.Errorf("completions: latency %v, want 2ms", plain.Latency)
	}
	if empty := readLines(true, true, doneLine).reference(); empty.Error != "" || empty.TTFT != 0 || empty.Latency != 0 {
		t.Errorf("empty chat: %+v", empty)
	}
}

// What the legacy keys have of requests without usage, and what a reader of
// the file is told about it.
func TestLegacyTokensWithoutUsage(t *testing.T) {
	q := readLines(false, true, text("a"), text("b"), doneLine)
	q.OutputTokens, q.TokensFrom = 2, "count"
	r := Result{Duration: time.Second, Requests: []Request{q}, Workload: Workload{Concurrency: 1}}
	legacy := r.reference()
	if got := legacy.Totals(nil); got.Completed != 1 || got.OutputTokens != 0 || got.Unknown != 0 {
		t.Errorf("legacy totals %+v, want one request with 0 tokens", got)
	}
	if got := legacy.Stats("tpot", nil); got.N != 0 {
		t.Errorf("legacy TPOT has %d samples, want none", got.N)
	}
	if h := (Health{Verdict: Healthy}).counted(r); h.Verdict != Healthy {
		t.Errorf("health %+v: what the reference cannot count says nothing against the client", h)
	}
	if got := r.legacyDoubts(); len(got) != 1 || got[0] != "the legacy keys have 0 output tokens, the server sent 2" {
		t.Errorf("doubts %q", got)
	}
	q = readLines(false, true, text("a"), `data: {"usage":{"prompt_tokens":9}}`, doneLine)
	q.OutputTokens, q.TokensFrom = 1, "count"
	if got := q.reference(); got.OutputTokens != 1 {
		t.Errorf("usage without a count: %d tokens, want the 1 of the text", got.OutputTokens)
	}
}

// A run whose tokens nobody counted has no throughput.
func TestUncountedTokensAreUnhealthy(t *testing.T) {
	r := Result{Requests: []Request{readLines(false, true, text("a"), doneLine), readLines(false, true, text("a"), usageLine, doneLine)}}
	h := Health{Verdict: Healthy}.counted(r)
	if h.Verdict != Unhealthy || !slices.Equal(h.Reasons, []string{"nobody counted the output tokens of 1 requests"}) || len(r.legacyDoubts()) != 0 {
		t.Errorf("health %+v, doubts %q", h, r.legacyDoubts())
	}
}

func TestLegacyDoubts(t *testing.T) {
	check := func(name, reason string, qs ...Request) {
		t.Helper()
		if got := strings.Join(Result{Requests: qs}.legacyDoubts(), "; "); got != reason {
			t.Errorf("%s: %q, want %q", name, got, reason)
		}
	}
	good := readLines(false, true, text("a"), usageLine, doneLine)
	check("all is well", "", good)
	check("the reference fails", "the legacy keys have 1 completed requests, 2 of 2 were: the reference's client cannot read what this server sends",
		good, readLines(false, true, ": ping", text("a"), usageLine, doneLine))
	check("the reference does not see it", "the legacy keys have 2 completed requests, 1 of 2 were: the reference's client takes failures of this kind for success",
		good, readLines(false, true, text("a"), errorLine, usageLine, doneLine))
}

// literal is a second reading of the rules, slow and by the letter: what the
// reference makes of the lines of a body that ends as it should.
type literal struct {
	success       bool
	ttft, latency float64 // milliseconds, a line each
	gaps          []float64
	tokens        int // -1 = none in the usage
	text          string
}

func readLiterally(chat bool, lines []string) literal {
	var out literal
	first, recent := false, 0.0
	for i, line := range lines {
		now := float64(i + 1)
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		line = strings.TrimPrefix(line, "data: ")
		if line == "[DONE]" {
			continue
		}
		var message map[string]any
		if json.Unmarshal([]byte(line), &message) != nil || message == nil {
			return out
		}
		if choices, _ := message["choices"].([]any); len(choices) > 0 {
			choice, _ := choices[0].(map[string]any)
			piece := choice["text"]
			if chat {
				inner, there := choice["delta"].(map[string]any)
				if !there {
					return out
				}
				piece = inner["content"]
			}
			if !first {
				first, out.ttft = true, now
			} else {
				out.gaps = append(out.gaps, now-recent)
			}
			recent = now
			if s, ok := piece.(string); ok {
				out.text += s
			}
		} else if usage, _ := message["usage"].(map[string]any); len(usage) > 0 {
			out.tokens = -1
			if n, ok := usage["completion_tokens"].(float64); ok {
				out.tokens = int(n)
			}
		}
		if chat {
			recent = now
		}
	}
	out.success, out.latency = chat || first, recent
	return out
}

func TestReadingEqualsTheLiteralOne(t *testing.T) {
	texts := []string{text("a"), text(""), text("b c"), `data: {"choices":[{"text":null}]}`}
	deltas := []string{delta(`{"content":"x"}`), delta(`{"role":"assistant","content":""}`), delta(`{"reasoning_content":"r"}`), delta(`{}`)}
	both := []string{`data: {"choices":[{"index":1}]}`, usageLine, `data: {"usage":{"prompt_tokens":2}}`, `data: {"usage":null}`,
		`data: {"choices":[{"text":"u"}],"usage":{"completion_tokens":7}}`, errorLine, `data: {"error":null}`, doneLine, "", "  ", ": c", "event: x", "data:" + text("n")[6:], "data: {", `data: {}`}
	rapid.Check(t, func(t *rapid.T) {
		chat := rapid.Bool().Draw(t, "chat")
		pieces := append(texts, both...)
		if chat {
			pieces = append(deltas, both...)
		}
		lines := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "lines")
		q := readLines(chat, true, lines...)
		got, want := q.Reference, readLiterally(chat, lines)
		if (got.Error == "") != want.success {
			t.Fatalf("chat %v, %q: error %q, want success %v", chat, lines, got.Error, want.success)
		}
		ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
		var gaps []float64
		for _, gap := range q.reference().ITLs {
			gaps = append(gaps, ms(gap))
		}
		if ms(got.TTFT) != want.ttft || !slices.Equal(gaps, want.gaps) {
			t.Fatalf("chat %v, %q: TTFT %v, gaps %v, want %v, %v", chat, lines, got.TTFT, gaps, want.ttft, want.gaps)
		}
		if want.success && (math.Abs(ms(got.Latency)-want.latency) > 1e-9 || got.Tokens != want.tokens || q.Text != want.text) {
			t.Fatalf("chat %v, %q: latency %v, %d tokens, text %q, want %+v", chat, lines, got.Latency, got.Tokens, q.Text, want)
		}
	})
}

// A record may be asked for by several at a time.
func TestReadingChangesNothing(t *testing.T) {
	x := &exchange{}
	got := x.reading()
	if got == nil || got.Error != "no message with choices arrived" || got.TTFT != 0 || got.Gaps != 0 || got.Tokens != 0 {
		t.Errorf("got %+v", got)
	}
	if x.ref != (reading{}) {
		t.Errorf("the exchange was changed: %+v", x.ref)
	}
}
