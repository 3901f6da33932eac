package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func shared(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("REFIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	src, err := os.ReadFile(filepath.Join(root, "data", "api", name))
	if err != nil {
		t.Skipf("shared data not present: %v", err)
	}
	return src
}

// Every sample decodes, and encodes again to the same JSON.
func TestSamplesRoundTrip(t *testing.T) {
	check := func(name string, v any) {
		t.Helper()
		src := shared(t, name)
		if err := json.Unmarshal(src, v); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		var want, got any
		if err := errors.Join(json.Unmarshal(src, &want), json.Unmarshal(again, &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-sample +again):\n%s", name, diff)
		}
	}
	check("benchmarks.json", &[]BenchmarkRow{})
	check("benchmarks-history.json", &[]BenchmarkRow{})
	check("benchmarks-agentic.json", &[]BenchmarkRow{})
	check("evaluations.json", &[]EvaluationRow{})
	check("workflow-info.json", &WorkflowInfo{})
	check("workflow-info-empty.json", &WorkflowInfo{})
	check("latest-images.json", &[]LatestImage{})
	check("framework-releases.json", &FrameworkReleases{})
	check("framework-releases-partial.json", &FrameworkReleases{})
}

func TestID(t *testing.T) {
	for _, text := range []string{`"34429203486"`, `34429203486`} {
		var id ID
		if err := json.Unmarshal([]byte(text), &id); err != nil || id != 34429203486 {
			t.Errorf("%s: %d (%v)", text, id, err)
		}
	}
	for _, text := range []string{`"x"`, `1.5`, `null`, `""`, `9223372036854775808`} {
		var id ID
		if err := json.Unmarshal([]byte(text), &id); err == nil {
			t.Errorf("%s: accepted as %d", text, id)
		}
	}
}

func TestParseRunURL(t *testing.T) {
	for url, want := range map[string][2]int64{
		"https://github.com/o/r/actions/runs/34429203486/attempts/2": {34429203486, 2},
		"https://github.com/o/r/actions/runs/7":                      {7, 0},
		RunURL("http://127.0.0.1:1/o/r/actions/runs/7", 3):           {7, 3},
	} {
		if run, attempt, ok := ParseRunURL(url); !ok || run != want[0] || int64(attempt) != want[1] {
			t.Errorf("%s: %d, %d, %v", url, run, attempt, ok)
		}
	}
	for _, url := range []string{"", "https://github.com/o/r", "/actions/runs/0", "/actions/runs/99999999999999999999", "/actions/runs/7/attempts/x"} {
		if run, _, ok := ParseRunURL(url); ok {
			t.Errorf("%q: taken for run %d", url, run)
		}
	}
}

// answers serves one canned answer per request and counts.
type answers struct {
	list  []http.HandlerFunc
	calls int
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := a.list[min(a.calls, len(a.list)-1)]
	a.calls++
	f(w, r)
}

func say(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func TestClientBounds(t *testing.T) {
	const kind = "application/json; charset=utf-8"
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }
	tests := []struct {
		name  string
		list  []http.HandlerFunc
		calls int
		want  string // of the error, empty for none
	}{
		{"good", []http.HandlerFunc{say(200, kind, `[]`)}, 1, ""},
		{"not-json", []http.HandlerFunc{say(200, "text/html", `[]`)}, 1, `content type "text/html" is not JSON`},
		{"redirect", []http.HandlerFunc{redirect}, 1, "status 302 Found"},
		{"nan", []http.HandlerFunc{say(200, kind, `[{"metrics":{"x":NaN}}]`)}, 1, "decode"},
		{"infinite", []http.HandlerFunc{say(200, kind, `[{"metrics":{"x":1e999}}]`)}, 1, "decode"},
		{"too-large", []http.HandlerFunc{say(200, kind, `["`+strings.Repeat("x", maxBody)+`"]`)}, 1, "larger than 16777216 bytes"},
		{"refused", []http.HandlerFunc{say(400, kind, `{"error":"Unknown model"}`)}, 1, `status 400 Bad Request: "Unknown model"`},
		{"busy-then-good", []http.HandlerFunc{say(503, kind, `{}`), say(429, kind, `{}`), say(200, kind, `[]`)}, 3, ""},
		{"always-broken", []http.HandlerFunc{say(500, kind, `{"error":"Internal server error"}`)}, 3, "status 500"},
		{"timeout-status", []http.HandlerFunc{say(408, kind, `{}`), say(200, kind, `[]`)}, 2, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &answers{list: tt.list}
			srv := httptest.NewServer(a)
			defer srv.Close()
			var pauses []time.Duration
			c := &Client{Base: srv.URL + "/", HTTP: srv.Client(), Pause: func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }}
			_, err := c.Benchmarks(context.Background(), "A", "2026-09-10")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if a.calls != tt.calls || len(pauses) != tt.calls-1 {
				t.Errorf("%d calls, %d pauses, want %d calls", a.calls, len(pauses), tt.calls)
			}
		})
	}
}

func TestClientRequests(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String())
		body := "[]"
		if strings.Contains(r.URL.Path, "workflow-info") || strings.Contains(r.URL.Path, "releases") {
			body = "{}"
		}
		say(200, "application/json", body)(w, r)
	}))
	defer srv.Close()
	c := &Client{Base: srv.URL}
	ctx := context.Background()
	_, err1 := c.Benchmarks(ctx, "DeepSeek-R1-0528", "2026-09-10")
	_, err2 := c.WorkflowInfo(ctx, "2026-09-10")
	_, err3 := c.Evaluations(ctx)
	_, err4 := c.ImageFeed(ctx)
	_, err5 := c.ReleaseFeed(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET /api/v1/benchmarks?date=2026-09-10&exact=true&model=DeepSeek-R1-0528", "GET /api/v1/workflow-info?date=2026-09-10",
		"GET /api/v1/evaluations", "GET /api/v1/latest-images", "GET /api/v1/framework-releases"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestClientGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		say(503, "application/json", "{}")(w, r)
	}))
	defer srv.Close()
	if _, err := (&Client{Base: srv.URL}).Evaluations(ctx); err == nil {
		t.Error("no error after the context was cancelled")
	}
}
