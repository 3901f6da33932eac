package bench

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// inflater decompresses a body that arrives in pieces. The library's reader
// asks for its input, so it runs in a goroutine of its own; that and the caller
// take turns, and whenever feed returns everything that the pieces so far say
// has been handed on: a server that flushes each message is measured rightly.
type inflater struct {
	in   chan []byte // the caller's turn ends: with a piece, or with nil behind a part
	out  chan part   // the reader's turn ends
	read int64       // decompressed bytes so far
	over bool        // the reader has ended
}

// part is what the reader ends its turn with: bytes, an error, or neither when
// it needs another piece.
type part struct {
	bytes []byte
	err   error
}

// newInflater starts the reader; close ends it.
func newInflater() *inflater {
	g := &inflater{in: make(chan []byte), out: make(chan part)}
	go g.inflate(&pieces{in: g.in, out: g.out})
	return g
}

// feed takes a piece and hands on what it decompresses to.
func (g *inflater) feed(p []byte, take func([]byte)) error {
	if g.over {
		return errors.New("bytes behind the end")
	}
	g.in <- p
	for {
		got := <-g.out
		switch {
		case got.err == io.EOF:
			g.over = true
			return nil
		case got.err != nil:
			g.over = true
			return got.err
		case got.bytes == nil:
			return nil
		}
		if g.read += int64(len(got.bytes)); g.read > maxResponse {
			return fmt.Errorf("more than %d bytes", maxResponse)
		}
		take(got.bytes)
		g.in <- nil
	}
}

// close ends the reader and returns nil, for the place that held it.
func (g *inflater) close() *inflater {
	if g != nil {
		close(g.in)
	}
	return nil
}

// inflate is the reader's goroutine. It ends with its input, and having told of
// the end or of an error.
func (g *inflater) inflate(src *pieces) {
	buf := make([]byte, 32<<10)
	z, err := gzip.NewReader(src)
	if err == nil {
		z.Multistream(false) // else the end is held back until it is known whether more follows
	}
	for err == nil {
		var n int
		if n, err = z.Read(buf); n > 0 {
			g.out <- part{bytes: buf[:n]}
			if _, open := <-g.in; !open {
				return
			}
		}
	}
	if !src.closed {
		g.out <- part{err: err}
	}
}

// pieces is the input of an inflater as a reader.
type pieces struct {
	in     <-chan []byte
	out    chan<- part
	rest   []byte
	asked  bool // a piece has come before
	closed bool
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.asked {
			p.out <- part{}
		}
		p.asked = true
		piece, open := <-p.in
		if !open {
			p.closed = true
			return 0, io.ErrUnexpectedEOF
		}
		p.rest = piece
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
