package bench

import "bytes"

// shape is the message of a stream that was walked through last, and the places
// of the values in it that change from one message to the next: the text, the
// counts, the stamps. The next message is nearly always the same but for them.
// Then a comparison of bytes tells all that a walk through it would: outside
// the holes the two are equal, and what stands in a hole is a value of the same
// kind, so that a walk would take the same way through both.
type shape struct {
	event event
	bytes []byte // empty = there is nothing to compare with
	holes [maxHoles]hole
	n     int
	full  bool // the message has more changing values than there are holes
}

// Limits of what a shape remembers. Other messages are walked through.
const (
	maxHoles = 12
	maxShape = 16 << 10
)

// hole is the place of one changing value.
type hole struct {
	from, to int
	kind     holeKind
}

type holeKind uint8

const (
	holeText holeKind = iota
	holeSent
	holePrompt
	holeCompletion
	holeCached
	holeNumber // of no interest, but different in every message
)

// read returns what a message says. The event is the shape's own and holds
// until the next call; its slices point into the message.
func (s *shape) read(b []byte) *event {
	if s.match(b) != len(b) {
		s.learn(b)
	}
	return &s.event
}

// match fills in the values of a message of the remembered shape that stands at
// the front of b, and returns its length, -1 for any other message.
func (s *shape) match(b []byte) int {
	if len(s.bytes) == 0 {
		return -1
	}
	at, fixed := 0, 0 // places in b and in s.bytes
	for i := range s.holes[:s.n] {
		h := &s.holes[i]
		n := h.from - fixed
		if len(b)-at < n || string(b[at:at+n]) != string(s.bytes[fixed:h.from]) {
			return -1
		}
		at += n
		fixed = h.to
		if h.kind == holeText {
			n = textLength(b[at:])
			s.event.text = b[at : at+n]
		} else {
			n = s.event.number(h.kind, b[at:])
		}
		if n == 0 { // an empty text too: then another text of the message might count
			return -1
		}
		at += n
	}
	n := len(s.bytes) - fixed
	if len(b)-at < n || string(b[at:at+n]) != string(s.bytes[fixed:]) {
		return -1
	}
	return at + n
}

// textLength is the length of the text in front of a closing quote, 0 when
// there is none or a line might end before it.
func textLength(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i
		case c == '\\':
			i++
		case c < ' ':
			return 0
		}
	}
	return 0
}

// number takes the whole number at the beginning of b and returns how many
// digits it has, 0 when there is none that fits.
func (e *event) number(k holeKind, b []byte) int {
	var v int64
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		v = v*10 + int64(b[n]-'0')
		if n++; n > maxDigits {
			return 0
		}
	}
	switch k {
	case holeSent:
		if e.sent = v; v == 0 { // no stamp
			return 0
		}
	case holePrompt:
		e.prompt = v
	case holeCompletion:
		e.completion = v
	case holeCached:
		e.cached = v
	}
	return n
}

// learn walks through a message and remembers it, unless what it says is
// nothing that the next one would repeat.
func (s *shape) learn(b []byte) {
	s.event = event{prompt: -1, completion: -1, cached: -1}
	s.bytes, s.n, s.full = s.bytes[:0], 0, false
	ev := &s.event
	b = bytes.TrimSpace(b)
	switch {
	case string(b) == "[DONE]":
		ev.done = true
		return
	case len(b) == 0 || b[0] != '{':
		ev.malformed = true
		return
	}
	w := walker{b: b, ev: ev, shape: s}
	w.object(scopeTop)
	if w.bad || w.i != len(b) {
		ev.malformed = true
	}
	if ev.malformed || ev.timed || ev.failure != nil || s.full || len(b) > maxShape {
		return
	}
	if bytes.IndexByte(b, '\n') >= 0 { // of several lines: the next one is compared with what may hold line ends
		return
	}
	s.bytes = append(s.bytes, b...)
}

// add remembers the place of a value.
func (s *shape) add(k holeKind, from, to int) {
	if s.n == maxHoles {
		s.full = true
		return
	}
	s.holes[s.n] = hole{from, to, k}
	s.n++
}
