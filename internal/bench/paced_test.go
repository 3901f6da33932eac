package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// paced is a server for BenchmarkReadDelay that sends one token to every
// running request at every step, on absolute deadlines, as an engine does. It
// runs in a process of its own: the client's processor time is measured.
type paced struct {
	mu      sync.Mutex
	streams map[net.Conn]*pacedStream
	clock   clock
}

type pacedStream struct {
	left, total int
	done        chan struct{}
}

func TestMain(m *testing.M) {
	if spec := os.Getenv(rigVariable); spec != "" {
		serveRig(spec)
		return
	}
	if os.Getenv(slotsVariable) != "" {
		followsProcessors()
		return
	}
	if step := os.Getenv("BENCH_TEST_PACED"); step != "" {
		every, err := time.ParseDuration(step)
		if err != nil {
			panic(err)
		}
		servePaced(every)
		return
	}
	os.Exit(m.Run())
}

func servePaced(every time.Duration) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	p := &paced{streams: map[net.Conn]*pacedStream{}, clock: newClock()}
	go p.steps(every)
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go p.conn(c)
	}
}

func (p *paced) conn(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		var body completion
		_ = json.NewDecoder(req.Body).Decode(&body)
		if req.URL.Path != "/v1/completions" {
			fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Refit-Clock: monotonic %s\r\n\r\n", bootID())
		s := &pacedStream{left: body.MaxTokens, total: body.MaxTokens, done: make(chan struct{})}
		p.mu.Lock()
		p.streams[c] = s
		p.mu.Unlock()
		<-s.done
	}
}

func (p *paced) steps(every time.Duration) {
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	for next := time.Now(); ; next = next.Add(every) {
		time.Sleep(time.Until(next))
		p.mu.Lock()
		for c, s := range p.streams {
			s.left--
			text := fmt.Sprintf("data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\" word\",\"finish_reason\":null}],\"sent_ns\":%d}\n\n", p.clock.now())
			if s.left > 0 {
				fmt.Fprint(c, chunk(text))
				continue
			}
			fmt.Fprint(c, chunk(text+usage(4, s.total)+"data: [DONE]\n\n")+"0\r\n\r\n")
			delete(p.streams, c)
			close(s.done)
		}
		p.mu.Unlock()
	}
}

func startPaced(b *testing.B, step string) Target {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BENCH_TEST_PACED="+step)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return Target{URL: "http://" + strings.TrimSpace(addr), Model: "m"}
}

// BenchmarkReadDelay reports the client's own delay and processor time beside
// a server that shares the machine with it.
func BenchmarkReadDelay(b *testing.B) {
	for _, conc := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("c%d", conc), func(b *testing.B) {
			target := startPaced(b, "2ms")
			for b.Loop() {
				r, err := Run(context.Background(), target, Workload{Requests: 10 * conc, Concurrency: conc, Warmups: conc, InputTokens: 256, OutputTokens: 64}, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Health.ReadDelayP50)/1e3, "p50-µs")
				b.ReportMetric(float64(r.Health.ReadDelayP99)/1e3, "p99-µs")
				b.ReportMetric(r.Health.ClientCPU, "cores")
				b.ReportMetric(float64(r.Health.MeanITL)/1e3, "itl-µs")
				b.ReportMetric(float64(r.Health.Errors), "errors")
			}
		})
	}
}
