package bench

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of what a response may cost.
const (
	maxHeader    = 64 << 10
	maxErrorBody = 512 // bytes of a refused request's body that are kept
	maxResponse  = 256 << 20
)

// response reads one HTTP/1.1 response that arrives in pieces: the header,
// then a body that is chunked, counted or ended by the connection's end.
type response struct {
	state       int
	head        []byte
	Status      int
	Reason      string
	Clock       string // value of X-Refit-Clock
	ContentType string
	RetryAfter  string
	Gzip        bool   // the body is compressed, although nobody asked for that
	Close       bool   // the connection ends with this response
	read        int64  // bytes so far
	interim     int    // bytes of interim responses
	left        int64  // bytes of the body or of the chunk still to come
	size        []byte // of a chunk-size or trailer line that is not complete
	err         error
	chunked     bool
}

// States of a response.
const (
	inHeader = iota
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	inCounted
	inOpen // until the connection ends
	atEnd
)

// reset prepares for the next response on the same connection.
func (r *response) reset() {
	*r = response{head: r.head[:0], size: r.size[:0]}
}

// started says whether any byte of the response has arrived.
func (r *response) started() bool { return r.state != inHeader || len(r.head) > 0 }

// feed takes a piece and hands the body's bytes to body, without copying them.
// It returns the bytes behind the response's end.
func (r *response) feed(p []byte, body func([]byte)) ([]byte, error) {
	// Silence is noticed elsewhere; this is for a response that never ends.
	if r.read += int64(len(p)); r.read > maxResponse && r.err == nil {
		r.err = fmt.Errorf("response longer than %d bytes", maxResponse)
	}
	for len(p) > 0 && r.err == nil && r.state != atEnd {
		switch r.state {
		case inHeader:
			p = r.header(p)
		case inChunkSize, inTrailer, inChunkEnd:
			if r.state == inChunkSize && len(r.size) == 0 {
				p = chunks(p, body)
			}
			if len(p) > 0 {
				p = r.line(p)
			}
		case inChunk, inCounted:
			n := min(r.left, int64(len(p)))
			body(p[:n])
			p = p[n:]
			if r.left -= n; r.left == 0 {
				r.state = atEnd
				if r.chunked {
					r.state = inChunkEnd
				}
			}
		case inOpen:
			body(p)
			p = nil
		}
	}
	return p, r.err
}

// end is told that the connection ended; it reports whether the response was
// whole by then.
func (r *response) end() bool {
	if r.state == inOpen {
		r.state = atEnd
	}
	return r.state == atEnd
}

func (r *response) header(p []byte) []byte {
	before := len(r.head)
	if n := bytes.Index(p, []byte("\r\n\r\n")); n >= 0 { // what follows is not of this header
		r.head = append(r.head, p[:n+4]...)
	} else {
		r.head = append(r.head, p...)
	}
	if r.foreign() {
		return nil
	}
	from := max(before-3, 0)
	n := bytes.Index(r.head[from:], []byte("\r\n\r\n"))
	if n < 0 {
		if len(r.head) > maxHeader {
			r.err = fmt.Errorf("header longer than %d bytes", maxHeader)
		}
		return nil
	}
	stop := from + n + 4
	r.parse(string(r.head[:stop-4]))
	return p[stop-before:]
}

// foreign says at the first bytes that this will be no HTTP: what else comes
// may never hold the end of a header.
func (r *response) foreign() bool {
	const http = "HTTP/"
	switch {
	case len(r.head) < len(http) || string(r.head[:len(http)]) == http:
		return false
	case r.head[0] == 0x15 && r.head[1] == 3: // an alert
		r.err = errors.New("the server speaks TLS here, refit plain HTTP: put a proxy that ends TLS in front of it")
	default:
		line, _, _ := bytes.Cut(r.head, []byte("\r\n"))
		r.err = fmt.Errorf("not an HTTP/1 response: %q", line[:min(len(line), 80)])
	}
	return true
}

// parse reads a complete header and chooses how the body is delimited.
func (r *response) parse(head string) {
	first, rest, _ := strings.Cut(head, "\r\n")
	version, status, ok := strings.Cut(first, " ")
	if !ok || !strings.HasPrefix(version, "HTTP/1.") {
		r.err = fmt.Errorf("not an HTTP/1 response: %q", first[:min(len(first), 80)])
		return
	}
	code, reason, _ := strings.Cut(status, " ")
	n, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 || n < 100 {
		r.err = fmt.Errorf("not a status line: %q", first[:min(len(first), 80)])
		return
	}
	if n < 200 { // an interim response; the real one follows
		if r.interim += len(head); r.interim > maxHeader {
			r.err = fmt.Errorf("interim responses longer than %d bytes", maxHeader)
		}
		r.head = r.head[:0]
		return
	}
	r.Status, r.Reason = n, reason
	r.Close = version == "HTTP/1.0"
	r.fields(rest)
}

func (r *response) fields(rest string) {
	length := int64(-1)
	for line := range strings.SplitSeq(rest, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "content-length":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 || (length >= 0 && n != length) {
				r.err = fmt.Errorf("content length %q", value)
				return
			}
			length = n
		case "transfer-encoding":
			if !strings.EqualFold(value, "chunked") {
				r.err = fmt.Errorf("transfer encoding %q", value)
				return
			}
			r.chunked = true
		case "connection":
			if strings.EqualFold(value, "close") {
				r.Close = true
			} else if strings.EqualFold(value, "keep-alive") {
				r.Close = false
			}
		case "content-encoding":
			if r.err = r.encoded(value); r.err != nil {
				return
			}
		case "content-type":
			r.ContentType = value
		case "retry-after":
			r.RetryAfter = value[:min(len(value), maxErrorBody)]
		case "x-refit-clock":
			r.Clock = value
		}
	}
	r.state, r.left = bodyState(r.Status, r.chunked, length), length
	r.Close = r.Close || r.state == inOpen
}

// encoded takes the name of the body's encoding. Requests ask for none; some
// gateways compress all the same. Of a refusal the status is what counts.
func (r *response) encoded(name string) error {
	switch strings.ToLower(name) {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		r.Gzip = true
		return nil
	}
	if r.Status != 200 {
		return nil
	}
	return fmt.Errorf("content encoding %q: the request asked for identity, and only gzip is read besides", name)
}

func bodyState(status int, chunked bool, length int64) int {
	switch {
	case status == 204 || status == 304:
		return atEnd
	case chunked:
		return inChunkSize
	case length == 0:
		return atEnd
	case length > 0:
		return inCounted
	}
	return inOpen
}

// line reads the lines of the chunked coding: sizes, the ends of chunks,
// trailers.
func (r *response) line(p []byte) []byte {
	n := bytes.IndexByte(p, '\n')
	if n < 0 {
		r.size = append(r.size, p...)
		if len(r.size) > maxHeader {
			r.err = fmt.Errorf("chunk line longer than %d bytes", maxHeader)
		}
		return nil
	}
	line := p[:n]
	if len(r.size) > 0 {
		r.size = append(r.size, line...)
		line = r.size
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	switch r.state {
	case inChunkSize:
		r.chunkSize(line)
	case inChunkEnd:
		if len(line) > 0 {
			r.err = fmt.Errorf("chunk longer than its size")
		}
		r.state = inChunkSize
	case inTrailer:
		if len(line) == 0 {
			r.state = atEnd
		}
	}
	r.size = r.size[:0]
	return p[n+1:]
}

func (r *response) chunkSize(line []byte) {
	hex, _, _ := bytes.Cut(line, []byte{';'})
	hex = bytes.TrimSpace(hex)
	if len(hex) == 0 || len(hex) > maxChunkDigits {
		r.err = fmt.Errorf("chunk size %q", line[:min(len(line), 40)])
		return
	}
	var n int64
	for _, c := range hex {
		d := hexDigit(c)
		if d < 0 {
			r.err = fmt.Errorf("chunk size %q", line[:min(len(line), 40)])
			return
		}
		n = n<<4 | d
	}
	r.left, r.state = n, inChunk
	if n == 0 {
		r.state = inTrailer
	}
}
