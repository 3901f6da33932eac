package bench

import (
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// exchange follows one request from its first byte sent to its last byte
// received. All stamps are CLOCK_MONOTONIC in nanoseconds.
type exchange struct {
	plan  plan
	index int
	chat  bool
	keep  bool // keep the text, to have it counted later
	texts bool // keep the text for the result

	dialect    *dialect // of the answer, nil = OpenAI's
	ref        reading
	status     int    // of a whole response
	retryAfter string // of a response that refuses
	media      string // content type of a whole response
	whole      []byte // an answer that is no stream
	content    []byte // what the reference takes for the text, as JSON string content

	release          release // how it came to be sent
	sent             int64   // for the first time
	dialed           int64   // its own connection, 0 = it found one open
	connected        int64
	ended            int64 // its place was free again, 0 = never sent
	first, firstText int64
	marker           int64 // the message that gaps are counted from
	itls             []time.Duration
	lastText         int64
	textITLs         []time.Duration
	lastChoices      int64
	messages         int
	choices          int
	done, usage      bool
	ends             bool // the stream has said that no token comes any more, if not by [DONE]
	prompt           int64
	completion       int64
	cached           int64
	timings          *Timings
	gains            []int  // tokens of each message with text behind the first, by the server's counts in the messages
	before           int64  // the count in the last of them
	text             []byte // JSON string content, escapes as received
	part             []byte // the lines so far of a message of several lines
	lines            int    // how many they are
	shape            *shape // of the connection's messages
	alarm, said      bool   // the event's type is "error"; it has had a message
	stray            []byte // start of a body that is no stream
	kind, failure    string
	stamp            int64 // of the read that is being looked at
	delays           *delays
}

func (x *exchange) fail(kind, format string, args ...any) {
	if kind != "stream" && kind != "cut" { // there the reference goes on, unless it was told otherwise
		x.gaveUp(format, args...)
	}
	if x.kind == "" {
		x.kind, x.failure = kind, fmt.Sprintf(format, args...)
	}
}

func (x *exchange) keepStray(b []byte) {
	if room := maxErrorBody - len(x.stray); room > 0 {
		x.stray = append(x.stray, b[:min(room, len(b))]...)
	}
}

// finish is told that the response ended and how; whole says that nothing of
// the body is missing.
func (x *exchange) finish(whole bool) {
	if whole {
		x.blank() // the last message needs no blank line behind it
	} else {
		x.gaveUp("stream cut after %d messages", x.messages)
	}
	if x.dialect != nil {
		x.dialect.finish(x, whole)
	}
	switch {
	case x.kind != "":
	case !whole && !x.done:
		x.fail("cut", "stream cut after %d messages", x.messages)
	case !x.done && !x.ends && x.messages > 0:
		x.fail("cut", "stream ended after %d messages without [DONE], finish reason or usage of its own", x.messages)
	case x.messages == 0 && !streams(x.media):
		x.fail("content", "content type %s is no stream: %s", workspace.Printable(x.media), start(x.stray))
	case x.choices == 0:
		x.fail("stream", "no token in the answer: %s", start(x.stray))
	}
}

// request is the record of a finished exchange; origin is the run's start.
func (x *exchange) request(origin int64) Request {
	r := Request{
		Sent: time.Duration(x.sent - origin), ITLs: x.itls, TextITLs: x.textITLs,
		InputTokens: x.plan.input, Requested: x.plan.output,
		PromptTokens: int(max(x.prompt, 0)),
	}
	x.schedule(&r, origin)
	r.Reference, r.Status, r.RetryAfter, r.Text = x.reading(), x.status, x.retryAfter, unescaped(x.content)
	if x.connected > 0 {
		r.Connect = time.Duration(x.connected - x.dialed)
	}
	if x.first > 0 {
		r.TTFT = time.Duration(x.first - x.sent)
	}
	if x.firstText > 0 {
		r.FirstText = time.Duration(x.firstText - x.sent)
	}
	if x.kind != "" {
		r.ErrorKind, r.Error = x.kind, x.kind+": "+x.failure
		return r
	}
	r.Latency = time.Duration(x.marker - x.sent)
	if x.firstText > 0 {
		r.Decode = time.Duration(x.lastChoices - x.firstText)
	}
	r.Server, r.Cached = x.timings, x.fromCache()
	if len(x.gains) > 0 && len(x.gains) == len(x.textITLs) {
		r.TokenGains = x.gains
	}
	if x.usage && x.completion >= 0 {
		r.OutputTokens, r.TokensFrom = int(x.completion), "usage"
	}
	return r
}

// fromCache is how many tokens of the prompt the server found in its prefix
// cache, nil when it does not say.
func (x *exchange) fromCache() *int {
	switch {
	case x.timings != nil:
		return &x.timings.Cached
	case x.cached >= 0:
		n := int(x.cached)
		return &n
	}
	return nil
}

// start is the beginning of a text of others, which may be long.
func start(b []byte) string {
	if len(b) > maxErrorBody {
		return workspace.Printable(string(b[:maxErrorBody])) + "..."
	}
	return workspace.Printable(string(b))
}
