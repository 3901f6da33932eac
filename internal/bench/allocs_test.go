package bench

import (
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// In the hot path, from the bytes of a read to the booked token, nothing is
// allocated, whether a message comes in one piece or in two.
func TestEventsAllocateNothing(t *testing.T) {
	event := func(n int) string {
		s := fmt.Sprintf("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"text\":\" word\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":%d},\"sent_ns\":%d}\n\n", n, 1000+n)
		return fmt.Sprintf("%x\r\n%s\r\n", len(s), s)
	}
	const events, runs = 64, 20
	for name, size := range map[string]int{"whole reads": 1 << 20, "small reads": 100} {
		c := newConn(func(*conn) {})
		room := events * (runs + 2)
		c.x = &exchange{stamp: 1, delays: &delays{trusted: true}, plan: plan{measured: true, output: events},
			itls: make([]time.Duration, 0, room), textITLs: make([]time.Duration, 0, room), gains: make([]int, 0, room)}
		feed := func(b []byte) {
			for len(b) > 0 {
				n := min(size, len(b))
				if _, err := c.resp.feed(b[:n], c.take); err != nil {
					t.Fatal(err)
				}
				b = b[n:]
			}
		}
		feed([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + event(1)))
		var body []byte
		for n := range events {
			body = append(body, event(n+1)...)
		}
		feed(body) // rooms that are kept grow now
		if got := testing.AllocsPerRun(runs, func() { feed(body) }); got != 0 {
			t.Errorf("%s: %v allocations for %d events, want none", name, got, events)
		}
		if want := 1 + events*(runs+2); c.x.choices != want || c.x.kind != "" {
			t.Errorf("%s: %d events, error %q, want %d", name, c.x.choices, c.x.failure, want)
		}
	}
}

// Nor does a read allocate, with the kernel's receive times or without.
func TestReadsAllocateNothing(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := newConn(func(*conn) {})
	if err := c.dial(&unix.SockaddrInet4{Port: listener.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	defer c.close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c.wantStamps()
	if _, err := server.Write(make([]byte, 200)); err != nil {
		t.Fatal(err)
	}
	ready := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(ready, 10_000); err != nil {
		t.Fatal(err)
	}
	buf, control := make([]byte, 1), make([]byte, 128)
	for _, stamps := range []bool{false, true} {
		n := testing.AllocsPerRun(50, func() {
			if got, _, err := c.recv(buf, control, stamps); got != 1 || err != nil {
				t.Fatalf("read %d bytes: %v", got, err)
			}
		})
		if n != 0 {
			t.Errorf("stamps %v: %v allocations a read, want none", stamps, n)
		}
	}
}
