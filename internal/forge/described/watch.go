package described

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const (
	restRoot = "/api/v3"
	client   = "go-github" // what our requests say they come from
)

// A Watch collects what goes over HTTP in one test, and fails the test for what
// GitHub's description does not allow. Where the description is not installed
// it collects nothing; Require says so.
type Watch struct {
	t testing.TB
	d *Description

	// Answers says whether they are checked; a test's own server says what it likes.
	Answers bool

	mu    sync.Mutex
	seen  map[string]int // by operation, answered well
	wrong map[string]bool
}

// NewWatch returns the watch of a test.
func NewWatch(t testing.TB) *Watch {
	t.Helper()
	d, err := Load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return &Watch{t: t, d: d, Answers: true, seen: map[string]int{}, wrong: map[string]bool{}}
}

// Require skips a test, with the reason, where the description is not installed.
func Require(t testing.TB) *Description {
	t.Helper()
	d, err := Load()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Handler passes requests on to h and checks them with their answers. GraphQL
// is not described there, and is passed on unchecked.
func (w *Watch) Handler(h http.Handler) http.Handler {
	if w.d == nil {
		return h
	}
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		path, rest := strings.CutPrefix(r.URL.EscapedPath(), restRoot)
		if !rest {
			h.ServeHTTP(out, r)
			return
		}
		x := Exchange{Method: r.Method, Path: path, Query: r.URL.Query()}
		x.Body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(x.Body))
		ours := strings.HasPrefix(r.UserAgent(), client)
		said := httptest.NewRecorder()
		h.ServeHTTP(said, r)
		x.Status, x.Answer = said.Code, said.Body.Bytes()
		x.Type, _, _ = mime.ParseMediaType(said.Header().Get("Content-Type"))
		w.check(x, ours)
		for key, values := range said.Header() {
			out.Header()[key] = values
		}
		out.WriteHeader(said.Code)
		out.Write(x.Answer)
	})
}

// check holds one exchange to the description. A request of somebody else that
// was refused may be as wrong as it likes: that is what it was refused for.
func (w *Watch) check(x Exchange, ours bool) {
	if ours || x.Status < 400 {
		w.report(x.String(), w.d.Request(x))
	}
	if w.Answers {
		w.report(x.String(), w.d.Answer(x))
	}
	if o, ok := w.d.find(x.Method, x.Path); ok && x.Status < 400 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen[o.String()]++
	}
}

// Event checks the payload of an event.
func (w *Watch) Event(name string, payload []byte) {
	if w.d != nil {
		w.report("event "+name, w.d.Event(name, payload))
	}
}

// Seen returns how often each operation was answered well so far, by method and
// path template.
func (w *Watch) Seen() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[string]int{}
	for k, n := range w.seen {
		seen[k] = n
	}
	return seen
}

// report fails the test, once for each reason.
func (w *Watch) report(what string, reasons []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, reason := range reasons {
		if text := what + ": " + reason; !w.wrong[text] {
			w.wrong[text] = true
			w.t.Errorf("not as GitHub describes it: %s", text)
		}
	}
}
