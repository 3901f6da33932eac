package bench

import "bytes"

// maxLine bounds one line of a stream, and one message of several lines.
const maxLine = 4 << 20

// byteOrderMark may stand in front of a stream and is no part of it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// lines cuts an event stream that arrives in pieces into its lines, which end
// with LF, CRLF or CR. A line that lies whole inside one piece is handed on
// without a copy. One that ends with CR is handed on at once, without waiting
// for an LF that may follow.
type lines struct {
	rest  []byte // the start of a line whose end has not arrived
	begun bool   // the stream's first line was handed on
	cr    bool   // the last line ended with CR: an LF behind it belongs to it
}

// reset prepares for the next stream.
func (l *lines) reset() { l.rest, l.begun, l.cr = l.rest[:0], false, false }

// between says that what comes next is the beginning of a line, and not of the
// first one.
func (l *lines) between() bool { return l.begun && !l.cr && len(l.rest) == 0 }

// feed hands every complete line of piece to line, without its end. It returns
// false when a line is longer than maxLine.
func (l *lines) feed(piece []byte, line func([]byte)) bool {
	if l.cr && len(piece) > 0 {
		l.cr = false
		piece = bytes.TrimPrefix(piece, []byte{'\n'})
	}
	for len(piece) > 0 {
		n := bytes.IndexByte(piece, '\n')
		if n < 0 {
			return l.unended(piece, line)
		}
		whole := piece[:n]
		piece = piece[n+1:]
		if bytes.IndexByte(whole, '\r') >= 0 {
			whole = bytes.TrimSuffix(l.returns(whole, line), []byte{'\r'})
		}
		l.hand(whole, line)
	}
	return true
}

// returns hands on the lines that end with CR, but for a CR at the very end,
// and returns what is behind them.
func (l *lines) returns(piece []byte, line func([]byte)) []byte {
	for {
		n := bytes.IndexByte(piece, '\r')
		if n < 0 || n == len(piece)-1 {
			return piece
		}
		l.hand(piece[:n], line)
		piece = piece[n+1:]
	}
}

// unended takes the end of a piece, in which there is no LF.
func (l *lines) unended(piece []byte, line func([]byte)) bool {
	piece = l.returns(piece, line)
	if n := len(piece) - 1; n >= 0 && piece[n] == '\r' {
		l.hand(piece[:n], line)
		l.cr = true
		return true
	}
	l.rest = append(l.rest, piece...)
	return len(l.rest) <= maxLine
}

// hand hands one line on, with its start from earlier pieces.
func (l *lines) hand(b []byte, line func([]byte)) {
	if len(l.rest) > 0 {
		l.rest = append(l.rest, b...)
		b = l.rest
	}
	if !l.begun {
		l.begun = true
		b = bytes.TrimPrefix(b, byteOrderMark)
	}
	line(b)
	l.rest = l.rest[:0]
}

// flush hands on a last line that has no end.
func (l *lines) flush(line func([]byte)) {
	if len(l.rest) > 0 {
		l.hand(nil, line)
	}
}

// field cuts a line of an event stream into the name of a field and its value:
// a line without a colon is a name alone, one space behind the colon belongs to
// it. The name of a comment is empty.
func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte{':'})
	return name, bytes.TrimPrefix(value, []byte{' '})
}

// payload is the data of a line, false for every other field and for comments.
func payload(line []byte) ([]byte, bool) {
	const name = "data:"
	if len(line) >= len(name) && string(line[:len(name)]) == name {
		if line = line[len(name):]; len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		}
		return line, true
	}
	return nil, string(line) == "data"
}
