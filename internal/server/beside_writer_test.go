package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/store"
)

const (
	rounds  = 12 // of the writer; readers look for as long as it writes
	readers = 2  // of each kind
)

// besideRun is a published run of three points; every figure of it is its round.
func besideRun(points []matrix.Point, round int) (store.WorkflowRun, result.Run) {
	at := time.Date(2026, 9, 10, 6, round, 0, 0, time.UTC)
	head, digest := strings.Repeat("c", 40), "sha256:"+strings.Repeat("d", 64)
	run := store.WorkflowRun{ID: int64(1000 + round), Attempt: 1, Name: "Run Sweep", HeadSHA: head, Branch: "main", Event: "push", Conclusion: "success",
		URL: fmt.Sprint("http://127.0.0.1:1/runs/", round), Created: at, Started: at, ConfigKeys: []string{"fam-a"}}
	prov := result.Provenance{RunID: run.ID, Attempt: 1, Head: head, Started: at, Ended: at}
	family, none := result.ManifestFamily{Family: points[0].Family, Image: apiImage, Digest: digest}, 0
	var r result.Run
	for _, p := range points {
		family.Points = append(family.Points, result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()})
		r.Rows = append(r.Rows, result.Row{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: apiImage, Digest: digest, Label: p.Label(), Conc: p.Conc(),
			ISL: 256, OSL: 64, Scenario: matrix.Fixed, Result: result.Passed, RequestErrors: &none, Health: bench.Health{Verdict: bench.Healthy}, Plan: p.Row, Provenance: prov,
			Metrics: map[string]float64{"tput_per_gpu": float64(round), "output_tput_per_gpu": float64(round), "mean_ttft": 1, "mean_tpot": 1}})
	}
	r.Manifest = result.Manifest{Version: 1, RunID: run.ID, Attempt: 1, Head: head, Mode: result.ModePush, Families: []result.ManifestFamily{family}}
	return run, r
}

// besideCandidate is a candidate all of whose words carry the round.
func besideCandidate(family string, round int) candidate.Summary {
	mark := func(word string) string { return fmt.Sprintf("%s-%d", word, round) }
	return candidate.Summary{Candidate: candidate.Candidate{ID: pageID, Family: family, OldImage: apiImage, NewImage: "lab/engine:v2.0.0-cpu", Parent: "7"},
		Step: mark("step"), Next: mark("next"), Owner: mark("owner"), Created: time.Unix(1, 0).UTC(), Updated: time.Unix(2, 0).UTC()}
}

// A reader beside a writer sees what was before a write or what is after it:
// never a half of it, never a 5xx, never a locked database. The writer has a
// handle of its own on the store, as another process would.
func TestReadersBesideAWriter(t *testing.T) {
	h := startHost(t)
	p := &Parts{Workspace: h.Workspace, Address: h.Address, Store: h.Store, token: h.token, now: time.Now}
	ours, err := p.Forge()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := store.Open(t.Context(), h.Workspace.State("store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	w := &writer{points: apiPoints(t), store: theirs, forge: ours}
	if err := w.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	done, looks := make(chan struct{}), map[string]func() (int, error){
		"results": func() (int, error) { return readResults(t, h.Address.Dashboard) },
		"board":   func() (int, error) { return readBoard(t, h.Address.Dashboard) },
		"list":    func() (int, error) { return readList(t.Context(), h.Store) },
		"pull":    func() (int, error) { return readPull(t.Context(), ours, w.pull) },
	}
	var wait sync.WaitGroup
	for name, look := range looks {
		for range readers {
			wait.Go(func() { watch(t, name, look, done) })
		}
	}
	for round := 2; round <= rounds; round++ {
		if err := w.round(t.Context(), round); err != nil {
			t.Errorf("round %d: %v", round, err)
			break
		}
	}
	close(done)
	wait.Wait()
	for name, look := range looks {
		if round, err := look(); err != nil || round != rounds {
			t.Errorf("%s at the end: got round %d %v, want %d", name, round, err, rounds)
		}
	}
}

// watch looks until the writer is done; what it sees never goes back.
func watch(t *testing.T, name string, look func() (int, error), done <-chan struct{}) {
	for last := 0; ; {
		round, err := look()
		if err != nil || round < last {
			t.Errorf("%s after round %d: got round %d %v", name, last, round, err)
			return
		}
		last = round
		select {
		case <-done:
			return
		default:
		}
	}
}

type writer struct {
	points []matrix.Point
	store  *store.Store
	forge  *forge.Client
	pull   int
}

func (w *writer) begin(ctx context.Context) error {
	main, _, err := w.forge.Ref(ctx, "heads/main")
	if err != nil {
		return err
	}
	head, err := w.forge.Commit(ctx, main, "change", map[string][]byte{"a": []byte("b")})
	if err != nil {
		return err
	}
	if err := w.forge.CreateRef(ctx, "heads/change", head); err != nil {
		return err
	}
	p, err := w.forge.OpenPull(ctx, "title-1", "body-1", "change", "main", true)
	if w.pull = p.Number; err != nil {
		return err
	}
	return w.round(ctx, 1)
}

// round writes one of everything.
func (w *writer) round(ctx context.Context, n int) error {
	run, rows := besideRun(w.points, n)
	if _, err := w.store.Ingest(ctx, run, rows, true); err != nil {
		return err
	}
	c := besideCandidate(w.points[0].Family, n)
	if err := w.store.SaveCandidate(ctx, c); err != nil {
		return err
	}
	r := candidate.Receipt{Candidate: c.ID, Step: c.Step, Subject: "s", By: "bot", At: time.Unix(int64(n), 0).UTC(), Evidence: json.RawMessage("{}")}
	if err := w.store.Append(ctx, r); err != nil {
		return err
	}
	title, body := fmt.Sprintf("title-%d", n), fmt.Sprintf("body-%d", n)
	return w.forge.EditPull(ctx, w.pull, forge.PullEdit{Title: &title, Body: &body})
}

func fetchPage(t *testing.T, address string) (string, error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", address, resp.StatusCode, text)
	}
	return string(text), err
}

// readResults is the round of the three rows of the newest run, all of one.
func readResults(t *testing.T, base string) (int, error) {
	q := url.Values{"model": {result.DisplayName("laba", "lab/tiny-a")}, "date": {"2026-09-10"}, "exact": {"true"}}
	text, err := fetchPage(t, base+"/api/v1/benchmarks?"+q.Encode())
	var rows []api.BenchmarkRow
	if err == nil {
		err = json.Unmarshal([]byte(text), &rows)
	}
	if err != nil {
		return 0, err
	}
	if len(rows) != 3 {
		return 0, fmt.Errorf("%d rows, want 3", len(rows))
	}
	round := int(rows[0].Metrics["tput_per_gpu"])
	for _, r := range rows {
		if int(r.Metrics["tput_per_gpu"]) != round || r.RunURL == nil || *r.RunURL != *rows[0].RunURL {
			return 0, fmt.Errorf("rows of several runs: %s", text)
		}
	}
	return round, nil
}

var marked = regexp.MustCompile(`\b(?:step|next)-([0-9]+)\b`)

// readBoard is the round that every word of the dashboard's page carries.
func readBoard(t *testing.T, base string) (int, error) {
	text, err := fetchPage(t, base+"/")
	if err != nil {
		return 0, err
	}
	found := marked.FindAllStringSubmatch(text, -1)
	if len(found) < 2 {
		return 0, fmt.Errorf("page without the candidate: %s", text)
	}
	for _, f := range found {
		if f[1] != found[0][1] {
			return 0, fmt.Errorf("words of several rounds: %v", found)
		}
	}
	return strconv.Atoi(found[0][1])
}

// readList is the round of the listed candidate; its receipts may be one ahead
// or one behind, for the two are two writes.
func readList(ctx context.Context, s *store.Store) (int, error) {
	all, err := s.Candidates(ctx)
	if err != nil || len(all) != 1 {
		return 0, fmt.Errorf("%d candidates, want 1: %w", len(all), err)
	}
	round, err := strconv.Atoi(strings.TrimPrefix(all[0].Step, "step-"))
	if want := besideCandidate(all[0].Family, round); err != nil || all[0].Next != want.Next || all[0].Owner != want.Owner {
		return 0, fmt.Errorf("half a candidate: %+v", all[0])
	}
	receipts, err := s.Receipts(ctx, all[0].ID)
	if err != nil || len(receipts) < round-1 {
		return 0, fmt.Errorf("%d receipts at round %d: %w", len(receipts), round, err)
	}
	for i, r := range receipts {
		if r.Step != fmt.Sprint("step-", i+1) || r.At.Unix() != int64(i+1) || string(r.Evidence) != "{}" {
			return 0, fmt.Errorf("receipt %d: %+v", i, r)
		}
	}
	return round, nil
}

// readPull is the round of the pull request's title and body, which are edited
// together.
func readPull(ctx context.Context, c *forge.Client, n int) (int, error) {
	p, err := c.Pull(ctx, n)
	if err != nil {
		return 0, err
	}
	round, err := strconv.Atoi(strings.TrimPrefix(p.Title, "title-"))
	if err != nil || p.Body != fmt.Sprint("body-", round) {
		return 0, fmt.Errorf("half a pull request: %q %q", p.Title, p.Body)
	}
	return round, nil
}
