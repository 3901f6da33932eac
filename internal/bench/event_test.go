package bench

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestParseEvent(t *testing.T) {
	check := func(name, in string, want event) {
		t.Helper()
		got := parseEvent([]byte(in))
		if got.done != want.done || got.choices != want.choices || string(got.text) != string(want.text) ||
			got.reasoning != want.reasoning || got.usage != want.usage || got.prompt != want.prompt || got.finished != want.finished ||
			got.completion != want.completion || got.sent != want.sent || string(got.failure) != string(want.failure) || got.malformed != want.malformed {
			t.Errorf("%s: parseEvent(%s)\n got %+v\nwant %+v", name, in, got, want)
		}
	}
	none := event{prompt: -1, completion: -1}
	with := func(change func(*event)) event { e := none; change(&e); return e }
	check("done", " [DONE] ", with(func(e *event) { e.done = true }))
	check("text", `{"choices":[{"text":"a"}]}`, with(func(e *event) { e.choices = true; e.text = []byte("a") }))
	check("empty text", `{"choices":[{"text":""}]}`, with(func(e *event) { e.choices = true }))
	check("null text", `{"choices":[{"text":null}]}`, with(func(e *event) { e.choices = true }))
	check("spaces", "\t{ \"choices\" : [ { \"text\" : \"a\" } ] , \"sent_ns\" : 12 }\r", with(func(e *event) { e.choices = true; e.text = []byte("a"); e.sent = 12 }))
	check("escapes", `{"choices":[{"text":"\"\\"}]}`, with(func(e *event) { e.choices = true; e.text = []byte(`\"\\`) }))
	check("chat", `{"choices":[{"delta":{"role":"assistant","content":"b"}}]}`, with(func(e *event) { e.choices = true; e.text = []byte("b") }))
	check("reasoning", `{"choices":[{"delta":{"content":null,"reasoning_content":"r"}}]}`, with(func(e *event) { e.choices = true; e.text = []byte("r"); e.reasoning = true }))
	check("text of logprobs is no text", `{"choices":[{"logprobs":{"text":"x"}}]}`, with(func(e *event) { e.choices = true }))
	check("key inside text", `{"choices":[{"text":"{\"error\":1}"}]}`, with(func(e *event) { e.choices = true; e.text = []byte(`{\"error\":1}`) }))
	check("finish reason", `{"choices":[{"text":"","finish_reason":"length"}]}`, with(func(e *event) { e.choices, e.finished = true, true }))
	check("null finish reason", `{"choices":[{"finish_reason":null},{"finish_reason":""}]}`, with(func(e *event) { e.choices = true }))
	check("finish reason elsewhere", `{"finish_reason":"length","choices":[{"logprobs":{"finish_reason":"stop"}}]}`, with(func(e *event) { e.choices = true }))
	check("empty choices", `{"choices":[]}`, none)
	check("null choices", `{"choices":null}`, none)
	check("usage", `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"details":{"completion_tokens":7}}}`, with(func(e *event) { e.usage = true; e.prompt = 3; e.completion = 5 }))
	check("usage without count", `{"usage":{"prompt_tokens":3}}`, with(func(e *event) { e.usage = true; e.prompt = 3 }))
	check("null usage", `{"usage":null}`, none)
	check("count that is no number", `{"usage":{"completion_tokens":"5"}}`, with(func(e *event) { e.usage = true }))
	check("negative count", `{"usage":{"completion_tokens":-5}}`, with(func(e *event) { e.usage = true }))
	check("error", `{"error":{"message":"x"}}`, with(func(e *event) { e.failure = []byte(`{"message":"x"}`) }))
	check("null error", `{"error":null}`, none)
	for _, bad := range []string{``, `x`, `{`, `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":1}}`, `{"choices":[{]}`, `{"text":"a`, `{"a":"\"}`, `["a"]`, `{"error":`, `{a:1}`} {
		check("malformed", bad, func() event { e := parseEvent([]byte(bad)); e.malformed = true; return e }())
	}
}

func TestDeepMessagesAreRefused(t *testing.T) {
	deep := `{"a":` + string(bytes.Repeat([]byte("["), 100000))
	if !parseEvent([]byte(deep)).malformed {
		t.Error("a message of 100000 brackets was accepted")
	}
}

// FuzzParseEvent holds the byte scan against a decoder: what the decoder
// accepts as an object the scan must read in the same way.
func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"choices":[{"text":"a"}],"usage":{"completion_tokens":5},"sent_ns":7}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":"\\\"é"}}],"error":null}`))
	f.Add([]byte(`{"choices":[{"text":""}],"usage":{"prompt_tokens_details":{"cached_tokens":2}},"timings":{"predicted_n":4,"predicted_ms":80.009}}`))
	f.Add([]byte("{\"a\":[1,2.5e-3,true,null,{}],\"choices\":[{}]}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got := parseEvent(in)
		var keys map[string]json.RawMessage
		if json.Unmarshal(in, &keys) != nil || keys == nil || !plainKeys(in) {
			return
		}
		if got.malformed {
			if nested(in) < maxDepth/2 {
				t.Fatalf("%q is an object, but the scan calls it malformed", in)
			}
			return
		}
		var list []json.RawMessage
		_ = json.Unmarshal(keys["choices"], &list)
		if got.choices != (len(list) > 0) {
			t.Errorf("%q: choices %v, decoder has %d", in, got.choices, len(list))
		}
	})
}

// plainKeys says that a decoder and the scan see the same keys: no key is
// written twice, in escapes or with other capitals.
func plainKeys(in []byte) bool {
	lower := bytes.ToLower(in)
	return !bytes.Contains(in, []byte(`\`)) && bytes.Count(lower, []byte(`"choices"`)) <= 1 && bytes.Count(lower, []byte("choices")) == bytes.Count(in, []byte("choices"))
}

func nested(in []byte) int { return bytes.Count(in, []byte("{")) + bytes.Count(in, []byte("[")) }

// FuzzStream cuts one stream in two at any place: the lines must be the same.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: c\ndata:b"), 3)
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		read := func(pieces ...[]byte) (got []string) {
			var l lines
			for _, p := range pieces {
				l.feed(p, func(b []byte) { got = append(got, string(b)) })
			}
			l.flush(func(b []byte) { got = append(got, string(b)) })
			return got
		}
		at = min(max(at, 0), len(in))
		whole, split := read(in), read(in[:at], in[at:])
		if len(whole) != len(split) {
			t.Fatalf("%q cut at %d: %q, whole: %q", in, at, split, whole)
		}
		for i := range whole {
			if whole[i] != split[i] {
				t.Fatalf("%q cut at %d: %q, whole: %q", in, at, split, whole)
			}
		}
	})
}

// BenchmarkEvents is the scanner alone: events per second on one core.
func BenchmarkEvents(b *testing.B) {
	one := []byte("data: {\"id\":\"cmpl-0123456789abcdef\",\"object\":\"text_completion\",\"created\":1700000000,\"model\":\"lab/tiny-a\",\"choices\":[{\"index\":0,\"text\":\" word\",\"logprobs\":null,\"finish_reason\":null}],\"sent_ns\":123456789012345}\n\n")
	x := &exchange{delays: &delays{}, stamp: 1}
	var l lines
	b.SetBytes(int64(len(one)))
	for b.Loop() {
		l.feed(one, x.line)
		x.itls = x.itls[:0]
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
