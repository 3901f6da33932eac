package bench

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// speedRun has requests answered by a rig on the other core with the same
// bytes, and returns how long this core took to read and book all of them.
func speedRun(b *testing.B, target Target, wire []byte, requests, connections, events int) time.Duration {
	b.Helper()
	ctx := context.Background()
	target, _, addr, err := settle(ctx, target, Workload{Requests: 1, Concurrency: 1, InputTokens: 1, OutputTokens: 1})
	if err != nil {
		b.Fatal(err)
	}
	s := newSide(target)
	defer s.close()
	plans := make([]plan, requests)
	for i := range plans {
		plans[i] = plan{wire: wire, input: 1, output: events, measured: true}
	}
	l, err := newLoop(addr, connections)
	if err != nil {
		b.Fatal(err)
	}
	defer l.close()
	l.idle, l.deadline = time.Minute, time.Minute
	r, xs, err := measure(ctx, l, s, plans, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i, x := range xs {
		if x.kind != "" || x.choices != events || x.completion != int64(events) {
			b.Fatalf("request %d: error %q, %d events, %d tokens, want %d", i, x.failure, x.choices, x.completion, events)
		}
	}
	return r.Duration
}

// wireOf is a request that a rig answers.
func wireOf(target Target) []byte {
	return []byte("POST /v1/completions HTTP/1.1\r\nHost: " + target.URL[len("http://"):] + "\r\nContent-Length: 2\r\n\r\n{}")
}

// roofline is the same work without any of the reading: the same requests over
// as many connections, the same poller, and of the answers' bytes only the line
// ends are looked for. What the client spends beside that is its own.
func roofline(b *testing.B, target Target, wire []byte, requests, connections, size int) time.Duration {
	b.Helper()
	_, _, addr, err := settle(context.Background(), target, Workload{Requests: 1, Concurrency: 1, InputTokens: 1, OutputTokens: 1})
	if err != nil {
		b.Fatal(err)
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(poll)
	left := map[int32]int{}
	for range connections {
		c := newConn(func(*conn) {})
		if err := c.dial(addr); err != nil {
			b.Fatal(err)
		}
		defer c.close()
		ready := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLOUT}}
		if _, err := unix.Poll(ready, 10_000); err != nil {
			b.Fatal(err)
		}
		if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.fd)}); err != nil {
			b.Fatal(err)
		}
		left[int32(c.fd)] = 0
	}
	return scanAll(b, poll, left, wire, requests, size)
}

// scanAll keeps a request under way on each connection, left bytes of whose
// answer are still to come, until all have been answered.
func scanAll(b *testing.B, poll int, left map[int32]int, wire []byte, requests, size int) time.Duration {
	b.Helper()
	ended := make(chan time.Duration)
	go func() {
		defer close(ended)
		runtime.LockOSThread() // never unlocked, as the loop's thread
		prefer()
		buf, events := make([]byte, readSize), make([]unix.EpollEvent, 256)
		began, done := time.Now(), 0
		for fd := range left {
			left[fd] = size
			_, _ = unix.Write(int(fd), wire)
			requests--
		}
		for running := len(left); running > 0; {
			n, err := unix.EpollWait(poll, events, 1000)
			if err != nil && err != unix.EINTR {
				return
			}
			for _, ev := range events[:max(n, 0)] {
				n, err := unix.Read(int(ev.Fd), buf)
				if err != nil || n == 0 {
					return
				}
				done += countLines(buf[:n])
				if left[ev.Fd] -= n; left[ev.Fd] > 0 {
					continue
				}
				if requests == 0 {
					running--
					continue
				}
				requests--
				left[ev.Fd] = size
				_, _ = unix.Write(int(ev.Fd), wire)
			}
		}
		if done > 0 {
			ended <- time.Since(began)
		}
	}()
	took, ok := <-ended
	if !ok {
		b.Fatal("the roofline's connections broke")
	}
	return took
}

func countLines(p []byte) (n int) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			return n
		}
		n++
		p = p[i+1:]
	}
}

// inMemory is the time that looking for the line ends of an answer takes
// without a network, for comparison.
func inMemory(reply []byte) time.Duration {
	began := time.Now()
	const rounds = 200
	for range rounds {
		if countLines(reply) == 0 {
			return 0
		}
	}
	return time.Since(began) / rounds
}

// benchmarkSpeed reports replies of so many events a second beside the roofline
// of the same run.
func benchmarkSpeed(b *testing.B, requests, connections, events int, unit string, per, share, least float64) {
	onCore(b, 1)
	target := startRig(b, rigPlan{Core: 0, Prebuilt: events})
	wire, reply := wireOf(target), prebuilt(events)
	speedRun(b, target, wire, connections, connections, events) // opens the kernel's windows
	for b.Loop() {
		roof := roofline(b, target, wire, requests, connections, len(reply))
		took := speedRun(b, target, wire, requests, connections, events)
		rate := float64(requests) * per / took.Seconds()
		most := float64(requests) * per / roof.Seconds()
		memory := per / inMemory(reply).Seconds()
		b.Logf("%d replies of %d bytes over %d connections: %.0f %s/s, byte scan of the same loopback %.0f %s/s (%.0f %%), of memory %.0f %s/s",
			requests, len(reply), connections, rate, unit, most, unit, 100*rate/most, memory, unit)
		b.ReportMetric(rate, unit+"/s")
		b.ReportMetric(most, "roofline-"+unit+"/s")
		b.ReportMetric(100*rate/most, "%roofline")
		b.ReportMetric(float64(requests*len(reply))/took.Seconds()/1e6, "MB/s")
		if rate < share*most || rate < least {
			b.Errorf("%.0f %s/s, want at least %.0f %% of the roofline's %.0f and %.0f", rate, unit, 100*share, most, least)
		}
	}
}

// BenchmarkEventsPerCore reads replies of 1,000 events, made beforehand, on one
// core. Run it with -benchtime 1x.
func BenchmarkEventsPerCore(b *testing.B) {
	benchmarkSpeed(b, 6000, 16, 1000, "events", 1000, 0.5, 0)
}

// BenchmarkRequestsPerCore reads replies of one event on one core. Run it with
// -benchtime 1x.
func BenchmarkRequestsPerCore(b *testing.B) {
	benchmarkSpeed(b, 100_000, 64, 1, "requests", 1, 0, 40_000)
}
