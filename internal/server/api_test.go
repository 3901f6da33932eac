package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/store"
)

const apiMaster = `fam-a:
  image: lab/engine:v1.0.0-cpu
  model: lab/tiny-a
  model-prefix: laba
  runner: cpu
  precision: fp8
  framework: sim
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 256
      osl: 64
      search-space:
      - { tp: 1, conc-start: 1, conc-end: 4 }
`

const apiImage = "lab/engine:v1.0.0-cpu"

// apiPoints are the points of a small family; those of conc 2 and 4 are evaluated.
func apiPoints(t *testing.T) []matrix.Point {
	t.Helper()
	fsys := fstest.MapFS{"configs/lab-master.yaml": {Data: []byte(apiMaster)}, "configs/runners.yaml": {Data: []byte("labels:\n  cpu:\n  - cpu-a_00\n")}}
	cat, err := recipe.Load(fsys, []string{"configs/*-master.yaml"}, "configs/runners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	points, _, err := matrix.Points(cat.Families[0], cat.Runners, matrix.EvalRule{Lengths: [][2]int{{256, 64}}, Floor: 1})
	if err != nil {
		t.Fatal(err)
	}
	return points
}

// apiStore holds one published run of the family.
func apiStore(t *testing.T, points []matrix.Point) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	created := time.Date(2026, 9, 10, 6, 12, 31, 0, time.UTC)
	head, digest := strings.Repeat("c", 40), "sha256:"+strings.Repeat("d", 64)
	run := store.WorkflowRun{ID: 34429203486, Attempt: 1, Name: "Run Sweep", HeadSHA: head, Branch: "main", Event: "push", Conclusion: "success",
		URL: "http://127.0.0.1:1/lab/recipes/actions/runs/34429203486", Created: created, Started: created.Add(time.Second), ConfigKeys: []string{"fam-a"}}
	prov := result.Provenance{RunID: run.ID, Attempt: 1, Head: head, Started: created, Ended: created}
	family := result.ManifestFamily{Family: points[0].Family, Image: apiImage, Digest: digest}
	var r result.Run
	score, one := 0.5, 0
	for _, p := range points {
		mp := result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()}
		family.Points = append(family.Points, mp)
		r.Rows = append(r.Rows, result.Row{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: apiImage, Digest: digest, Label: p.Label(), Conc: p.Conc(),
			ISL: 256, OSL: 64, Scenario: matrix.Fixed, Result: result.Passed, RequestErrors: &one, Health: bench.Health{Verdict: bench.Healthy}, Plan: p.Row, Provenance: prov,
			Metrics: map[string]float64{"tput_per_gpu": 223.94, "output_tput_per_gpu": 24.91, "mean_ttft": 1.02549, "mean_tpot": 0.01853, "median_tpot": 0.0185}})
		if p.Eval {
			family.Evals = append(family.Evals, mp)
			r.Evals = append(r.Evals, result.EvalRow{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: apiImage, Digest: digest, Label: p.Label(), Conc: p.Conc(),
				Suite: "gsm8k", Metric: result.StrictMetric, Score: &score, Samples: 200, Result: result.Passed, Provenance: prov})
		}
	}
	r.Manifest = result.Manifest{Version: 1, RunID: run.ID, Attempt: 1, Head: head, Mode: result.ModePush, Families: []result.ManifestFamily{family}}
	if _, err := s.Ingest(context.Background(), run, r, true); err != nil {
		t.Fatal(err)
	}
	return s
}

func ptrTo(s string) *string { return &s }

// What a run published comes back through the API and the client as a baseline
// of every point.
func TestAPIGivesABaseline(t *testing.T) {
	points := apiPoints(t)
	srv := httptest.NewServer(API{Store: apiStore(t, points), Releases: api.FrameworkReleases{"sim": ptrTo("v2.0.0"), "other": nil}}.Handler())
	defer srv.Close()
	ctx := context.Background()
	c := &api.Client{Base: srv.URL}
	rows, err := c.Benchmarks(ctx, result.DisplayName("laba", "lab/tiny-a"), "2026-09-10")
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.WorkflowInfo(ctx, "2026-09-10")
	if err != nil {
		t.Fatal(err)
	}
	evals, err := c.Evaluations(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := result.BuildBaseline(points, apiImage, rows, info, evals, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Points) != 3 || len(b.Evals) != 2 || b.RunID != 34429203486 || b.Date != "2026-09-10" || b.Head != strings.Repeat("c", 40) {
		t.Errorf("baseline %+v", b)
	}
	for _, p := range b.Points {
		if p.Result != result.Passed || *p.Values.TPOTms != 18.53 || *p.Values.TTFTms != 1025.49 {
			t.Errorf("point %+v", p)
		}
	}
	for _, e := range b.Evals {
		if e.Result != result.Passed || *e.Score != 0.5 || *e.Samples != 200 {
			t.Errorf("eval %+v", e)
		}
	}
	images, err := c.ImageFeed(ctx)
	if err != nil || len(images.Rows) != 1 || len(images.Aside) != 0 || images.Rows[0].Image != apiImage {
		t.Errorf("images %+v (%v)", images, err)
	}
	releases, err := c.ReleaseFeed(ctx)
	if diff := cmp.Diff(api.FrameworkReleases{"sim": ptrTo("v2.0.0"), "other": nil}, releases); err != nil || diff != "" {
		t.Errorf("releases (%v): %s", err, diff)
	}
}

func ask(t *testing.T, h http.Handler, method, target string, headers ...string) *http.Response {
	t.Helper()
	req := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Result()
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAPIRefusals(t *testing.T) {
	s := apiStore(t, apiPoints(t))
	h := API{Store: s}.Handler()
	tests := []struct {
		request string
		status  int
		body    string
	}{
		{"GET /api/v1/benchmarks", 400, `{"error":"Unknown model"}`},
		{"GET /api/v1/benchmarks?model=laba", 400, `{"error":"Unknown model"}`},
		{"GET /api/v1/benchmarks?model=Tiny-A", 400, `{"error":"Unknown model"}`},
		{"GET /api/v1/benchmarks?model=DeepSeek-R1-0528", 200, `[]`},
		{"GET /api/v1/benchmarks?model=tiny-a&date=2026-09-12&exact=true", 200, `[]`},
		{"GET /api/v1/benchmarks?model=tiny-a&date=2026-02-30", 400, `{"error":"Invalid date format (YYYY-MM-DD required)"}`},
		{"GET /api/v1/benchmarks?model=tiny-a&date=2026-9-1", 400, `{"error":"Invalid date format (YYYY-MM-DD required)"}`},
		{"GET /api/v1/benchmarks/history?model=tiny-a", 400, `{"error":"model, isl, and osl are required"}`},
		{"GET /api/v1/benchmarks/history?model=nobody&isl=1&osl=1", 400, `{"error":"Unknown model"}`},
		{"GET /api/v1/benchmarks/history?model=tiny-a&benchmarkType=agentic_traces", 200, `[]`},
		{"GET /api/v1/workflow-info", 400, `{"error":"Invalid date format (YYYY-MM-DD required)"}`},
		{"GET /api/v1/workflow-info?date=2026-01-01", 200, `{"runs":[],"changelogs":[],"configs":[],"runConfigs":[]}`},
		{"GET /api/v1/framework-releases", 200, `{}`},
		{"GET /api/v1/nothing", 404, `{"error":"Not found"}`},
		{"POST /api/v1/evaluations", 405, `{"error":"Method not allowed"}`},
		{"GET /api/v1/evaluations?a=%zz", 400, `{"error":"Invalid query"}`},
	}
	for _, tt := range tests {
		method, target, _ := strings.Cut(tt.request, " ")
		resp := ask(t, h, method, target)
		if body := bodyOf(t, resp); resp.StatusCode != tt.status || body != tt.body {
			t.Errorf("%s: %d %s, want %d %s", tt.request, resp.StatusCode, body, tt.status, tt.body)
		}
		if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("%s: content type %q", tt.request, kind)
		}
	}
	s.Close()
	resp := ask(t, h, "GET", "/api/v1/evaluations")
	if body := bodyOf(t, resp); resp.StatusCode != 500 || body != `{"error":"Internal server error"}` || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("closed store: %d %s", resp.StatusCode, body)
	}
}

// Not the literal true is not exact: as-of finds the older run.
func TestAPIExact(t *testing.T) {
	h := API{Store: apiStore(t, apiPoints(t))}.Handler()
	for query, want := range map[string]int{"": 3, "&date=2026-09-11": 3, "&date=2026-09-11&exact=TRUE": 3, "&date=2026-09-11&exact=1": 3, "&date=2026-09-11&exact=true": 0, "&exact=true": 3} {
		var rows []api.BenchmarkRow
		body := bodyOf(t, ask(t, h, "GET", "/api/v1/benchmarks?model=tiny-a"+query))
		if err := json.Unmarshal([]byte(body), &rows); err != nil || len(rows) != want {
			t.Errorf("%q: %d rows (%v), want %d", query, len(rows), err, want)
		}
	}
}

func TestAPICaching(t *testing.T) {
	h := API{Store: apiStore(t, apiPoints(t))}.Handler()
	first := ask(t, h, "GET", "/api/v1/evaluations")
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers %v", first.Header)
	}
	again := ask(t, h, "GET", "/api/v1/evaluations", "If-None-Match", tag)
	if body := bodyOf(t, again); again.StatusCode != 304 || body != "" {
		t.Errorf("unchanged: %d with %d bytes", again.StatusCode, len(body))
	}
	other := ask(t, h, "GET", "/api/v1/latest-images", "If-None-Match", tag)
	if other.StatusCode != 200 {
		t.Errorf("another address with the same tag: %d", other.StatusCode)
	}
}

// Rows carry every key of the published samples (benchmarks, history,
// workflow-info, evaluations, latest-images), whatever its value.
func TestAPIShapes(t *testing.T) {
	h := API{Store: apiStore(t, apiPoints(t))}.Handler()
	for request, sample := range map[string]string{
		"benchmarks?model=tiny-a": "benchmarks.json", "benchmarks/history?model=tiny-a&isl=256&osl=64": "benchmarks-history.json",
		"workflow-info?date=2026-09-10": "workflow-info.json", "evaluations": "evaluations.json", "latest-images": "latest-images.json",
	} {
		want, got := shape("", apiSample(t, sample)), shape("", bodyOf(t, ask(t, h, "GET", "/api/v1/"+request)))
		for path, kind := range want {
			if strings.Contains(path, ".metrics.") {
				continue
			}
			if g, ok := got[path]; !ok || g != kind && g != "null" && kind != "null" {
				t.Errorf("%s: %s is %q, want %q", request, path, g, kind)
			}
		}
	}
}

func apiSample(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("REFIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	src, err := os.ReadFile(filepath.Join(root, "data", "api", name))
	if err != nil {
		t.Skipf("shared data not present: %v", err)
	}
	return string(src)
}

// shape lists the paths of a JSON value with the kind found there first.
func shape(path, src string) map[string]string {
	var v any
	if err := json.Unmarshal([]byte(src), &v); err != nil {
		return map[string]string{path: err.Error()}
	}
	out := map[string]string{}
	var walk func(string, any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(path+"."+k, e)
			}
		case []any:
			for _, e := range v {
				walk(path+"[]", e)
			}
		case nil:
			out[path] = "null"
		default:
			out[path] = fmt.Sprintf("%T", v)
		}
	}
	walk(path, v)
	return out
}
