package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const recording = `{"session": "a", "turns": [
  {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One?"}], "output_tokens": 3, "assistant": "Recorded one."},
  {"delay_ms": 20, "messages": [{"role": "user", "content": "Two?"}], "output_tokens": 2}]}
{"session": "b", "turns": [{"messages": [{"role": "user", "content": "Three?"}], "output_tokens": 1}]}
`

// oneLine makes a line of each session of a readable sample.
func oneLine(text string) string {
	return strings.NewReplacer("[\n  {", "[{", ",\n  {", ", {").Replace(text)
}

func TestParseTrace(t *testing.T) {
	trace, err := ParseTrace("t.jsonl", strings.NewReader(oneLine(recording)))
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Sessions) != 2 || trace.requests() != 3 || trace.Sessions[0].Turns[1].DelayMS != 20 || trace.Sessions[0].Turns[0].Assistant != "Recorded one." {
		t.Errorf("got %+v", trace)
	}
	if got := trace.capped(5 * time.Millisecond).Sessions[0].Turns[1].DelayMS; got != 5 || trace.Sessions[0].Turns[1].DelayMS != 20 {
		t.Errorf("capped delay %v ms, want 5, and 20 in the trace itself", got)
	}
}

func TestTraceErrorsSayTheLine(t *testing.T) {
	const good = `{"session": "a", "turns": [{"messages": [{"role": "user", "content": "x"}], "output_tokens": 1}]}` + "\n\n"
	turn := func(turn string) string { return `{"session": "b", "turns": [` + turn + `]}` }
	const user = `"messages": [{"role": "user", "content": "x"}]`
	check := func(name, line, want string) {
		t.Helper()
		_, err := ParseTrace("t.jsonl", strings.NewReader(good+line))
		if err == nil || !strings.HasPrefix(err.Error(), "t.jsonl:3: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want line 3 and %q", name, err, want)
		}
	}
	check("no JSON", "{oops", "want a session as a JSON object")
	check("unknown key", `{"session": "b", "turn": []}`, `unknown field "turn"`)
	check("unknown key of a turn", turn(`{"think_ms": 1}`), `unknown field "think_ms"`)
	check("two objects", turn(`{`+user+`, "output_tokens": 1}`)+" {}", "more behind the session")
	check("no name", `{"turns": []}`, `no "session"`)
	check("no turns", `{"session": "b"}`, `session "b" has no turns`)
	check("same name", good[:len(good)-2], `session "a" is on line 1 already`)
	check("no messages", turn(`{"output_tokens": 1}`), `session "b", turn 1: no messages`)
	check("no tokens", turn(`{`+user+`}`), "output_tokens 0: must be positive")
	check("role", turn(`{"messages": [{"role": "tool", "content": "x"}], "output_tokens": 1}`), `role "tool" is none of system, user, assistant`)
	check("first delay", turn(`{"delay_ms": 5, `+user+`, "output_tokens": 1}`), "a first turn has no answer to wait behind")
	check("negative delay", turn(`{"delay_ms": -1, `+user+`, "output_tokens": 1}`), "delay_ms -1: want 0 to 86400000")
	check("nothing to replay", turn(`{`+user+`, "output_tokens": 1}, {`+user+`, "output_tokens": 1}`), `turn 1: no "assistant"`)
	if _, err := ParseTrace("t.jsonl", strings.NewReader("\n")); err == nil || !strings.Contains(err.Error(), "t.jsonl: no session") {
		t.Errorf("empty file: got %v", err)
	}
}

// chats is a server that answers chats and remembers what it was asked, when.
type chats struct {
	mu     sync.Mutex
	asked  map[string][]chatMessage // by the last message
	tokens map[string]int
}

func (c *chats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var ask struct {
		Messages []chatMessage `json:"messages"`
		Most     int           `json:"max_completion_tokens"`
	}
	if r.URL.Path != "/v1/chat/completions" || json.Unmarshal(body, &ask) != nil {
		http.NotFound(w, r)
		return
	}
	c.mu.Lock()
	last := ask.Messages[len(ask.Messages)-1].Content
	c.asked[last], c.tokens[last] = ask.Messages, ask.Most
	c.mu.Unlock()
	for range ask.Most {
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"live\"}}]}\n\n")
	}
	fmt.Fprint(w, usage(40+len(ask.Messages), ask.Most), "data: [DONE]\n\n")
}

func TestTraceReplaysTheRecordedAnswers(t *testing.T) {
	trace, err := ParseTrace("t.jsonl", strings.NewReader(oneLine(recording)))
	if err != nil {
		t.Fatal(err)
	}
	c := &chats{asked: map[string][]chatMessage{}, tokens: map[string]int{}}
	server := httptest.NewServer(c)
	defer server.Close()
	target := Target{URL: server.URL, Model: "m", API: Chat}
	trace.Sessions[0].Turns[1].DelayMS = 3_600_000 // an hour, in which nobody does anything
	trace.MaxIdle = 20 * time.Millisecond
	r, err := Run(context.Background(), target, Workload{Trace: trace, Concurrency: 1, InputTokens: 1, OutputTokens: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []chatMessage{{"system", "Be brief."}, {"user", "One?"}, {"assistant", "Recorded one."}, {"user", "Two?"}}
	if got := c.asked["Two?"]; !slices.Equal(got, want) {
		t.Errorf("second turn: got %v, want %v", got, want)
	}
	if c.tokens["One?"] != 3 || c.tokens["Two?"] != 2 || c.tokens["Three?"] != 1 {
		t.Errorf("tokens asked for: %v", c.tokens)
	}
	first, second, other := r.Requests[0], r.Requests[1], r.Requests[2]
	if len(r.Requests) != 3 || second.Session != 0 || second.Turn != 1 || other.Session != 1 || other.Turn != 0 || r.Workload.Requests != 3 {
		t.Fatalf("got %+v", r.Requests)
	}
	if pause := 20 * time.Millisecond; second.Intended < first.Ended+pause || second.Intended > first.Ended+10*time.Second || second.Sent < second.Intended || second.Queued != 0 || second.InputTokens != 44 {
		t.Errorf("second turn intended at %v, sent at %v with %d tokens; want %v behind %v, 44 tokens", second.Intended, second.Sent, second.InputTokens, pause, first.Ended)
	}
	if other.Sent < second.Ended {
		t.Errorf("the only user began the second session at %v, in the middle of the first, which ended at %v", other.Sent, second.Ended)
	}
}

func TestTraceIsChat(t *testing.T) {
	_, err := Run(context.Background(), Target{URL: "http://127.0.0.1:1"}, Workload{Trace: &Trace{Sessions: []Session{{Turns: []Turn{{}}}}}, InputTokens: 1, OutputTokens: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "a trace is replayed as chat completions, not as completions") {
		t.Errorf("got %v", err)
	}
}
