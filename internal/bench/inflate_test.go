package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"strings"
	"testing"
)

// flushed compresses texts, each with a flush behind it, and returns what the
// compressor wrote for each of them and for the end.
func flushed(t *testing.T, texts ...string) (pieces [][]byte) {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	for _, s := range texts {
		z.Write([]byte(s))
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, bytes.Clone(out.Bytes()))
		out.Reset()
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return append(pieces, out.Bytes())
}

// What a server has flushed is handed on before more of it is asked for.
func TestInflaterHoldsNothingBack(t *testing.T) {
	texts := []string{"data: one\n\n", "data: two\n\n", strings.Repeat("data: many\n", 20000)}
	g := newInflater()
	defer g.close()
	for i, p := range flushed(t, texts...) {
		var got bytes.Buffer
		if err := g.feed(p, func(b []byte) { got.Write(b) }); err != nil {
			t.Fatal(err)
		}
		if i < len(texts) && got.String() != texts[i] {
			t.Errorf("piece %d: got %d bytes, want %d", i, got.Len(), len(texts[i]))
		}
	}
	if err := g.feed([]byte("x"), func([]byte) {}); err == nil {
		t.Error("a byte behind the end was taken")
	}
}

func TestInflaterInAnyPieces(t *testing.T) {
	whole := bytes.Join(flushed(t, "data: one\n\n", "data: two\n\n"), nil)
	for at := range len(whole) + 1 {
		var got bytes.Buffer
		g := newInflater()
		for _, p := range [][]byte{whole[:at], whole[at:]} {
			if len(p) > 0 {
				if err := g.feed(p, func(b []byte) { got.Write(b) }); err != nil {
					t.Fatalf("cut at %d: %v", at, err)
				}
			}
		}
		g.close()
		if got.String() != "data: one\n\ndata: two\n\n" {
			t.Errorf("cut at %d: got %q", at, got.String())
		}
	}
}

func TestInflaterRefusesWhatIsNoGzip(t *testing.T) {
	g := newInflater()
	defer g.close()
	if err := g.feed([]byte("data: plain text, whatever the header says\n\n"), func([]byte) {}); err == nil {
		t.Error("plain text was taken for gzip")
	}
}

// packed answers as asked, compressed, with a flush behind each message.
func packed(encoding string) func(http.ResponseWriter, int, completion) {
	return func(w http.ResponseWriter, n int, c completion) {
		w.Header().Set("Content-Encoding", encoding)
		z := gzip.NewWriter(w)
		for range c.MaxTokens {
			z.Write([]byte(token(" word")))
			z.Flush()
			w.(http.Flusher).Flush()
		}
		z.Write([]byte(usage(4, c.MaxTokens) + "data: [DONE]\n\n"))
		z.Close()
	}
}

// The request asks for no compression; a server that compresses all the same
// is read, a coding nobody knows is not guessed at.
func TestServerThatCompresses(t *testing.T) {
	wire, err := wireRequest(Target{URL: "http://example.test", Model: "m"}, small(), ask{text: "one", most: 1})
	if err != nil || !strings.Contains(string(wire), "\r\nAccept-Encoding: identity\r\n") {
		t.Errorf("request %q, %v", wire, err)
	}
	h := &honest{answer: packed("gzip")}
	r, err := Run(context.Background(), h.start(t), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range r.Requests {
		if q.Error != "" || q.OutputTokens != q.Requested || len(q.TextITLs) != q.Requested-1 {
			t.Errorf("request %d: error %q, %d tokens, %d gaps, want %d tokens", i, q.Error, q.OutputTokens, len(q.TextITLs), q.Requested)
		}
	}
	refused := func(encoding string) func(http.ResponseWriter, int, completion) {
		return func(w http.ResponseWriter, _ int, _ completion) {
			w.Header().Set("Content-Encoding", encoding)
			w.WriteHeader(http.StatusServiceUnavailable)
			z := gzip.NewWriter(w)
			z.Write([]byte("no room"))
			z.Close()
		}
	}
	if q := one(t, &honest{answer: refused("gzip")}); q.ErrorKind != "status" || !strings.Contains(q.Error, "503 Service Unavailable: no room") {
		t.Errorf("a compressed refusal: got %q: %q", q.ErrorKind, q.Error)
	}
	if q := one(t, &honest{answer: refused("br")}); q.ErrorKind != "status" || !strings.Contains(q.Error, "503") {
		t.Errorf("a refusal in another coding: got %q: %q", q.ErrorKind, q.Error)
	}
	if q := one(t, &honest{answer: packed("br")}); q.ErrorKind != "protocol" || !strings.Contains(q.Error, `content encoding "br"`) {
		t.Errorf("another coding: got %q: %q", q.ErrorKind, q.Error)
	}
}
