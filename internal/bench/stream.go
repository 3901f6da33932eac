package bench

import "bytes"

// maxLine bounds one line of a stream.
const maxLine = 4 << 20

// lines cuts a stream that arrives in pieces into its lines. A line that lies
// whole inside one piece is handed on without a copy.
type lines struct {
	rest []byte // the start of a line whose end has not arrived
}

// feed hands every complete line of piece to line, without its end (LF or
// CRLF). It returns false when a line is longer than maxLine.
func (l *lines) feed(piece []byte, line func([]byte)) bool {
	for len(piece) > 0 {
		n := bytes.IndexByte(piece, '\n')
		if n < 0 {
			l.rest = append(l.rest, piece...)
			return len(l.rest) <= maxLine
		}
		whole := piece[:n]
		if len(l.rest) > 0 {
			l.rest = append(l.rest, whole...)
			whole = l.rest
		}
		line(bytes.TrimSuffix(whole, []byte{'\r'}))
		l.rest = l.rest[:0]
		piece = piece[n+1:]
	}
	return true
}

// flush hands on a last line that has no end.
func (l *lines) flush(line func([]byte)) {
	if len(l.rest) > 0 {
		line(bytes.TrimSuffix(l.rest, []byte{'\r'}))
		l.rest = l.rest[:0]
	}
}

// payload is the data of a server-sent line: `data:` with or without a space.
// Comments, blank lines, event, id and retry lines carry none.
func payload(line []byte) ([]byte, bool) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil, false
	}
	return bytes.TrimPrefix(data, []byte{' '}), true
}
