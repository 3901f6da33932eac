package sim

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
)

// pair is a TCP connection from both ends; the sending side takes little.
func pair(t *testing.T) (sender, reader *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	sender = server.(*net.TCPConn)
	if err := sender.SetWriteBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	return sender, client.(*net.TCPConn)
}

func testStream(t *testing.T, conn *net.TCPConn) *stream {
	t.Helper()
	s, err := newStream(conn, systemClock(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	s.completionFrames("cmpl-1", "a <model>", 1)
	return s
}

func TestSlowReaderGetsEverything(t *testing.T) {
	sender, reader := pair(t)
	s := testStream(t, sender)
	const tokens = 15000 // about 3 MB, more than the sockets hold
	for n := range tokens {
		finish := ""
		if n == tokens-1 {
			finish = "length"
		}
		s.token(n, filler[n%len(filler)], finish)
	}
	s.mu.Lock()
	behind := s.draining
	s.mu.Unlock()
	if !behind {
		t.Error("the sockets took everything: this test tests nothing")
	}
	resp, err := http.ReadResponse(bufio.NewReader(reader), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if n := bytes.Count(got, []byte("data: {")); err != nil || n != tokens {
		t.Errorf("slow reader: %d messages, error %v; want %d", n, err, tokens)
	}
	<-s.done
}

func TestReaderTooFarBehindIsDropped(t *testing.T) {
	sender, _ := pair(t)
	s := testStream(t, sender)
	n := 0
	for ; n < 100000 && !over(s); n++ {
		s.token(n, " word", "")
	}
	if n == 100000 {
		t.Error("100000 unread messages were kept")
	}
}

func over(s *stream) bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func TestReaderGoneEndsTheStream(t *testing.T) {
	sender, reader := pair(t)
	s := testStream(t, sender)
	reader.SetLinger(0)
	reader.Close()
	for n := 0; !over(s); n++ {
		s.token(n, " word", "")
	}
	s.token(1, " word", "length") // must not write or close again
}

func BenchmarkToken(b *testing.B) {
	b.ReportAllocs()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	go io.Copy(io.Discard, client)
	s, err := newStream(server.(*net.TCPConn), systemClock(), "")
	if err != nil {
		b.Fatal(err)
	}
	s.completionFrames("cmpl-1", "m", 1)
	for b.Loop() {
		s.token(1, " word", "")
	}
	server.Close()
	client.Close()
}
