package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// closing is a server that keeps connections open, and ends the first one of
// them without a byte, a while after it has read a second request there.
type closing struct {
	after time.Duration
	asked atomic.Int32 // completions that were read
	shut  atomic.Int32 // connections that were ended so
}

func (s *closing) start(t *testing.T) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return Target{URL: "http://" + l.Addr().String(), Model: "m"}
}

func (s *closing) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for n := 0; ; n++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if req.URL.Path != "/v1/completions" {
			fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		s.asked.Add(1)
		if n > 0 && s.shut.CompareAndSwap(0, 1) {
			<-time.After(s.after)
			return
		}
		body := oneToken + usage(4, 1) + "data: [DONE]\n\n"
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
}

func (s *closing) measured(t *testing.T) Result {
	t.Helper()
	r, err := Run(context.Background(), s.start(t), Workload{Requests: 3, Concurrency: 1, InputTokens: 4, OutputTokens: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.shut.Load() != 1 || r.Requests[0].Error != "" || r.Requests[2].Error != "" {
		t.Fatalf("%d connections were ended; requests %+v", s.shut.Load(), r.Requests)
	}
	return r
}

// A request that crossed with the end of its connection is sent again, and
// what it waited for on the first one is the answer's time, not the client's.
func TestCrossedRequestIsSentAgainWithItsFirstTime(t *testing.T) {
	const wait = 50 * time.Millisecond
	s := &closing{after: wait}
	r := s.measured(t)
	q := r.Requests[1]
	if q.Error != "" || s.asked.Load() != 4 {
		t.Fatalf("error %q, the server read %d requests, want none and 4", q.Error, s.asked.Load())
	}
	if q.TTFT < wait || q.Latency < wait || q.Lag > wait/2 || q.Sent > q.Ended-wait {
		t.Errorf("first message after %v, whole after %v, lag %v: want the server's %v in the first two alone", q.TTFT, q.Latency, q.Lag, wait)
	}
	if q.Connect <= 0 || q.Connect > q.TTFT-wait {
		t.Errorf("connected in %v of %v: want the new connection's own time", q.Connect, q.TTFT)
	}
}

// A connection that ends without a byte after a second has not crossed with
// anything: the request has failed, and is not sent twice.
func TestLateEndOfAKeptConnectionIsAReset(t *testing.T) {
	s := &closing{after: 1100 * time.Millisecond}
	r := s.measured(t)
	q := r.Requests[1]
	if q.ErrorKind != "reset" || !strings.Contains(q.Error, "after 0 messages") || s.asked.Load() != 3 {
		t.Errorf("got %q, the server read %d requests; want a reset and 3", q.Error, s.asked.Load())
	}
}
