package candidate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/workspace"
)

// What a second process of a test is told in its environment.
const (
	groundVariable = "REFIT_TEST_GROUND" // folder of what all worlds share
	worldVariable  = "REFIT_TEST_WORLD"  // folder of its world
	forgeVariable  = "REFIT_TEST_FORGE"  // its own address of forge and ledger
)

const advances = 25 // of each of the two processes, at least

// A referee stands between processes and the world. It lets one write through
// at a time and remembers who holds the lease, so that it sees a write of
// anybody else.
type referee struct {
	w     *world
	lease string // path of the lease's file

	mu       sync.Mutex
	holder   int
	at       string         // commit of the lease
	leases   map[int]int    // by process: how often it took the lease
	writes   map[int]int    // by process
	offences []string       // writes without the lease
	calls    map[int]int    // by process
	ledger   *http.ServeMux // the ledger, for processes that do not share memory
}

// door is one process's way in.
func (r *referee) door(process int) http.Handler {
	forge := r.w.forge.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls[process]++
		next := forge
		if strings.HasPrefix(req.URL.Path, "/ledger/") {
			next = r.ledger
		}
		said := &status{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(said, req)
		if said.code >= 300 {
			return // refused
		}
		if req.URL.Path == "/ledger/receipts" || req.URL.Path == "/ledger/candidates" || req.URL.Path == "/ledger/save" || !local.Writes(req) {
			return // looks, and the list of candidates, which is only a view
		}
		if strings.HasPrefix(req.URL.Path, "/api/v3/repos/toy/recipes/git/commits") {
			return // an object that nothing points to yet
		}
		r.writes[process]++
		now, _ := os.ReadFile(r.lease)
		switch at := strings.TrimSpace(string(now)); {
		case at != r.at && at != "":
			r.at, r.holder = at, process
			r.leases[process]++
		case at != r.at && r.holder == process:
			r.at, r.holder = "", 0
		case r.holder != process:
			r.offences = append(r.offences, fmt.Sprintf("process %d, %s %s while %d holds the lease", process, req.Method, req.URL.Path, r.holder))
		}
	})
}

// status remembers how a request was answered.
type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader keeps the code.
func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// remote is the ledger as another process reaches it.
type remote struct{ url string }

func (r remote) call(ctx context.Context, what string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/ledger/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ledger: %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func (r remote) Receipts(ctx context.Context, id string) (all []Receipt, err error) {
	return all, r.call(ctx, "receipts", id, &all)
}

func (r remote) Append(ctx context.Context, x Receipt) error {
	return r.call(ctx, "append", x, &struct{}{})
}

func (r remote) SaveCandidate(ctx context.Context, s Summary) error {
	return r.call(ctx, "save", s, &struct{}{})
}

func (r remote) Candidates(ctx context.Context) (all []Summary, err error) {
	return all, r.call(ctx, "candidates", "", &all)
}

// serveLedger is the other end of remote.
func serveLedger(m *memory) *http.ServeMux {
	mux := http.NewServeMux()
	handle(mux, "receipts", m.Receipts)
	handle(mux, "candidates", func(ctx context.Context, _ string) ([]Summary, error) { return m.Candidates(ctx) })
	handle(mux, "append", func(ctx context.Context, r Receipt) (struct{}, error) { return struct{}{}, m.Append(ctx, r) })
	handle(mux, "save", func(ctx context.Context, s Summary) (struct{}, error) { return struct{}{}, m.SaveCandidate(ctx, s) })
	return mux
}

func handle[In, Out any](mux *http.ServeMux, what string, do func(context.Context, In) (Out, error)) {
	mux.HandleFunc("/ledger/"+what, func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(out)
	})
}

// TestTwoProcessesMoveOneCandidate lets two real processes advance the same
// candidate, fifty times together: one of everything comes out, and nobody
// writes without the lease.
func TestTwoProcessesMoveOneCandidate(t *testing.T) {
	worlds := 4
	if testing.Short() {
		worlds = 1
	}
	want, _ := stories[0].undisturbed(t)
	for n := range worlds {
		w := newWorld(t)
		c, err := w.shepherd("bot-token").Select(t.Context(), family, "")
		w.must(err)
		r := &referee{
			w: w, lease: filepath.Join(w.bare.Dir, "refs", c.LeaseRef("refit")),
			leases: map[int]int{}, writes: map[int]int{}, calls: map[int]int{}, ledger: serveLedger(w.ledger),
		}
		var both sync.WaitGroup
		for process := 1; process <= 2; process++ {
			both.Go(func() { w.second(r.door(process)) })
		}
		both.Wait()
		w.forge.Wait()
		c, st, _ := w.process(workspace.Process()).upgrade()
		if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
			t.Errorf("world %d (-one process +two):\n%s", n, diff)
		}
		for _, o := range r.offences {
			t.Errorf("world %d: %s", n, o)
		}
		t.Logf("world %d: %d advances at least, leases %v, writes %v, calls %v", n, 2*advances, r.leases, r.writes, r.calls)
	}
}

// second runs this test binary as another process and waits for it.
func (w *world) second(door http.Handler) {
	server := httptest.NewServer(door)
	defer server.Close()
	cmd := exec.CommandContext(w.t.Context(), os.Args[0], "-test.run=^TestSecondProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), groundVariable+"="+w.ground, worldVariable+"="+w.dir, forgeVariable+"="+server.URL)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("second process: %v\n%s", err, out)
	}
}

// TestSecondProcess is what the other process does: it does nothing on its own.
func TestSecondProcess(t *testing.T) {
	dir := os.Getenv(worldVariable)
	if dir == "" {
		return
	}
	w := standOn(t, dir)
	w.url = os.Getenv(forgeVariable)
	s := w.shepherd("bot-token")
	s.Ledger = remote{w.url}
	done := false
	for n := 0; n < advances || !done; n++ {
		c, err := s.Select(t.Context(), family, "")
		w.must(err)
		st, err := s.Advance(t.Context(), c)
		w.must(err)
		done = st.State == Done
		if n > 5000 {
			t.Fatalf("no outcome after %d advances: waiting for %s", n, st.Waiting)
		}
	}
}
