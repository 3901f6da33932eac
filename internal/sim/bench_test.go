package sim

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// labProfile is the time model of the lab's engine.
func labProfile() Profile {
	return Profile{
		Version: "1.0.0",
		Time: TimeModel{
			StepBase: Duration(1600 * time.Microsecond), StepPerSequence: Duration(70 * time.Microsecond),
			PrefillPerToken: Duration(20 * time.Microsecond), MaxBatch: 64,
		},
	}
}

// BenchmarkSweep runs the lab's workload (256/64 tokens, ten requests per
// concurrency) several times and prints, per concurrency, the mean output
// throughput and its relative standard deviation, and the CPU that the engine
// and this client used together. Run it with -benchtime 5x.
func BenchmarkSweep(b *testing.B) {
	address := startForBenchmark(b)
	run := 0 // over all calls: no prompt may come twice
	for _, conc := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("c%d", conc), func(b *testing.B) {
			var speeds []float64
			cpu := processCPU()
			for range b.N {
				run++
				began := time.Now()
				tokens := closedLoop(b, address, conc, 10*conc, run)
				speeds = append(speeds, float64(tokens)/time.Since(began).Seconds())
			}
			used := processCPU() - cpu
			mean, deviation := spread(speeds)
			b.ReportMetric(mean, "tok/s")
			b.ReportMetric(100*deviation/mean, "%spread")
			b.ReportMetric(used.Seconds()/b.Elapsed().Seconds(), "cores")
		})
	}
}

func startForBenchmark(b *testing.B) string {
	address := make(chan string, 1)
	log := &lockedBuffer{grown: make(chan struct{}, 1)}
	s, err := New(Config{
		Profile: labProfile(), Flags: flagsOf(), Args: []string{"--model-path", "m", "--port", "0"}, Log: log, Now: time.Now,
		Listen: func(a string) (net.Listener, error) {
			l, err := net.Listen("tcp", a)
			if err == nil {
				address <- l.Addr().String()
			}
			return l, err
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(b.Context()) }()
	b.Cleanup(func() { <-ended })
	log.waitFor("Uvicorn running on")
	return <-address
}

// closedLoop keeps conc requests in flight until total are answered, and
// returns the tokens that came.
func closedLoop(b *testing.B, address string, conc, total, run int) (tokens int) {
	var workers sync.WaitGroup
	var mu sync.Mutex
	next := 0
	for range conc {
		workers.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= total {
					return
				}
				n := oneRequest(b, address, fmt.Sprintf("%d.%d", run, i))
				mu.Lock()
				tokens += n
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return tokens
}

func oneRequest(b *testing.B, address, unique string) (tokens int) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer conn.Close()
	body := fmt.Sprintf(`{"prompt":"%s%s","max_tokens":64,"ignore_eos":true,"stream":true}`, unique, strings.Repeat(" word", 254))
	fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		b.Error(err)
		return 0
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return tokens
		}
		if err != nil {
			b.Error(err)
			return tokens
		}
		if len(line) > 6 && line[6] == '{' {
			tokens++
		}
	}
}

func spread(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / math.Max(float64(len(x)-1), 1))
}

// processCPU is the CPU time this process has used.
func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
