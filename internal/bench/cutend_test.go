package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// A body without a length ends with its connection, whoever ended that. Whether
// something is missing only its last messages can say.
func TestStreamThatEndsWithItsConnection(t *testing.T) {
	counted := func(text, reason string, n int) string {
		return fmt.Sprintf(`data: {"choices":[{"text":%q,"finish_reason":%s}],"usage":{"prompt_tokens":4,"completion_tokens":%d}}`+"\n\n", text, reason, n)
	}
	for name, c := range map[string]struct{ body, kind string }{
		"done":                               {oneToken + "data: [DONE]\n\n", ""},
		"finish reason":                      {counted("a", "null", 1) + counted("b", `"length"`, 2), ""},
		"usage of its own":                   {oneToken + usage(4, 1), ""},
		"usage in every message, cut":        {counted("a", "null", 1) + counted("b", "null", 2), "cut"},
		"usage in every message, a null one": {counted("a", "null", 1) + `data: {"choices":[],"usage":null}` + "\n\n", "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &honest{noCount: true, answer: func(w http.ResponseWriter, _ int, _ completion) {
				hijacked(w, func(conn *net.TCPConn) {
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+c.body)
				})
			}}
			r, err := Run(context.Background(), h.start(t), Workload{Requests: 2, Concurrency: 1, InputTokens: 4, OutputTokens: 2}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range r.Requests {
				if q.ErrorKind != c.kind {
					t.Errorf("request %d: %q, want kind %q", i, q.Error, c.kind)
				}
			}
		})
	}
}

// SGLang's own API counts in every message too, and ends with a reason.
func TestSGLangStreamEndsWithAReason(t *testing.T) {
	message := func(text, reason string, n int) string {
		return fmt.Sprintf(`data: {"text":%q,"meta_info":{"prompt_tokens":4,"completion_tokens":%d,"finish_reason":%s}}`, text, n, reason)
	}
	read := func(lines ...string) Request {
		x := &exchange{dialect: &sglangDialect, delays: &delays{}, prompt: -1, completion: -1, cached: -1, sent: 1}
		for i, line := range lines {
			x.stamp = int64(i+2) * 1e6
			x.line([]byte(line))
		}
		x.finish(true)
		return x.request(0)
	}
	if q := read(message("a", "null", 1), message("ab", `{"type":"length","length":2}`, 2)); q.Error != "" || q.OutputTokens != 2 {
		t.Errorf("with a reason: %q, %d tokens", q.Error, q.OutputTokens)
	}
	if q := read(message("a", "null", 1), message("ab", "null", 2)); q.ErrorKind != "cut" {
		t.Errorf("without one: %q, want it cut", q.Error)
	}
	if q := read(message("a", "null", 1), "data: [DONE]"); q.Error != "" {
		t.Errorf("done: %q", q.Error)
	}
}
