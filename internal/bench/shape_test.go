package bench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func sameEvent(a, b *event) bool {
	return a.done == b.done && a.choices == b.choices && bytes.Equal(a.text, b.text) && a.reasoning == b.reasoning &&
		a.usage == b.usage && a.delta == b.delta && a.prompt == b.prompt && a.completion == b.completion && a.cached == b.cached &&
		a.timed == b.timed && a.timings == b.timings && a.sent == b.sent && bytes.Equal(a.failure, b.failure) && a.malformed == b.malformed
}

// Whatever came before, a message says what a walk through it says.
func TestShapeTellsWhatAWalkTells(t *testing.T) {
	messages := []string{
		`{"id":"c","choices":[{"index":0,"text":" a","finish_reason":null}],"sent_ns":123}`,
		`{"id":"c","choices":[{"index":0,"text":" longer text","finish_reason":null}],"sent_ns":4567890}`,
		`{"id":"c","choices":[{"index":0,"text":"with \"quotes\\","finish_reason":null}],"sent_ns":1}`,
		`{"id":"c","choices":[{"index":0,"text":"","finish_reason":null}],"sent_ns":2}`,
		`{"id":"c","choices":[{"index":0,"text":"no stamp","finish_reason":null}],"sent_ns":0}`,
		`{"id":"c","choices":[{"index":0,"text":"half a stamp","finish_reason":null}],"sent_ns":1.5}`,
		`{"id":"c","choices":[{"index":0,"text":"19 digits","finish_reason":null}],"sent_ns":1234567890123456789}`,
		`{"id":"c","choices":[{"index":0,"text":"open,"finish_reason":null}],"sent_ns":2}`,
		`{"id":"c","choices":[{"index":0,"text":"cut","finish_reason":null}],"sent_ns":2`,
		`{"id":"c","choices":[{"index":0,"text":"end","finish_reason":"stop"}],"sent_ns":2}`,
		`{"id":"c","choices":[{"text":"a"},{"text":"b"}]}`,
		`{"id":"c","choices":[{"text":""},{"text":"b"}]}`,
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":4,"total_tokens":5,"completion_tokens":1}}`,
		`{"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":4,"total_tokens":16,"completion_tokens":12}}`,
		`{"choices":[{"delta":{"content":"c"}}],"usage":{"prompt_tokens":4,"total_tokens":16,"completion_tokens":null}}`,
		`{"choices":[{"delta":{"reasoning_content":"c"}}]}`, `{"choices":[{"delta":{"content":"c"}}]}`,
		`{"choices":[{"text":"t"}],"timings":{"predicted_n":1,"predicted_ms":2.5}}`,
		`{"choices":[{"text":"t"}],"timings":{"predicted_n":2,"predicted_ms":3.5}}`,
		`{"usage":{"prompt_tokens":5,"prompt_tokens":null}}`, `{"usage":{"prompt_tokens":6,"prompt_tokens":null}}`,
		`{"error":{"message":"m"}}`, `{"error":null}`, `[DONE]`, `oops`, ` {"choices":[{"text":"spaces"}]} `,
	}
	for i, first := range messages {
		for k, second := range messages {
			var s shape
			s.read([]byte(first))
			for range 2 { // the second time by comparison, where that is possible
				if got, want := s.read([]byte(second)), parseEvent([]byte(second)); !sameEvent(got, &want) {
					t.Errorf("message %d behind message %d, %s:\n got %+v\nwant %+v", k, i, second, *got, want)
				}
			}
		}
	}
}

// A message with more changing values than are remembered is walked through.
func TestShapeOfManyValues(t *testing.T) {
	usage := strings.Repeat(`"n":1,`, maxHoles+1)
	message := func(n int) []byte {
		return fmt.Appendf(nil, `{"choices":[{"text":"a"}],"usage":{%s"completion_tokens":%d}}`, usage, n)
	}
	var s shape
	for n := range 3 {
		if got := s.read(message(n)); got.completion != int64(n) || got.malformed {
			t.Errorf("message %d: got %+v", n, *got)
		}
	}
}

func FuzzShape(f *testing.F) {
	f.Add([]byte(`{"choices":[{"text":"a"}],"sent_ns":7}`), []byte(`{"choices":[{"text":"bc"}],"sent_ns":78}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":"\\"}}],"usage":{"prompt_tokens":1,"x":2}}`), []byte(`{"choices":[{"delta":{"content":"\""}}],"usage":{"prompt_tokens":3,"x":4}}`))
	f.Add([]byte(`{"choices":[{"text":"a"},{"text":""}],"created":1}`), []byte(`{"choices":[{"text":""},{"text":"b"}],"created":2}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var s shape
		s.read(first)
		got, want := s.read(second), parseEvent(second)
		if !sameEvent(got, &want) {
			t.Fatalf("%q behind %q:\n got %+v\nwant %+v", second, first, *got, want)
		}
	})
}

// What is compared with a message of several lines is not taken for one: the
// second has a line that is no data.
func TestShapeOfSeveralLines(t *testing.T) {
	x := &exchange{delays: &delays{}, stamp: 1, keep: true}
	c := newConn(func(*conn) {})
	c.x, c.resp.Status = x, 200
	c.beginBody()
	c.plain([]byte("data: {\ndata: \"choices\":[{\"text\":\"a\"}]}\n\n"))
	if x.kind != "" || string(x.text) != "a" {
		t.Fatalf("got %q, %s", x.text, x.failure)
	}
	c.plain([]byte("data: {\n\"choices\":[{\"text\":\"b\"}]}\n\n"))
	if x.kind != "stream" || x.failure != "message is not JSON: {" || string(x.text) != "a" {
		t.Errorf("got %q, %s: %s", x.text, x.kind, x.failure)
	}
}
