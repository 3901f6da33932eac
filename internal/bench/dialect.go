package bench

import (
	"bytes"
	"encoding/json"
	"strings"
)

// dialect is how an answer is read that is not OpenAI's: which of its messages
// bring a token, where the text and the counts are. Every message of a stream
// counts as a token for the reference.
type dialect struct {
	read       func(*walker) // one message, as an object
	whole      bool          // the answer is one JSON object, not a stream
	unmarked   bool          // nothing in the stream marks its end
	comments   bool          // the reference skips comment lines here
	cumulative bool          // each message has the whole text so far
	own        bool          // the reference does not know this API
}

var (
	sglangDialect   = dialect{read: readSGLang, cumulative: true, own: true}
	tgiDialect      = dialect{read: readTGI, unmarked: true, comments: true}
	tensorrtDialect = dialect{read: readTensorRT, unmarked: true}
	miiDialect      = dialect{whole: true}
)

// line takes one line of the answer.
func (d *dialect) line(x *exchange, b []byte) {
	if d.whole {
		if len(x.whole)+len(b) > maxLine {
			x.gaveUp("answer longer than %d bytes", maxLine)
			x.fail("stream", "answer longer than %d bytes", maxLine)
			return
		}
		x.whole = append(append(x.whole, b...), '\n')
		return
	}
	if blank(b) {
		return
	}
	data, ok := payload(b)
	if !ok {
		if !d.comments || b[0] != ':' {
			x.gaveUp("line is not JSON: %s", start(b))
		}
		if x.messages == 0 {
			x.keepStray(b)
		}
		return
	}
	if len(b) > maxReferenceLine {
		x.gaveUp("line of %d bytes", len(b))
	}
	ev := d.event(x, bytes.TrimSpace(data))
	switch {
	case ev.malformed:
		x.messages++
		x.gaveUp("line is not JSON: %s", start(data))
		x.fail("stream", "message is not JSON: %s", start(data))
	case ev.failure != nil:
		x.gaveUp("no text in the message: %s", start(data))
		x.message(data, ev)
	default:
		x.message(data, ev)
	}
}

// event reads one message.
func (d *dialect) event(x *exchange, b []byte) *event {
	ev := &event{prompt: -1, completion: -1, cached: -1}
	switch {
	case d.own && string(b) == "[DONE]":
		ev.done = true
		return ev
	case len(b) == 0 || b[0] != '{':
		ev.malformed = true
		return ev
	}
	if x.shape == nil { // the walker writes there; nothing is remembered of these messages
		x.shape = new(shape)
	}
	x.shape.n, x.shape.full, x.shape.bytes = 0, false, x.shape.bytes[:0]
	w := walker{b: b, ev: ev, shape: x.shape}
	d.read(&w)
	ev.choices = true
	ev.malformed = w.bad || w.i != len(b)
	return ev
}

// finish is told that the answer ended, before the exchange makes of it what
// it is.
func (d *dialect) finish(x *exchange, whole bool) {
	if d.unmarked && whole {
		x.done = true
	}
	if d.whole && whole && x.kind == "" {
		d.finishWhole(x)
	}
}

// finishWhole reads an answer that came in one piece: all of its time is
// latency, none of it is between tokens.
func (d *dialect) finishWhole(x *exchange) {
	var answer struct {
		Text []string `json:"text"`
	}
	if err := json.Unmarshal(x.whole, &answer); err != nil || len(answer.Text) == 0 {
		x.keepStray(x.whole)
		x.gaveUp("no text in the answer: %s", start(x.stray))
		if !strings.Contains(x.media, "json") {
			x.fail("content", "content type %s is no JSON: %s", start([]byte(x.media)), start(x.stray))
			return
		}
		x.fail("stream", "no text in the answer: %s", start(x.stray))
		return
	}
	x.messages, x.choices, x.done = 1, 1, true
	x.first, x.marker, x.lastChoices, x.firstText, x.lastText = x.stamp, x.stamp, x.stamp, x.stamp, x.stamp
	text := quote(answer.Text[0])
	text = text[1 : len(text)-1]
	if x.keep {
		x.text = append(x.text, text...)
	}
	if x.texts {
		x.content = append(x.content, text...)
	}
}

// readTGI reads {"token": {"text": ..}, "generated_text": .., "details": ..}:
// the last message has the last two.
func readTGI(w *walker) {
	for key, more := w.open(); more; key, more = w.next() {
		switch string(key) {
		case "token":
			for key, more := w.open(); more; key, more = w.next() {
				w.textOf(key, "text")
			}
		case "details":
			for key, more := w.open(); more; key, more = w.next() {
				w.count(key, "", "generated_tokens", "")
			}
		default:
			w.failureOr(key)
		}
	}
}

// readTensorRT reads {"text_output": ..}.
func readTensorRT(w *walker) {
	for key, more := w.open(); more; key, more = w.next() {
		if string(key) == "text_output" {
			w.text(false)
			continue
		}
		w.failureOr(key)
	}
}

// readSGLang reads {"text": .., "meta_info": {"prompt_tokens": ..}}. A request
// that the server gave up has a finish reason of the type "abort".
func readSGLang(w *walker) {
	for key, more := w.open(); more; key, more = w.next() {
		switch string(key) {
		case "text":
			w.text(false)
		case "meta_info":
			for key, more := w.open(); more; key, more = w.next() {
				if string(key) != "finish_reason" {
					w.count(key, "prompt_tokens", "completion_tokens", "cached_tokens")
				} else if v := w.reason(); bytes.Contains(v, []byte(`"abort"`)) {
					w.ev.failure = v
				}
			}
		default:
			w.failureOr(key)
		}
	}
}

// textOf takes the value of a key of that name as generated text, and skips
// any other.
func (w *walker) textOf(key []byte, name string) {
	if string(key) == name {
		w.text(false)
		return
	}
	w.value(scopeOther)
}

// count takes the value of a key when it is one of the counts; an empty name
// is one that this server does not send.
func (w *walker) count(key []byte, prompt, completion, cached string) {
	switch string(key) {
	case "":
		w.value(scopeOther)
	case prompt:
		w.ev.prompt = w.integer(holeNumber)
	case completion:
		w.ev.usage = true
		w.ev.completion = w.integer(holeNumber)
	case cached:
		w.ev.cached = w.integer(holeNumber)
	default:
		w.value(scopeOther)
	}
}

// failureOr takes the value of the key "error" as the failure it is, and skips
// any other.
func (w *walker) failureOr(key []byte) {
	if v := w.raw(); string(key) == "error" && !bytes.Equal(v, []byte("null")) {
		w.ev.failure = v
	}
}

// streams says whether a content type may be that of an event stream. A server
// that names none may have sent one.
func streams(media string) bool {
	return media == "" || strings.HasPrefix(strings.ToLower(media), "text/event-stream")
}

// unescaped is the text of JSON string content, empty when it is none.
func unescaped(content []byte) string {
	var text string
	if len(content) == 0 || json.Unmarshal([]byte(`"`+string(content)+`"`), &text) != nil {
		return ""
	}
	return text
}
