package bench

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// heard reads a stream that arrives in the given pieces and returns what the
// exchange was told, one entry a message.
func heard(pieces ...string) []string {
	x := &exchange{delays: &delays{}, stamp: 1, keep: true}
	var l lines
	var got []string
	told := func(b []byte) {
		before, kind := x.messages, x.kind
		x.line(b)
		if x.messages > before || x.kind != kind {
			got = append(got, summaryOf(x))
		}
		x.kind, x.failure, x.text, x.done = "", "", nil, false
	}
	for _, p := range pieces {
		l.feed([]byte(p), told)
	}
	l.flush(told)
	before := x.messages
	if x.blank(); x.messages > before {
		got = append(got, summaryOf(x))
	}
	return got
}

func summaryOf(x *exchange) string {
	switch {
	case x.kind != "":
		return x.kind + ": " + x.failure
	case x.done:
		return "done"
	}
	return "text " + string(x.text)
}

func TestEventStreamGrammar(t *testing.T) {
	tok := func(s string) string { return `{"choices":[{"text":"` + s + `"}]}` }
	for name, c := range map[string]struct{ in, want string }{
		"lf":                       {"data: " + tok("a") + "\n\ndata: [DONE]\n\n", "text a|done"},
		"crlf":                     {"data: " + tok("a") + "\r\n\r\ndata: [DONE]\r\n\r\n", "text a|done"},
		"cr alone":                 {"data: " + tok("a") + "\r\rdata: " + tok("b") + "\r\r", "text a|text b"},
		"ends mixed":               {"data: " + tok("a") + "\r\n\rdata: " + tok("b") + "\n\r\ndata: " + tok("c") + "\r\n\n", "text a|text b|text c"},
		"byte order mark":          {"\xef\xbb\xbfdata: " + tok("a") + "\n\n", "text a"},
		"mark not at the start":    {"\n\xef\xbb\xbfdata: " + tok("a") + "\n\ndata: " + tok("b") + "\n\n", "text b"},
		"no space":                 {"data:" + tok("a") + "\n\n", "text a"},
		"two spaces":               {"data:  " + tok("a") + "\n\n", "text a"},
		"comment":                  {": data: " + tok("x") + "\n\ndata: " + tok("a") + "\n\n", "text a"},
		"event, id, retry":         {"event: message\nid: 7\nretry: 100\ndata: " + tok("a") + "\n\n", "text a"},
		"unknown field":            {"dataset: " + tok("x") + "\ndata : " + tok("y") + "\ndata: " + tok("a") + "\n\n", "text a"},
		"data of several lines":    {"data: {\"choices\":\ndata: [{\"text\":\ndata: \"a\"}]}\n\n", "text a"},
		"data without a colon":     {"data: {\"choices\":\ndata\ndata: [{\"text\":\"a\"}]}\n\n", "text a"},
		"data without a byte":      {"data:\n\ndata\n\ndata: " + tok("a") + "\n\n", "text a"},
		"comment inside":           {"data: {\"choices\":\n: ping\nid: 3\ndata: [{\"text\":\"a\"}]}\n\n", "text a"},
		"two messages, no blank":   {"data: " + tok("a") + "\ndata: " + tok("b") + "\n\n", "text a|text b"},
		"no end at the end":        {"data: " + tok("a"), "text a"},
		"half at the end":          {"data: " + tok("a") + "\n\ndata: {\"choi", `text a|stream: message is not JSON: {"choi`},
		"half, then blank":         {"data: {\"choices\":\n\ndata: " + tok("a") + "\n\n", `stream: message is not JSON: {"choices":|text a`},
		"type error":               {"event: error\ndata: {\"message\":\"no room\"}\n\n", `stream: error in the stream: {"message":"no room"}`},
		"type error behind data":   {"data: {\"message\":\"no room\"}\nevent: error\n\n", "text |stream: error in the stream"},
		"type of the one before":   {"event: error\n\ndata: " + tok("a") + "\n\n", "text a"},
		"type without a space":     {"event:error\ndata: {}\n\n", "stream: error in the stream: {}"},
		"line that is only a name": {"event\ndata: " + tok("a") + "\n\n", "text a"},
	} {
		for at := range len(c.in) + 1 {
			if got := strings.Join(heard(c.in[:at], c.in[at:]), "|"); got != c.want {
				t.Fatalf("%s, cut at %d: got %q, want %q", name, at, got, c.want)
			}
		}
	}
}

// literalStream reads a whole event stream slowly and by the letter of the
// grammar: it takes the mark off, cuts the lines, collects the fields of an
// event and gives it out at the blank line. Each event is its type and its
// lines of data. An unfinished event at the end is given out as well.
func literalStream(in string) (events []literalEvent) {
	in = strings.TrimPrefix(in, "\xef\xbb\xbf")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	var now literalEvent
	for line := range strings.SplitSeq(in+"\n\n", "\n") {
		if line == "" {
			if len(now.data) > 0 || now.kind != "" {
				events = append(events, now)
			}
			now = literalEvent{}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			now.kind = value
		case "data":
			now.data = append(now.data, value)
		}
	}
	return events
}

type literalEvent struct {
	kind string
	data []string
}

// messages are the messages of an event by the rule of this client: lines are
// joined until they are a whole message.
func (e literalEvent) messages() (whole []string, half string) {
	open := false
	for _, d := range e.data {
		switch {
		case open:
			half += "\n" + d
		case strings.TrimSpace(d) == "":
			continue
		default:
			half, open = d, true
		}
		if !parseEvent([]byte(half)).malformed {
			whole, half, open = append(whole, half), "", false
		}
	}
	return whole, half
}

// FuzzSSE holds the scanner, fed in pieces, against the literal reading.
func FuzzSSE(f *testing.F) {
	f.Add("\xef\xbb\xbfdata: {\"choices\":[{\"text\":\"a\"}]}\r\n\r\n: c\rdata: [DONE]\n\n", uint64(0x1234))
	f.Add("data: {\ndata\ndata: \"choices\":[]}\n\nevent: x\nid\nretry: 5\ndata:[DONE]", uint64(7))
	f.Add("data: {}\r\rdata: {\r\ndata: }\n\r\n", uint64(0xffff))
	f.Fuzz(func(t *testing.T, in string, cuts uint64) {
		var want []string
		for _, e := range literalStream(in) {
			whole, half := e.messages()
			want = append(want, whole...)
			if half != "" {
				want = append(want, "half "+half)
			}
		}
		var got []string
		x := &exchange{delays: &delays{}, stamp: 1}
		told := func(b []byte) { got = append(got, spy(x, b)...) }
		var l lines
		for _, p := range cutUp(in, cuts) {
			l.feed(p, told)
		}
		l.flush(told)
		got = append(got, spy(x, nil)...)
		if !slices.Equal(got, want) {
			t.Fatalf("%q cut by %x:\n got %q\nwant %q", in, cuts, got, want)
		}
	})
}

// spy gives a line to an exchange and returns the message that this ended.
func spy(x *exchange, line []byte) []string {
	part, before := string(x.part), x.messages
	x.line(line)
	data, _ := payload(line)
	switch {
	case x.messages == before:
		return nil
	case len(line) == 0:
		return []string{"half " + part}
	case part == "":
		return []string{string(data)}
	}
	return []string{part + "\n" + string(data)}
}

// cutUp cuts a text into pieces whose lengths come from the bits of a number.
func cutUp(in string, cuts uint64) (pieces [][]byte) {
	rest := []byte(in)
	for len(rest) > 0 {
		n := min(int(cuts%7)+1, len(rest))
		cuts = cuts/7 + cuts<<57 // turned, so that they do not run out
		pieces = append(pieces, slices.Clone(rest[:n]))
		rest = rest[n:]
	}
	return pieces
}

// A byte of a message that arrives alone is kept in no more than one copy.
func TestLongLinesAreRefused(t *testing.T) {
	var l lines
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for i := range 5 {
		if ok := l.feed(piece, func([]byte) {}); ok != (i < 4) {
			t.Fatalf("after %d MiB: %v", i+1, ok)
		}
	}
	x := &exchange{delays: &delays{}}
	x.line([]byte("data: {"))
	for range 5 {
		x.line(append([]byte("data: "), piece...))
	}
	if x.kind != "stream" || !strings.Contains(x.failure, fmt.Sprint(maxLine)) {
		t.Errorf("a message of 5 MiB: got %q %q, want it refused", x.kind, x.failure)
	}
}

// FuzzKnown holds a connection's way, which takes known messages without
// looking for lines, against the way by lines alone.
func FuzzKnown(f *testing.F) {
	f.Add("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[{\"text\":\"bc\"}]}\n\ndata: [DONE]\n\n", uint64(0x1234))
	f.Add("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[{\"text\":\"b\rc\"}]}\n\ndata: {\"choices\":[{\"text\":\"d\"}]}\r\n\n", uint64(3))
	f.Add("data: {\"choices\":[{\"text\":\"a\"}]}\n\nevent: error\ndata: {\"choices\":[{\"text\":\"b\"}]}\n\ndata: {\"choices\":[{\"text\":\"c\"}]}\n\n", uint64(1<<60))
	f.Fuzz(func(t *testing.T, in string, cuts uint64) {
		plain := &exchange{delays: &delays{}, stamp: 1, keep: true, prompt: -1, completion: -1}
		var l lines
		c := newConn(func(*conn) {})
		c.resp.Status, c.x = 200, &exchange{delays: &delays{}, stamp: 1, keep: true, prompt: -1, completion: -1}
		for _, p := range cutUp(in, cuts) {
			l.feed(p, plain.line)
			c.take(p)
		}
		l.flush(plain.line)
		c.lines.flush(c.line)
		plain.finish(true)
		c.x.finish(true)
		a, b := plain, c.x
		if a.messages != b.messages || a.choices != b.choices || string(a.text) != string(b.text) || a.done != b.done || a.kind != b.kind ||
			a.failure != b.failure || a.ref != b.ref || a.usage != b.usage || a.ends != b.ends || a.completion != b.completion || string(a.stray) != string(b.stray) {
			t.Fatalf("%q cut by %x:\n by lines %+v\n known    %+v", in, cuts, *a, *b)
		}
	})
}
