package local

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Fault is what goes wrong with one request.
type Fault string

// The faults.
const (
	None    Fault = ""
	Down    Fault = "down"    // 502, nothing was done
	Limited Fault = "limited" // 429 with Retry-After, nothing was done
	Abused  Fault = "abused"  // 403 with Retry-After, as GitHub's secondary limit; nothing was done
	Refused Fault = "refused" // the connection is cut, nothing was done
	Lost    Fault = "lost"    // it was done; the connection is cut before the answer
	Cut     Fault = "cut"     // it was done; the answer ends in its middle
	Slow    Fault = "slow"    // it was done; the answer comes in small pieces
	Late    Fault = "late"    // it is done after Faults.Delay, and answered
)

// Misfortunes are all faults but Late, under which nothing goes wrong.
var Misfortunes = []Fault{Down, Limited, Abused, Refused, Lost, Cut, Slow}

// Faults stands in front of a forge and lets chosen requests go wrong. It is
// how a client's behaviour is tested; nothing else uses it.
type Faults struct {
	Forge http.Handler

	// Choose decides about a request; n counts from 1. What it does itself
	// happens just before the request: it may move a head under it.
	Choose func(n int, r *http.Request) Fault

	Delay time.Duration // of a request under Late

	mu     sync.Mutex
	n      int
	counts map[Fault]int
}

// Counts returns how many requests met each fault so far; those under None met none.
func (f *Faults) Counts() map[Fault]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[Fault]int{}
	for k, n := range f.counts {
		counts[k] = n
	}
	return counts
}

// Seeded chooses one of the given faults for a share of the requests. The same
// seed makes the same choices for the same sequence of requests.
func Seeded(seed uint64, share float64, of ...Fault) func(int, *http.Request) Fault {
	dice := rand.New(rand.NewPCG(seed, seed))
	return func(int, *http.Request) Fault {
		if dice.Float64() >= share {
			return None
		}
		return of[dice.IntN(len(of))]
	}
}

// ServeHTTP serves one request, or lets it go wrong.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch fault := f.choose(r); fault {
	case None:
		f.Forge.ServeHTTP(w, r)
	case Down:
		http.Error(w, `{"message":"Bad Gateway"}`, http.StatusBadGateway)
	case Limited, Abused:
		status := map[Fault]int{Limited: http.StatusTooManyRequests, Abused: http.StatusForbidden}[fault]
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"message":"You have exceeded a secondary rate limit."}`, status)
	case Late:
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
			f.Forge.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	case Refused:
		panic(http.ErrAbortHandler)
	default:
		said := &recording{header: http.Header{}, code: http.StatusOK}
		f.Forge.ServeHTTP(said, r)
		said.deliver(w, fault)
	}
}

func (f *Faults) choose(r *http.Request) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	fault := f.Choose(f.n, r)
	if f.counts == nil {
		f.counts = map[Fault]int{}
	}
	f.counts[fault]++
	return fault
}

// A recording is an answer that was given and not sent yet.
type recording struct {
	header http.Header
	code   int
	bytes.Buffer
}

// Header returns the answer's header.
func (r *recording) Header() http.Header { return r.header }

// WriteHeader keeps the status.
func (r *recording) WriteHeader(code int) { r.code = code }

// deliver sends the answer the wrong way.
func (r *recording) deliver(w http.ResponseWriter, fault Fault) {
	if fault == Lost {
		panic(http.ErrAbortHandler)
	}
	for k, v := range r.header {
		w.Header()[k] = v
	}
	body := r.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(r.code)
	flush := http.NewResponseController(w).Flush
	if fault == Cut {
		w.Write(body[:len(body)/2])
		flush()
		panic(http.ErrAbortHandler)
	}
	for len(body) > 0 {
		piece := min(len(body), max(1, len(body)/4))
		w.Write(body[:piece])
		flush()
		body = body[piece:]
	}
}

// Writes reports whether a request changes the forge. The body stays readable.
func Writes(r *http.Request) bool {
	switch {
	case readOnly(r.Method):
		return false
	case r.URL.Path != graphqlURL:
		return true
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	return err != nil || bytes.Contains(body, []byte("mutation"))
}
