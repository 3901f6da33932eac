package bench

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// event is what one message of a stream says, read in one pass over its bytes
// without decoding them. Slices point into the message.
type event struct {
	done       bool   // [DONE]
	choices    bool   // a non-empty choices array
	text       []byte // generated text as it stands in JSON, escapes included
	reasoning  bool   // text came from a reasoning field
	usage      bool
	prompt     int64 // usage.prompt_tokens, -1 = absent
	completion int64 // usage.completion_tokens, -1 = absent
	cached     int64 // usage.prompt_tokens_details.cached_tokens, -1 = absent
	timed      bool  // the message carries timings
	timings    Timings
	sent       int64  // sent_ns, 0 = absent
	failure    []byte // the value of a non-null error key
	malformed  bool
}

// parseEvent reads one JSON message. Anything that is not a JSON object with
// balanced brackets is malformed.
func parseEvent(b []byte) event {
	ev := event{prompt: -1, completion: -1, cached: -1}
	b = bytes.TrimSpace(b)
	if bytes.Equal(b, []byte("[DONE]")) {
		ev.done = true
		return ev
	}
	if len(b) == 0 || b[0] != '{' {
		ev.malformed = true
		return ev
	}
	w := walker{b: b, ev: &ev}
	w.object(scopeTop)
	if w.bad || w.i != len(b) {
		ev.malformed = true
	}
	return ev
}

// scope says which keys of an object are of interest.
type scope int

const (
	scopeOther scope = iota
	scopeTop
	scopeChoice
	scopeDelta
	scopeUsage
	scopePromptDetails
	scopeTimings
)

// maxDepth bounds the nesting of a message; deeper ones are malformed.
const maxDepth = 64

// walker goes through one message. Its position only moves forward.
type walker struct {
	b     []byte
	i     int
	depth int
	bad   bool
	ev    *event
}

func (w *walker) object(s scope) {
	if w.depth++; w.depth > maxDepth {
		w.bad = true
		return
	}
	w.i++ // {
	if w.peek() == '}' {
		w.i++
		w.depth--
		return
	}
	for !w.bad {
		if w.peek() != '"' {
			w.bad = true
			return
		}
		key := w.string()
		if w.peek() != ':' {
			w.bad = true
			return
		}
		w.i++
		w.member(s, key)
		switch w.peek() {
		case ',':
			w.i++
		case '}':
			w.i++
			w.depth--
			return
		default:
			w.bad = true
		}
	}
}

// member reads the value behind a key.
func (w *walker) member(s scope, key []byte) {
	switch s {
	case scopeTop:
		w.topMember(key)
	case scopeChoice:
		switch string(key) {
		case "text":
			w.text(false)
		case "delta", "message":
			w.value(scopeDelta)
		default:
			w.value(scopeOther)
		}
	case scopeDelta:
		switch string(key) {
		case "content":
			w.text(false)
		case "reasoning_content", "reasoning":
			w.text(true)
		default:
			w.value(scopeOther)
		}
	case scopeUsage:
		switch string(key) {
		case "prompt_tokens":
			w.ev.prompt = w.integer()
		case "completion_tokens":
			w.ev.completion = w.integer()
		case "prompt_tokens_details":
			w.value(scopePromptDetails)
		default:
			w.value(scopeOther)
		}
	case scopePromptDetails:
		if string(key) == "cached_tokens" {
			w.ev.cached = w.integer()
			return
		}
		w.value(scopeOther)
	case scopeTimings:
		w.timing(key)
	default:
		w.value(scopeOther)
	}
}

// timing reads one figure of the server's own clock. Figures of no interest,
// rates among them, follow from the others.
func (w *walker) timing(key []byte) {
	t := &w.ev.timings
	switch string(key) {
	case "cache_n":
		t.Cached = int(max(w.integer(), 0))
	case "prompt_n":
		t.Prompted = int(max(w.integer(), 0))
	case "predicted_n":
		t.Predicted = int(max(w.integer(), 0))
	case "prompt_ms":
		t.Prompt = w.milliseconds()
	case "predicted_ms":
		t.Decode = w.milliseconds()
	default:
		w.value(scopeOther)
	}
}

func (w *walker) topMember(key []byte) {
	switch string(key) {
	case "choices":
		w.choices()
	case "usage":
		w.ev.usage = w.peek() == '{'
		w.value(scopeUsage)
	case "timings":
		w.ev.timed = w.peek() == '{'
		w.value(scopeTimings)
	case "sent_ns":
		if n := w.integer(); n > 0 {
			w.ev.sent = n
		}
	case "error":
		from := w.start()
		w.value(scopeOther)
		if v := w.b[from:min(w.i, len(w.b))]; !bytes.Equal(v, []byte("null")) {
			w.ev.failure = v
		}
	default:
		w.value(scopeOther)
	}
}

func (w *walker) choices() {
	if w.peek() != '[' {
		w.value(scopeOther)
		return
	}
	w.array(scopeChoice)
	// An empty array leaves nothing between its brackets.
}

func (w *walker) array(s scope) {
	if w.depth++; w.depth > maxDepth {
		w.bad = true
		return
	}
	w.i++ // [
	if w.peek() == ']' {
		w.i++
		w.depth--
		return
	}
	if s == scopeChoice {
		w.ev.choices = true
	}
	for !w.bad {
		w.value(s)
		switch w.peek() {
		case ',':
			w.i++
		case ']':
			w.i++
			w.depth--
			return
		default:
			w.bad = true
		}
	}
}

// value skips or enters one value of any kind.
func (w *walker) value(s scope) {
	switch c := w.peek(); c {
	case '{':
		w.object(s)
	case '[':
		w.array(scopeOther)
	case '"':
		w.string()
	case 0, ',', ':', '}', ']':
		w.bad = true
	default:
		w.literal()
	}
}

// text takes a string value as generated text. Null and other kinds are none.
func (w *walker) text(reasoning bool) {
	if w.peek() != '"' {
		w.value(scopeOther)
		return
	}
	if s := w.string(); len(s) > 0 && len(w.ev.text) == 0 {
		w.ev.text, w.ev.reasoning = s, reasoning
	}
}

// string returns the inside of the string at the position and moves behind it.
func (w *walker) string() []byte {
	from := w.i + 1
	for i := from; ; {
		n := bytes.IndexByte(w.b[i:], '"')
		if n < 0 {
			w.i, w.bad = len(w.b), true
			return nil
		}
		end := i + n
		slashes := 0
		for k := end - 1; k >= from && w.b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			w.i = end + 1
			return w.b[from:end]
		}
		i = end + 1
	}
}

// integer reads a whole number of at most 18 digits; anything else is -1.
func (w *walker) integer() int64 {
	from := w.start()
	w.value(scopeOther)
	v := w.b[from:min(w.i, len(w.b))]
	if len(v) == 0 || len(v) > 18 {
		return -1
	}
	var n int64
	for _, c := range v {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// milliseconds reads a number of milliseconds; anything that is none, or is
// longer than a day, is 0.
func (w *walker) milliseconds() time.Duration {
	from := w.start()
	w.value(scopeOther)
	v := w.b[from:min(w.i, len(w.b))]
	if len(v) == 0 || len(v) > 32 {
		return 0
	}
	ms, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(ms >= 0 && ms <= 86400e3) {
		return 0
	}
	return time.Duration(math.Round(ms * 1e6))
}

// literal skips a number, true, false or null.
func (w *walker) literal() {
	for w.i < len(w.b) {
		switch c := w.b[w.i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '+', c == '.':
			w.i++
		case c == ',' || c == '}' || c == ']' || c <= ' ':
			return
		default:
			w.bad = true
			return
		}
	}
}

// start moves to the next byte that is not white space and returns its place.
func (w *walker) start() int {
	w.peek()
	return w.i
}

// peek is the next byte that is not white space, 0 at the end.
func (w *walker) peek() byte {
	for w.i < len(w.b) {
		c := w.b[w.i]
		if c > ' ' {
			return c
		}
		w.i++
	}
	return 0
}
