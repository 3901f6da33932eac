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
	delta      bool   // a choice of a chat's stream
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
	var s shape
	s.learn(b)
	return s.event
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
	shape *shape // is told where the changing values lie
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
			w.ev.delta = w.ev.delta || string(key) == "delta"
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
			w.ev.prompt = w.integer(holePrompt)
		case "completion_tokens":
			w.ev.completion = w.integer(holeCompletion)
		case "prompt_tokens_details":
			w.value(scopePromptDetails)
		default: // a total, for one, grows with every message
			w.integer(holeNumber)
		}
	case scopePromptDetails:
		if string(key) == "cached_tokens" {
			w.ev.cached = w.integer(holeCached)
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
		t.Cached = int(max(w.integer(holeNumber), 0))
	case "prompt_n":
		t.Prompted = int(max(w.integer(holeNumber), 0))
	case "predicted_n":
		t.Predicted = int(max(w.integer(holeNumber), 0))
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
		if n := w.integer(holeSent); n > 0 {
			w.ev.sent = n
		}
	case "created": // a clock's second in some servers
		w.integer(holeNumber)
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
		end := w.i - 1
		w.shape.add(holeText, end-len(s), end)
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

// maxDigits is the length of the longest whole number that is read.
const maxDigits = 18

// integer reads a whole number of at most 18 digits; anything else is -1.
func (w *walker) integer(k holeKind) int64 {
	from := w.start()
	w.value(scopeOther)
	v := w.b[from:min(w.i, len(w.b))]
	n, ok := digits(v)
	if !ok { // of a key that counts: a message with a number there is another kind of message
		w.shape.full = w.shape.full || k != holeNumber
		return -1
	}
	w.shape.add(k, from, w.i)
	return n
}

// digits is the value of a text of digits alone.
func digits(v []byte) (n int64, ok bool) {
	if len(v) == 0 || len(v) > maxDigits {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
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
