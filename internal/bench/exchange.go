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

	sent, connected  int64
	first, firstText int64
	marker           int64 // the message that gaps are counted from
	itls             []time.Duration
	lastText         int64
	textITLs         []time.Duration
	lastChoices      int64
	messages         int
	choices          int
	done, usage      bool
	prompt           int64
	completion       int64
	cached           int64
	timings          *Timings
	text             []byte // JSON string content, escapes as received
	stray            []byte // start of a body that is no stream
	kind, failure    string
	stamp            int64 // of the read that is being looked at
	delays           *delays
}

func (x *exchange) fail(kind, format string, args ...any) {
	if x.kind == "" {
		x.kind, x.failure = kind, fmt.Sprintf(format, args...)
	}
}

// line takes one line of the stream.
func (x *exchange) line(b []byte) {
	data, ok := payload(b)
	if !ok {
		if x.messages == 0 {
			x.keepStray(b)
		}
		return
	}
	if len(data) == 0 {
		return
	}
	x.messages++
	ev := parseEvent(data)
	switch {
	case ev.malformed:
		x.fail("stream", "message is not JSON: %s", start(data))
	case ev.failure != nil:
		x.fail("stream", "error in the stream: %s", start(ev.failure))
	case ev.done:
		x.done = true
	default:
		x.take(ev)
	}
}

// take books one message of the stream.
func (x *exchange) take(ev event) {
	if ev.choices {
		x.choices++
		if x.first == 0 {
			x.first = x.stamp
		} else {
			x.itls = append(x.itls, time.Duration(x.stamp-x.marker))
		}
		x.marker, x.lastChoices = x.stamp, x.stamp
		if x.plan.measured {
			x.delays.event(ev.sent, x.stamp)
		}
	}
	if x.chat { // the reference's chat clock runs on every message
		x.marker = x.stamp
	}
	if len(ev.text) > 0 {
		if x.firstText == 0 {
			x.firstText = x.stamp
		} else {
			x.textITLs = append(x.textITLs, time.Duration(x.stamp-x.lastText))
		}
		x.lastText = x.stamp
		if x.keep {
			x.text = append(x.text, ev.text...)
		}
	}
	if ev.usage {
		x.usage = true
		x.prompt, x.completion, x.cached = ev.prompt, ev.completion, ev.cached
	}
	if ev.timed { // on every message, where a server was asked for that: the last one counts
		t := ev.timings
		x.timings = &t
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
	switch {
	case x.kind != "":
	case !whole && !x.done:
		x.fail("cut", "stream cut after %d messages", x.messages)
	case !x.done && !x.usage && x.messages > 0:
		x.fail("cut", "stream ended after %d messages without [DONE] or usage", x.messages)
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
	if x.connected > 0 {
		r.Connect = time.Duration(x.connected - x.sent)
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
