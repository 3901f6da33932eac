package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
)

const family = "configs/lab-master.yaml:laba-fp8-cpu-sim"

func digits(c byte, n int) string { return strings.Repeat(string(c), n) }

func ptr[T any](v T) *T { return &v }

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fresh(t *testing.T) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "a folder", "..", "store.db"))
}

func plan(t *testing.T, image string, conc int) matrix.Row {
	t.Helper()
	var row matrix.Row
	src := fmt.Sprintf(`{"image":%q,"model":"lab/tiny-a","model-prefix":"laba","precision":"fp8","framework":"sim","spec-decoding":"none","runner":"cpu_00","isl":256,"osl":64,"tp":1,"pp":1,"dcp-size":1,"pcp-size":1,"ep":1,"dp-attn":false,"conc":%d,"disagg":false}`, image, conc)
	if err := json.Unmarshal([]byte(src), &row); err != nil {
		t.Fatal(err)
	}
	return row
}

// made is a workflow run with what it published: points at conc 1 and 2, and
// an eval of two answers at conc 2. tput separates runs.
func made(t *testing.T, id int64, attempt int, created time.Time, image string, tput float64) (WorkflowRun, result.Run) {
	t.Helper()
	run := WorkflowRun{ID: id, Attempt: attempt, Name: "Run Sweep", HeadSHA: digits('c', 40), Branch: "main", Event: "push", Conclusion: "success",
		URL: fmt.Sprintf("http://127.0.0.1:1/lab/recipes/actions/runs/%d", id), Base: digits('b', 40), Created: created, Started: created.Add(13 * time.Second),
		ConfigKeys: []string{"laba-fp8-cpu-sim"}, Description: "Move the image", PRLink: "http://127.0.0.1:1/lab/recipes/pull/1"}
	prov := result.Provenance{RunID: id, Attempt: attempt, Head: run.HeadSHA, Client: "refit", Started: created, Ended: created.Add(time.Minute)}
	out := result.Run{Manifest: result.Manifest{Version: 1, RunID: id, Attempt: attempt, Head: run.HeadSHA, Mode: result.ModePush}}
	mf := result.ManifestFamily{Family: family, Image: image, Digest: "sha256:" + digits('d', 64)}
	for conc := 1; conc <= 2; conc++ {
		key, label := digits(byte('0'+conc), 64), fmt.Sprintf("256/64 c%d TP1 EP1 %s", conc, digits(byte('0'+conc), 6))
		mp := result.ManifestPoint{Key: key, Fingerprint: digits('f', 64), Conc: conc, Label: label}
		mf.Points = append(mf.Points, mp)
		row := result.Row{Family: family, Key: key, Fingerprint: mp.Fingerprint, Image: image, Digest: mf.Digest, Label: label, Conc: conc, ISL: 256, OSL: 64,
			Scenario: matrix.Fixed, Result: result.Passed, Requests: 10 * conc, RequestErrors: ptr(0), Health: bench.Health{Verdict: bench.Healthy},
			Metrics: map[string]float64{"tput_per_gpu": tput, "output_tput_per_gpu": tput / 5, "mean_ttft": 0.0125, "mean_tpot": 0.004, "median_tpot": 0.004},
			Plan:    plan(t, image, conc), Provenance: prov}
		out.Rows = append(out.Rows, row)
		if conc == 2 {
			mf.Evals = append(mf.Evals, mp)
			out.Evals = append(out.Evals, result.EvalRow{Family: family, Key: key, Fingerprint: mp.Fingerprint, Image: image, Digest: mf.Digest, Label: label, Conc: conc,
				Suite: "gsm8k", Metric: result.StrictMetric, Score: ptr(0.5), StdErr: ptr(0.5), Samples: 2, Result: result.Passed, Provenance: prov,
				Answers: []eval.Answer{{DocID: 0, QuestionDigest: "q0", Target: "1", Response: "#### 1", Filtered: "1", Correct: true}, {DocID: 1, QuestionDigest: "q1", Target: "2", Filtered: "[invalid]"}}})
		}
	}
	out.Manifest.Families = []result.ManifestFamily{mf}
	return run, out
}

func ingest(t *testing.T, s *Store, run WorkflowRun, r result.Run, published bool) IngestSummary {
	t.Helper()
	sum, err := s.Ingest(context.Background(), run, r, published)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

var (
	day1 = time.Date(2026, 9, 10, 6, 12, 31, 0, time.UTC)
	day2 = day1.Add(24 * time.Hour)
)

const (
	v1 = "lab/simengine:v1.0.0-cpu"
	v2 = "lab/simengine:v2.0.0-cpu"
)

func sameRows(a, b any) string {
	return cmp.Diff(a, b, cmp.Comparer(func(x, y matrix.Row) bool {
		p, _ := json.Marshal(x)
		q, _ := json.Marshal(y)
		return string(p) == string(q)
	}))
}

func TestIngestAndRead(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	run, want := made(t, 7, 1, day1, v1, 100)
	sum := ingest(t, s, run, want, true)
	if sum.Unchanged || sum.Points != 2 || sum.Evals != 1 || sum.Answers != 2 || len(sum.Digest) != 64 {
		t.Errorf("summary %+v", sum)
	}
	rows, err := s.Points(ctx, Query{Family: family})
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameRows(want.Rows, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	evals, err := s.Evals(ctx, Query{Family: family, Image: v1, Digest: "sha256:" + digits('d', 64), Fingerprint: digits('f', 64), RunID: 7, Published: ptr(true)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameRows(want.Evals, evals); diff != "" {
		t.Errorf("evals (-want +got):\n%s", diff)
	}
	for name, q := range map[string]Query{"family": {Family: "x"}, "image": {Image: v2}, "digest": {Digest: "x"}, "fingerprint": {Fingerprint: "x"}, "run": {RunID: 8}, "published": {Published: ptr(false)}} {
		if rows, err := s.Points(ctx, q); err != nil || len(rows) != 0 {
			t.Errorf("other %s: %d rows (%v), want none", name, len(rows), err)
		}
	}
}

func TestIngestTwice(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	run, r := made(t, 7, 1, day1, v1, 100)
	first := ingest(t, s, run, r, false)
	if rows, _ := s.Benchmarks(ctx, "tiny-a", "", false); len(rows) != 0 {
		t.Errorf("%d unpublished rows are public", len(rows))
	}
	before, _ := s.Generation(ctx)
	again := ingest(t, s, run, r, false)
	if !again.Unchanged || again.Digest != first.Digest || again.Points != 0 || !strings.Contains(again.String(), "unchanged") {
		t.Errorf("second ingest: %+v", again)
	}
	if after, _ := s.Generation(ctx); after != before {
		t.Errorf("generation moved from %d to %d without a change", before, after)
	}
	if sum := ingest(t, s, run, r, true); !sum.Unchanged {
		t.Errorf("publishing: %+v", sum)
	}
	if rows, _ := s.Benchmarks(ctx, "tiny-a", "", false); len(rows) != 2 {
		t.Errorf("%d public rows after publishing, want 2", len(rows))
	}
	ingest(t, s, run, r, false) // never unpublishes
	if rows, _ := s.Benchmarks(ctx, "tiny-a", "", false); len(rows) != 2 {
		t.Errorf("%d public rows after a later private ingest, want 2", len(rows))
	}
	_, changed := made(t, 7, 1, day1, v1, 101)
	if _, err := s.Ingest(ctx, run, changed, true); !errors.Is(err, ErrChanged) {
		t.Errorf("changed content: error %v, want ErrChanged", err)
	}
	if rows, _ := s.Points(ctx, Query{}); len(rows) != 2 || rows[0].Metrics["tput_per_gpu"] != 100 {
		t.Errorf("after all: %d rows, want the first 2", len(rows))
	}
}

func TestIngestRefusesAndLeavesNothing(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	for name, change := range map[string]func(*WorkflowRun, *result.Run){
		"other-run":         func(w *WorkflowRun, r *result.Run) { w.ID = 8 },
		"other-head":        func(w *WorkflowRun, r *result.Run) { w.HeadSHA = digits('a', 40) },
		"no-time":           func(w *WorkflowRun, r *result.Run) { w.Created = time.Time{} },
		"row-twice":         func(w *WorkflowRun, r *result.Run) { r.Rows = append(r.Rows, r.Rows[0]) },
		"row-without-plan":  func(w *WorkflowRun, r *result.Run) { r.Rows[1].Plan = matrix.Row{} },
		"answer-twice":      func(w *WorkflowRun, r *result.Run) { r.Evals[0].Answers[1].DocID = 0 },
		"eval-without-plan": func(w *WorkflowRun, r *result.Run) { r.Rows = r.Rows[:1] },
	} {
		run, r := made(t, 7, 1, day1, v1, 100)
		change(&run, &r)
		if _, err := s.Ingest(ctx, run, r, true); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, table := range []string{"workflow_runs", "points", "evals", "eval_answers", "configs"} {
		var n int
		if err := s.db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows (%v), want none", table, n, err)
		}
	}
	run, r := made(t, 7, 1, day1, v1, 100)
	r.Evals[0].Plan = plan(t, v1, 2)
	r.Rows = r.Rows[:1]
	ingest(t, s, run, r, true) // an eval may stand alone with its own plan
}

// Later attempts replace earlier ones for every reader; the day of a run is
// that of its creation.
func TestLatestAttempt(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	for attempt := 1; attempt <= 2; attempt++ {
		run, r := made(t, 7, attempt, day1, v1, 100*float64(attempt))
		run.Started = day2
		ingest(t, s, run, r, true)
	}
	rows, err := s.Benchmarks(ctx, "tiny-a", "2026-09-10", true)
	if err != nil || len(rows) != 2 || rows[0].Metrics["tput_per_gpu"] != 200 || !strings.HasSuffix(*rows[0].RunURL, "/actions/runs/7/attempts/2") {
		t.Errorf("benchmarks %+v (%v)", rows, err)
	}
	if rows, _ := s.Points(ctx, Query{}); len(rows) != 2 || rows[0].Provenance.Attempt != 2 {
		t.Errorf("points %+v", rows)
	}
	if evals, _ := s.Evals(ctx, Query{}); len(evals) != 1 || evals[0].Provenance.Attempt != 2 || len(evals[0].Answers) != 2 {
		t.Errorf("evals %+v", evals)
	}
	if info, _ := s.WorkflowInfo(ctx, "2026-09-10"); len(info.Runs) != 1 || info.Runs[0].RunAttempt != 2 {
		t.Errorf("info %+v", info)
	}
}

func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	const writers, runs = 8, 5
	handles := make([]*Store, 2)
	var opening sync.WaitGroup
	for i := range handles {
		opening.Go(func() {
			var err error
			if handles[i], err = Open(context.Background(), path); err != nil {
				t.Errorf("open %d: %v", i, err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		return
	}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			s := handles[w%2]
			for i := range runs {
				// Two writers offer each run; one stores it, the other finds it there.
				run, r := made(t, int64(100*(w/2)+i+1), 1, day1, v1, float64(i+1))
				if _, err := s.Ingest(context.Background(), run, r, true); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
				if rows, err := s.Points(context.Background(), Query{RunID: run.ID}); err != nil || len(rows) != 2 {
					t.Errorf("writer %d sees %d rows (%v), want 2", w, len(rows), err)
				}
			}
		})
	}
	writing.Wait()
	for i, s := range handles {
		rows, err := s.Points(context.Background(), Query{})
		if err != nil || len(rows) != 2*runs*writers/2 {
			t.Errorf("handle %d: %d rows (%v), want %d", i, len(rows), err, runs*writers)
		}
		if n, _ := s.Generation(context.Background()); n != runs*writers/2 {
			t.Errorf("handle %d: generation %d, want %d", i, n, runs*writers/2)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReopenKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20.db")
	s := open(t, path)
	run, r := made(t, 7, 1, day1, v1, 100)
	ingest(t, s, run, r, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, err := open(t, path).Points(context.Background(), Query{}); err != nil || len(rows) != 2 {
		t.Errorf("%d rows (%v), want 2", len(rows), err)
	}
	if _, err := Open(context.Background(), filepath.Join(path, "store.db")); err == nil {
		t.Error("a store below a file opened")
	}
}
