package bench

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func TestLoadFlags(t *testing.T) {
	o, err := parse([]string{"--model", "m", "--dataset-name", "random", "--request-rate", "12.50", "--burstiness", "0.5", "--num-prompts", "7", "--goodput", "ttft:200"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if w := o.works()[0]; w.Rate != 12.5 || w.Burstiness != 0.5 || w.Spacing != Gamma || w.Concurrency != 0 || w.Requests != 7 {
		t.Errorf("workload %+v", w)
	}
	ended := Result{Target: Target{Model: "org/m"}, Ended: time.Date(2026, 8, 1, 2, 3, 4, 0, time.UTC)}
	if got := o.path(ended); got != "vllm-12.5qps-m-20260801-020304.json" {
		t.Errorf("file %s", got)
	}
	o, err = parse([]string{"--url", "http://h", "--request-rate", "4", "--spacing", "constant", "--slo", "ttft:200,tpot:50", "--shared-prefix", "9"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if w := o.works()[0]; w.Rate != 4 || w.Spacing != Constant || w.Concurrency != 0 || w.Requests != 120 || w.SharedPrefix != 9 {
		t.Errorf("own workload %+v, want 30 s of it without a cap", w)
	}
	if slo := o.slo(); slo["ttft"] != 200*time.Millisecond || slo["tpot"] != 50*time.Millisecond {
		t.Errorf("limits %v", slo)
	}
	if o, err = parse([]string{"--url", "http://h"}, io.Discard); err != nil || o.works()[0].Concurrency != 1 {
		t.Errorf("without a shape: %v %+v", err, o.works())
	}
}

func TestLoadUsageErrors(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(trace, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check := func(want string, args ...string) {
		t.Helper()
		err := Command(context.Background(), append([]string{"--url", "http://127.0.0.1:1"}, args...), io.Discard, io.Discard)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want a usage error with %q", args, err, want)
		}
	}
	for _, rate := range []string{"0", "-1", "x", "nan", "1e9", "Inf"} {
		check("request rate", "--request-rate", rate)
	}
	check("burstiness 0: must be positive", "--burstiness", "0", "--request-rate", "1")
	check(`spacing "even"`, "--spacing", "even")
	check("--spacing is of the requests at a finite --request-rate", "--spacing", "constant")
	check("--max-concurrency -1", "--max-concurrency", "-1")
	check("--shared-prefix -1", "--shared-prefix", "-1")
	check(`goodput "tftt:1"`, "--slo", "tftt:1")
	check("--trace-max-delay -1s must not be negative", "--trace-max-delay", "-1s")
	check("--trace-max-idle 0s must be positive", "--trace-max-idle", "0")
	check("no such file", "--trace", "missing.jsonl")
	check(`t.jsonl:1: no "session"`, "--trace", trace)
	check("a trace says itself how many", "--trace", trace, "--requests", "3")
}

func TestMetricsListenOnThisMachineOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":9400", "192.0.2.1:0", "127.0.0.1"} {
		if x, err := listenForMetrics(context.Background(), address); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: got %v, %v", address, x, err)
		}
	}
}

// The page is read in the middle of a measurement: by the server, when the last
// request comes.
func TestMetricsPage(t *testing.T) {
	page := make(chan string, 1)
	conversation := &spoken{}
	h := &honest{models: []string{"m"}, answer: func(w http.ResponseWriter, n int, c completion) {
		if n == 5 {
			page <- conversation.page(t, `outcome="ok"} 3`)
		}
		full(w, n, c)
	}}
	args := []string{"--url", h.start(t).URL, "--profile", "8x3", "--requests", "4", "--conc", "1", "--metrics-listen", "127.0.0.1:0"}
	if err := Command(context.Background(), args, io.Discard, conversation); err != nil {
		t.Fatal(err)
	}
	text := <-page
	for _, want := range []string{`refit_bench_requests_running{concurrency="1"} `, `refit_bench_output_tokens_total{concurrency="1"} 9`,
		`refit_bench_requests_total{concurrency="1",outcome="ok"} 3`, `refit_bench_first_text_seconds_count{concurrency="1"} 3`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, err := http.Get(conversation.url()); err == nil {
		t.Error("the page is still there when the measurement is over")
	}
}

func TestFilesOfACommand(t *testing.T) {
	dir := t.TempDir()
	lines, log := filepath.Join(dir, "r.csv"), filepath.Join(dir, "r.hlog")
	h := &honest{answer: func(w http.ResponseWriter, n int, c completion) {
		if n == 9 {
			http.Error(w, "busy, \"really\"", http.StatusTooManyRequests)
			return
		}
		full(w, n, c)
	}}
	if err := Command(context.Background(), reference(h.start(t), dir, "--csv", lines, "--hdr", log), io.Discard, io.Discard); err == nil {
		t.Fatal("one of six requests failed, want an error")
	}
	file, err := os.Open(lines)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 7 || !slices.Equal(rows[0], csvHead) {
		t.Fatalf("got %v, %v", rows, err)
	}
	failed := 0
	for i, row := range rows[1:] {
		if row[0] != "2" || row[1] != "inf" || row[2] != string(rune('0'+i)) {
			t.Errorf("row %v", row)
		}
		if row[19] == "status" {
			failed++
			if row[20] != `status: 429 Too Many Requests: busy, "really"` || row[13] != "" || row[17] != "" {
				t.Errorf("failed row %q", row)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d failed rows, want 1", failed)
	}
	checkLog(t, log)
}

// checkLog reads a histogram log back.
func checkLog(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := hdr.NewHistogramLogReader(file)
	var tags []string
	for {
		h, err := in.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		tags = append(tags, h.Tag())
		if h.Tag() == "c2.e2el" && (h.TotalCount() != 5 || h.Max() <= int64(time.Microsecond)) {
			t.Errorf("%d values up to %v, want those of 5 completed requests", h.TotalCount(), time.Duration(h.Max()))
		}
	}
	if want := []string{"c2.intended-first-text", "c2.first-text", "c2.text-itl", "c2.tpot", "c2.e2el", "c2.intended-e2el"}; !slices.Equal(tags, want) {
		t.Errorf("tags %v", tags)
	}
}

func TestRawFileOfAnOpenLoop(t *testing.T) {
	dir := t.TempDir()
	args := append(reference((&honest{answer: full}).start(t), dir), "--max-concurrency", "0", "--request-rate", "500", "--burstiness", "2", "--goodput", "ttft:100000")
	if err := Command(context.Background(), args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rate       float64  `json:"request_rate"`
		Burstiness float64  `json:"burstiness"`
		Max        *int     `json:"max_concurrency"`
		Good       *float64 `json:"request_goodput:"`
		Refit      struct {
			Partial  bool
			Spacing  string
			Intended []float64 `json:"intended_s"`
			Steady   *struct{} `json:"steady"`
			Goodput  struct {
				Good   int
				Limits map[string]float64 `json:"limits_ms"`
			}
			Bounds map[string]json.RawMessage `json:"percentile_bounds"`
			Health Health
		} `json:"refit"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Rate != 500 || got.Burstiness != 2 || got.Max != nil || got.Good == nil || !strings.Contains(string(raw), `"request_rate": 500.0, "burstiness": 2.0, "max_concurrency": null`) {
		t.Errorf("got %+v", got)
	}
	r := got.Refit
	if r.Partial || r.Spacing != Gamma || len(r.Intended) != 6 || r.Intended[0] != 0 || r.Steady != nil || r.Goodput.Good != 6 || r.Goodput.Limits["ttft"] != 100000 {
		t.Errorf("refit %+v", r)
	}
	var first map[string]*struct{ Value, Upper float64 }
	if err := json.Unmarshal(r.Bounds["first_text_ms"], &first); err != nil || first["p50"] == nil || first["p50"].Upper < first["p50"].Value || first["p99"] != nil {
		t.Errorf("bounds %s, %v: want one of the median of 6 and none of p99", r.Bounds["first_text_ms"], err)
	}
	if r.Health.Schedule == nil || r.Health.Headroom == nil || r.Health.Headroom.Connections != 6 {
		t.Errorf("health %+v", r.Health)
	}
}
