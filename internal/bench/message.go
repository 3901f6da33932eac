package bench

import (
	"bytes"
	"time"
)

// line takes one line of the stream. Lines of data make messages, by the
// grammar of server-sent events but for three liberties, which make no message
// of that grammar another one:
//
//   - A line of data that is a whole message by itself is taken at once. By the
//     grammar it would wait for the blank line behind it, and two such lines in
//     a row would be one message that no reader of JSON accepts.
//   - The last message needs no blank line behind it.
//   - Data of nothing but white space is no message.
func (x *exchange) line(b []byte) {
	if len(b) == 0 {
		x.blank()
		return
	}
	if x.dialect != nil {
		x.dialect.line(x, b)
		return
	}
	data, ok := payload(b)
	if !ok || len(b) > maxReferenceLine || len(b) < 7 || b[5] != ' ' {
		x.refers(b, ok)
	}
	switch {
	case !ok:
		x.otherField(b)
	case len(x.part) > 0:
		x.join(data)
	case len(data) > 0:
		x.single(data)
	}
}

// known takes the messages at the front of b that have the shape of the one
// before them, each on a line of its own with a blank line behind it, and
// returns what is behind them. So a stream nearly always is: its line ends need
// not be looked for. The front of b must be the beginning of a line.
func (x *exchange) known(b []byte) []byte {
	if x.dialect != nil || x.shape == nil || len(x.part) > 0 || x.alarm {
		return b
	}
	const field = "data: "
	for len(b) > len(field) && string(b[:len(field)]) == field {
		n := x.shape.match(b[len(field):])
		end := len(field) + n
		if n < 0 || len(b) < end+2 || b[end] != '\n' || b[end+1] != '\n' || end > maxReferenceLine {
			return b
		}
		x.message(b[len(field):end], &x.shape.event)
		x.said = false
		b = b[end+2:]
	}
	return b
}

// single takes a line of data that begins a message, and nearly always is one.
func (x *exchange) single(data []byte) {
	if x.shape == nil {
		x.shape = new(shape)
	}
	if ev := x.shape.read(data); !ev.malformed {
		x.message(data, ev)
		return
	}
	x.gaveUp("line is not JSON: %s", start(data))
	if len(bytes.TrimSpace(data)) > 0 {
		x.part, x.lines = append(x.part, data...), 1
	}
}

// join adds a further line of data to a message of several lines.
func (x *exchange) join(data []byte) {
	x.part = append(append(x.part, '\n'), data...)
	x.lines++
	if len(x.part) > maxLine || x.lines > maxMessageLines {
		x.fail("stream", "message longer than %d bytes or %d lines", maxLine, maxMessageLines)
		x.part = x.part[:0]
		return
	}
	if !bytes.HasSuffix(bytes.TrimSpace(data), []byte{'}'}) { // the walk is for what may be whole
		return
	}
	if ev := x.shape.read(x.part); !ev.malformed {
		x.message(x.part, ev)
		x.part = x.part[:0]
	}
}

// maxMessageLines bounds the lines of one message.
const maxMessageLines = 1024

// blank ends a message.
func (x *exchange) blank() {
	if len(x.part) > 0 {
		x.messages++
		x.fail("stream", "message is not JSON: %s", start(x.part))
		x.part = x.part[:0]
	}
	x.alarm, x.said = false, false
}

// otherField takes a field that carries no data. An event of the type "error"
// is one, wherever among its lines the type stands.
func (x *exchange) otherField(b []byte) {
	name, value := field(b)
	if string(name) == "event" {
		x.alarm = string(value) == "error"
		if x.alarm && x.said {
			x.fail("stream", "error in the stream")
		}
	}
	if x.messages == 0 {
		x.keepStray(b)
	}
}

// message takes one message of the stream.
func (x *exchange) message(data []byte, ev *event) {
	x.messages++
	x.said = true
	switch {
	case x.alarm:
		x.fail("stream", "error in the stream: %s", start(data))
	case ev.failure != nil:
		x.fail("stream", "error in the stream: %s", start(ev.failure))
		x.take(ev) // the reference goes on
	case ev.done:
		x.done = true
	default:
		x.take(ev)
	}
}

// take books what a message says. Usage beside choices may stand in every
// message: only in one of its own is it the end.
func (x *exchange) take(ev *event) {
	if ev.choices && x.chat && !ev.delta {
		x.gaveUp("choice without a delta")
	}
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
		x.takeText(ev)
	}
	x.ends = x.ends || ev.finished || ev.usage && !ev.choices
	if ev.usage {
		if !ev.choices {
			x.ref.tokens = ev.completion
		}
		x.usage = true
		x.prompt, x.completion, x.cached = ev.prompt, ev.completion, ev.cached
	}
	if ev.timed { // on every message, where a server was asked for that: the last one counts
		t := ev.timings
		x.timings = &t
	}
}

// takeText books a message with text.
func (x *exchange) takeText(ev *event) {
	if ev.usage && ev.completion >= 0 {
		x.counted(ev.completion)
	}
	if x.firstText == 0 {
		x.firstText = x.stamp
	} else {
		x.textITLs = append(x.textITLs, time.Duration(x.stamp-x.lastText))
	}
	x.lastText = x.stamp
	if x.dialect != nil && x.dialect.cumulative {
		x.text, x.content = x.text[:0], x.content[:0]
	}
	if x.keep {
		x.text = append(x.text, ev.text...)
	}
	if x.texts && !ev.reasoning {
		x.content = append(x.content, ev.text...)
	}
}

// counted books the server's count so far, where it stands in every message:
// then it is known how many tokens each message brought.
func (x *exchange) counted(completion int64) {
	gain := completion - x.before
	if gain < 0 || completion > int64(x.plan.output) {
		return // of fewer tokens than before or more than were asked for: no count at all
	}
	if x.firstText != 0 {
		if x.gains == nil {
			x.gains = make([]int, 0, max(cap(x.textITLs), 1))
		}
		x.gains = append(x.gains, int(gain))
	}
	x.before = completion
}
