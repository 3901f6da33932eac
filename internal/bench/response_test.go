package bench

import (
	"strings"
	"testing"
)

// readAt reads a response cut into two pieces.
func readAt(in string, at int) (body, rest string, r *response, err error) {
	r = &response{}
	var b strings.Builder
	take := func(p []byte) { b.Write(p) }
	left, err := r.feed([]byte(in[:at]), take)
	if err == nil {
		var more []byte
		more, err = r.feed([]byte(in[at:]), take)
		left = append(left, more...)
	}
	return b.String(), string(left), r, err
}

func TestResponsesInTwoPieces(t *testing.T) {
	cases := []struct{ name, in, body, rest string }{
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2;x=y\r\nef\r\n0\r\n\r\n", "abcdef", ""},
		{"trailers", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n", "a", ""},
		{"counted", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", ""},
		{"more behind", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", "a", "bc"},
		{"until the end", "HTTP/1.1 200 OK\r\n\r\nabc", "abc", ""},
		{"interim first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "a", ""},
		{"empty", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for at := range len(c.in) + 1 {
				body, rest, r, err := readAt(c.in, at)
				if err != nil || body != c.body || rest != c.rest || !r.end() {
					t.Fatalf("cut at %d: body %q rest %q whole %v error %v, want %q %q", at, body, rest, r.end(), err, c.body, c.rest)
				}
			}
		})
	}
}

func TestBadResponses(t *testing.T) {
	for _, in := range []string{
		"SSH-2.0-x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/2 200\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
		strings.Repeat("x", maxHeader+1),
	} {
		if _, _, _, err := readAt(in, 0); err == nil {
			t.Errorf("%.60q: no error", in)
		}
	}
}

func FuzzResponse(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", 40)
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 5)
	f.Fuzz(func(t *testing.T, in string, at int) {
		at = min(max(at, 0), len(in))
		body, rest, whole, err := readAt(in, len(in))
		cutBody, cutRest, cut, cutErr := readAt(in, at)
		if (err == nil) != (cutErr == nil) || err == nil && (body != cutBody || rest != cutRest || whole.end() != cut.end()) {
			t.Fatalf("%q cut at %d: %q %q %v, whole: %q %q %v", in, at, cutBody, cutRest, cutErr, body, rest, err)
		}
	})
}
