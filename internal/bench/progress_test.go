package bench

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"
)

// spoken keeps what a command says, for readers in other goroutines.
type spoken struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

// url is the address of the metrics page, as it was told.
func (s *spoken) url() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, rest, _ := strings.Cut(s.buf.String(), "metrics at ")
	address, _, _ := strings.Cut(rest, "\n")
	return address
}

// page reads the metrics page until it says what is wanted.
func (s *spoken) page(t *testing.T, want string) (text string) {
	for range 10000 {
		if text = s.read(t); t.Failed() || strings.Contains(text, want) {
			break
		}
	}
	return text
}

func (s *spoken) read(t *testing.T) string {
	resp, err := http.Get(s.url())
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestProgressText(t *testing.T) {
	p := Progress{Done: 5, Failed: 1, Total: 20, Running: 4, Tokens: 3000, Elapsed: 2 * time.Second, Left: 6 * time.Second, TTFT: 12345 * time.Microsecond}
	if got, want := progressText(Workload{Concurrency: 4}, p), "c4: 5 of 20 requests, 1 failed, 4 in flight, 1500 tok/s, TTFT 12.3ms, 6s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := progressText(Workload{Rate: 2.5}, Progress{Done: 20, Total: 20}); got != "2.5 req/s: 20 of 20 requests" {
		t.Errorf("at the end: got %q", got)
	}
}

func TestProgressLinesTellQuarters(t *testing.T) {
	var out strings.Builder
	told := progressLines(&out, Workload{Concurrency: 2})
	for done := range 9 {
		told(Progress{Done: done, Total: 8})
		told(Progress{Done: done, Total: 8})
	}
	told(Progress{Done: 8, Total: 8, Over: true})
	if got := strings.Count(out.String(), "\n"); got != 4 || !strings.HasPrefix(out.String(), "c2: 2 of 8 requests") {
		t.Errorf("got %d lines:\n%s", got, out.String())
	}
}

// On a terminal one line changes, five times a second, and is ended at the end.
func TestProgressOnATerminal(t *testing.T) {
	var out strings.Builder
	told := liveLine(&out, Workload{Concurrency: 1})
	for _, ms := range []time.Duration{0, 100, 200, 250, 500} {
		told(Progress{Done: 1, Total: 2, Elapsed: ms * time.Millisecond})
	}
	told(Progress{Done: 2, Total: 2, Elapsed: 501 * time.Millisecond, Over: true})
	if got := strings.Count(out.String(), "\r\x1b[K"); got != 4 || strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "c1: 2 of 2 requests\n") {
		t.Errorf("got %q", out.String())
	}
}

func TestTerminalIsKnown(t *testing.T) {
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer main.Close()
	if !isTerminal(main) || isTerminal(&strings.Builder{}) {
		t.Error("a terminal was not told from a text")
	}
	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if isTerminal(plain) {
		t.Error("a device without lines was taken for a terminal")
	}
}

// An answer without text has no first one.
func TestAnswerWithoutTextIsNoFirstText(t *testing.T) {
	c := &teller{firsts: hdr.New(hdrLowest, hdrHighest, hdrDigits)}
	c.count(Request{})
	if n := c.firsts.TotalCount(); n != 0 || c.p.Done != 1 || c.p.TTFT != 0 {
		t.Errorf("%d first texts, progress %+v", n, c.p)
	}
}
