package bench

import (
	"bytes"
	"math"
	"strconv"
	"time"
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

// open enters the object at the position and returns its first key. Another
// value is skipped, and has none. Whoever takes a key moves behind its value
// and asks for the next one.
func (w *walker) open() (key []byte, more bool) {
	if w.peek() != '{' {
		w.value(scopeOther)
		return nil, false
	}
	if w.depth++; w.depth > maxDepth {
		w.bad = true
		return nil, false
	}
	w.i++ // {
	if w.peek() == '}' {
		w.i++
		w.depth--
		return nil, false
	}
	return w.key()
}

// next returns the key behind the value that was read last, false at the end
// of the object.
func (w *walker) next() (key []byte, more bool) {
	if w.bad {
		return nil, false
	}
	switch w.peek() {
	case ',':
		w.i++
		return w.key()
	case '}':
		w.i++
		w.depth--
	default:
		w.bad = true
	}
	return nil, false
}

// key reads a key and moves to its value.
func (w *walker) key() (key []byte, more bool) {
	if w.peek() != '"' {
		w.bad = true
		return nil, false
	}
	key = w.string()
	if w.peek() != ':' {
		w.bad = true
		return nil, false
	}
	w.i++
	return key, true
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
	n, ok := digits(w.raw())
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
	v := w.raw()
	if len(v) == 0 || len(v) > 32 {
		return 0
	}
	ms, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(ms >= 0 && ms <= 86400e3) {
		return 0
	}
	return time.Duration(math.Round(ms * 1e6))
}

// raw skips a value and returns it as it stands.
func (w *walker) raw() []byte {
	from := w.start()
	w.value(scopeOther)
	return w.b[from:min(w.i, len(w.b))]
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
