package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/report"
)

func testBoard() *Board {
	at := time.Date(2026, 10, 2, 8, 5, 0, 0, time.UTC)
	rows := []report.BoardRow{
		{ID: "9d94bebbcc742ac8-af00168b432f68fb", Family: "configs/lab-master.yaml:laba-fp8-cpu-sim", OldImage: "lab/simengine:v1.0.0-cpu", NewImage: "lab/simengine:v2.0.0-cpu",
			Step: "finish", State: "done", Outcome: "validated", Next: "A maintainer reviews and merges.", Pull: 3, PullURL: "http://forge.example/o/r/pull/3", Updated: at,
			Verdicts: []report.BoardVerdict{{Name: "throughput", Verdict: "no-change"}, {Name: "accuracy", Verdict: "worse"}}},
		{ID: "b", Family: "f:<script>alert(1)</script>", OldImage: `x" onload="y`, Step: "smoke", State: "waiting", Pull: 4, PullURL: "javascript:alert(1)"},
	}
	return &Board{Workspace: "lab",
		Rows: func(context.Context) ([]report.BoardRow, error) { return rows, nil },
		Page: func(_ context.Context, id string) (report.BoardPage, error) {
			switch id {
			case rows[0].ID:
				return report.BoardPage{Row: rows[0],
					Receipts: []report.BoardReceipt{{Step: "resolve", Subject: "family and base", By: "bot", At: at, Detail: "lane cpu, newest of 2 tags"}},
					Reports:  []report.BoardReport{{Title: "Baseline", Markdown: "**Goal:** <img src=x>"}, {Title: "Final full sweep", Markdown: "| a |\n| ---: |\n| 84.18 (+0.1%) = |"}},
					Baseline: &report.Baseline{Points: []report.Point{boardPoint(84)}}, Attempt: &report.Attempt{Points: []report.Point{boardPoint(85)}}}, nil
			case "broken":
				return report.BoardPage{}, errors.New("secret place")
			}
			return report.BoardPage{}, fs.ErrNotExist
		}}
}

func boardPoint(tps float64) report.Point {
	tpot := 11.5
	return report.Point{Conc: 1, Result: "passed", Values: report.Values{OutputTPSGPU: &tps, TPOTms: &tpot}}
}

// get answers one request of the board.
func get(t *testing.T, b *Board, method, path string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func wants(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(page, p) {
			t.Errorf("page lacks %q", p)
		}
	}
}

func TestBoardList(t *testing.T) {
	res, page := get(t, testBoard(), "GET", "/")
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("status %d, policy %q", res.StatusCode, res.Header.Get("Content-Security-Policy"))
	}
	wants(t, page, `href="/candidates/9d94bebbcc742ac8-af00168b432f68fb">laba-fp8-cpu-sim</a>`, "configs/lab-master.yaml",
		`title="lab/simengine:v2.0.0-cpu"`, `<span class="tag good">validated</span>`, `<span class="tag bad">worse</span>`, `<span class="tag ">no change</span>`,
		`<a href="http://forge.example/o/r/pull/3">#3</a>`, "2026-10-02", "A maintainer reviews and merges.", `<span class="tag warn">waiting</span>`, "<b>1</b>open", "prefers-color-scheme:dark")
	for _, bad := range []string{"<script", `onload="y`, "javascript:", "<link", "src=", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("page holds %q", bad)
		}
	}
}

func TestBoardCandidate(t *testing.T) {
	_, page := get(t, testBoard(), "GET", "/candidates/9d94bebbcc742ac8-af00168b432f68fb")
	wants(t, page, "<h1>laba-fp8-cpu-sim</h1>", "<svg", "Interactivity (tok/s/user)", "lane cpu, newest of 2 tags", `<td style="text-align:right">84.18 (+0.1%) =</td>`,
		"<strong>Goal:</strong> &lt;img src=x&gt;", `<details class="more" open><summary>Final full sweep</summary>`, `<details class="more"><summary>Baseline</summary>`)
	if !regexp.MustCompile(`(?s)Final full sweep.*Baseline`).MatchString(page) {
		t.Error("the newest report does not come first")
	}
	res, svg := get(t, testBoard(), "GET", "/candidates/9d94bebbcc742ac8-af00168b432f68fb/curve.svg")
	if res.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(svg, "<svg") {
		t.Errorf("curve: %s %.40s", res.Header.Get("Content-Type"), svg)
	}
}

func TestBoardProblems(t *testing.T) {
	b := testBoard()
	var log bytes.Buffer
	b.Log = &log
	for _, c := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"GET", "/candidates/nobody", 404, "No such candidate"},
		{"GET", "/elsewhere", 404, "No such page"},
		{"GET", "/candidates/", 404, "No such page"},
		{"GET", "/candidates/broken", 500, "This page cannot be made right now"},
		{"POST", "/", 405, ""},
		{"DELETE", "/candidates/b", 405, ""},
	} {
		res, page := get(t, b, c.method, c.path)
		if res.StatusCode != c.code || !strings.Contains(page, c.says) || strings.Contains(page, "secret") {
			t.Errorf("%s %s: got %d, want %d with %q", c.method, c.path, res.StatusCode, c.code, c.says)
		}
	}
	if got, want := log.String(), "board: candidate \"broken\": secret place\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	b.Rows = func(context.Context) ([]report.BoardRow, error) { return nil, nil }
	if _, page := get(t, b, "GET", "/"); !strings.Contains(page, "No candidate yet") {
		t.Error("an empty board does not say so")
	}
	b.Page = nil
	if res, _ := get(t, b, "GET", "/candidates/b"); res.StatusCode != 404 {
		t.Errorf("without pages: got %d, want 404", res.StatusCode)
	}
}
