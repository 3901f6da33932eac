package bench

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// What a server says in place of tokens reaches a terminal as text alone.
func TestErrorsOfServersArePrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[2J", "\x1b]0;title\a", "a\rb", "\u202etxt", "\x9b31m", "\xff"})).Draw(t, "said")
		for name, line := range map[string]string{"no JSON": "data: {" + said, "error": `data: {"error":` + encoded(t, said) + `}`, "stray": said} {
			x := &exchange{delays: &delays{}}
			for part := range strings.SplitSeq(line, "\n") {
				x.line([]byte(part))
			}
			x.finish(true)
			if x.failure == "" {
				t.Fatalf("%s %q: no failure", name, said)
			}
			if i := strings.IndexFunc(x.failure, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Fatalf("%s %q: failure %q holds a control", name, said, x.failure)
			}
		}
	})
}

func encoded(t *rapid.T, s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A response that never ends is cut off, whatever it is made of.
func TestEndlessResponses(t *testing.T) {
	for name, c := range map[string]struct{ head, again string }{
		"interim": {"", "HTTP/1.1 102 Processing\r\n\r\n"}, "open": {"HTTP/1.0 200 OK\r\n\r\n", "data: " + strings.Repeat("x", 1000) + "\n"},
		"chunks":   {"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n", "400\r\n" + strings.Repeat("x", 1024) + "\r\n"},
		"trailers": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "a: " + strings.Repeat("b", 1000) + "\r\n"},
	} {
		var r response
		piece := []byte(strings.Repeat(c.again, 1<<12))
		_, err := r.feed([]byte(c.head), func([]byte) {})
		for n := len(c.head); err == nil; n += len(piece) {
			if n > maxResponse {
				t.Fatalf("%s: %d bytes were taken", name, n)
			}
			_, err = r.feed(piece, func([]byte) {})
		}
		if !strings.Contains(err.Error(), "longer") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzHealthOf(f *testing.F) {
	for _, s := range []string{`{}`, `{"refit":null}`, `{"refit":{"health":{"verdict":"healthy","errors":0}}}`, `{"refit":{"health":null}}`, `[]`, `{"refit":{"health":{"verdict":7}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := HealthOf(raw)
		var file map[string]json.RawMessage
		if err == nil && (json.Unmarshal(raw, &file) != nil || len(file) == 0 && h.Verdict != Unknown) {
			t.Errorf("HealthOf(%q): got %+v, want unknown or an error", raw, h)
		}
	})
}

func FuzzParseOptions(f *testing.F) {
	f.Add("--model\x00m\x00--goodput\x00ttft:5\x00--metadata\x00a=b=c\x00--metric-percentiles\x0050,99.9")
	f.Add("--model\x00m\x00--backend\x00openai-chat\x00--endpoint\x00/v1/completions")
	f.Add("--goodput\x00ttft:NaN\x00--model\x00m\x00--metric-percentiles\x00NaN")
	f.Fuzz(func(t *testing.T, args string) {
		if strings.Contains(args, "token-file") {
			return // names a file of this machine
		}
		o, err := parse(strings.Split(args, "\x00"), &strings.Builder{})
		if err != nil {
			return
		}
		for _, p := range o.percentileList() {
			if !(p >= 0 && p <= 100) {
				t.Errorf("parse(%q): percentile %v", args, p)
			}
		}
		for name, d := range o.slo() {
			if d < 0 {
				t.Errorf("parse(%q): goodput %s is %v", args, name, d)
			}
		}
		if o.target.Model == "" && !o.own.asked || len(o.pairs()) != len(o.metadata) {
			t.Errorf("parse(%q): got %+v", args, o)
		}
	})
}
