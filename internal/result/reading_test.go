package result

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/bench"
)

// figuresOf are the figures of a raw file, each of them times a factor.
func figuresOf(by float64, completed int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `"completed": %d, "total_input_tokens": %v, "total_output_tokens": %v, "request_throughput": %v, "request_goodput:": null, `,
		completed, 100*by, 50*by, 2*by)
	fmt.Fprintf(&b, `"output_throughput": %v, "total_token_throughput": %v, "input_lens": [1], "output_lens": [%v]`, 60*by, 90*by, by)
	for i, name := range []string{"ttft", "tpot", "itl", "e2el"} {
		for k, statistic := range []string{"mean", "median", "std", "p90", "p99", "p99.9"} {
			fmt.Fprintf(&b, `, "%s_%s_ms": %v`, statistic, name, by*float64(1+10*i+k))
		}
	}
	status := "passed"
	if completed < 19 {
		status = "failed"
	}
	fmt.Fprintf(&b, `, "benchmark_outcome": {"status": %q, "requested": 20, "completed": %d, "failed": %d, "max_failure_rate": 0.05}`, status, completed, 20-completed)
	return b.String()
}

// fileOf is a raw file, with refit's own part behind it when there is one.
func fileOf(figures, own string) []byte {
	return []byte(`{"date": "20260801-100002", "model_id": "lab/tiny-a", "num_prompts": 20, "max_concurrency": 4, "duration": 1.5, ` + figures + own + `}`)
}

// Of a file with two readings every figure of the row is refit's own, and none
// the reference's: the aggregate is that of a file which has refit's alone.
func TestEveryFigureComesFromOneReading(t *testing.T) {
	both := fileOf(figuresOf(1, 3), `, "refit": {"version": 2, "reading": {`+figuresOf(2, 20)+`}, "failed": 0}`)
	got, metrics, err := Normalise(both, jobEnv())
	if err != nil {
		t.Fatal(err)
	}
	want, wantMetrics, err := Normalise(fileOf(figuresOf(2, 20), ""), jobEnv())
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) || !maps.Equal(metrics, wantMetrics) {
		t.Errorf("aggregate\n%s\nwant\n%s", got, want)
	}
	counts, err := CountsOf(both)
	if err != nil || counts != (Counts{Requests: 20, Completed: 20, Conc: 4}) {
		t.Errorf("counts %+v, %v; want 20 of 20", counts, err)
	}
	legacy, _, err := Normalise(fileOf(figuresOf(1, 3), ""), jobEnv())
	if err != nil || string(legacy) == string(want) {
		t.Errorf("the two readings make the same aggregate, or none (%v): the test says nothing", err)
	}
}

// A figure that refit's reading does not have is missing, not the reference's.
func TestNoFigureIsFilledInFromTheOtherReading(t *testing.T) {
	part := func(figures string) []byte {
		return fileOf(figuresOf(1, 20), `, "refit": {"reading": {`+figures+`}}`)
	}
	_, metrics, err := Normalise(part(`"completed": 20, "output_throughput": 1.0, "total_token_throughput": 2.0, "mean_ttft_ms": 7.0`), jobEnv())
	if err != nil {
		t.Fatal(err)
	}
	if _, mixed := metrics["mean_tpot"]; mixed || metrics["mean_ttft"] != 0.007 {
		t.Errorf("metrics %v: a figure of the reference's among them", metrics)
	}
	for figures, want := range map[string]string{
		`"completed": 20, "output_throughput": 1.0`:                                  "total_token_throughput is missing",
		`"completed": 20, "output_throughput": null, "total_token_throughput": null`: "total_token_throughput is not a finite number",
	} {
		if _, _, err := Normalise(part(figures), jobEnv()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", figures, err, want)
		}
	}
	if _, err := CountsOf(part(`"output_throughput": 1.0`)); err == nil {
		t.Error("a reading without counts had some")
	}
	if _, _, err := Normalise(fileOf(figuresOf(1, 20), `, "refit": {"reading": 7}`), jobEnv()); err == nil || !strings.Contains(err.Error(), "refit.reading is not an object") {
		t.Errorf("a reading that is none: %v", err)
	}
}

// Files of the reference's client, and those of refit from before it left two
// readings, have their figures in their own keys.
func TestFilesWithOneReading(t *testing.T) {
	want, _, err := Normalise(fileOf(figuresOf(3, 19), ""), jobEnv())
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{`, "refit": {"version": 1, "completed": 2, "output_throughput": 1.0}`, `, "refit": null`, `, "refit": "x"`} {
		got, _, err := Normalise(fileOf(figuresOf(3, 19), own), jobEnv())
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s", own, err, got)
		}
		if n, err := CountsOf(fileOf(figuresOf(3, 19), own)); err != nil || n.Completed != 19 {
			t.Errorf("%s: counts %+v, %v", own, n, err)
		}
	}
}

func TestCountsThatAreNone(t *testing.T) {
	for _, file := range []string{`{}`, `{"num_prompts": 5}`, `{"num_prompts": 5, "completed": 6}`, `{"num_prompts": 5, "completed": -1}`,
		`{"num_prompts": "5", "completed": 5}`, `{"num_prompts": 5.0, "completed": 5}`, `{"num_prompts": 5, "completed": 5, "max_concurrency": "4"}`, `[]`, `{`} {
		if n, err := CountsOf([]byte(file)); err == nil {
			t.Errorf("%s: got %+v, want an error", file, n)
		}
	}
	if n, err := CountsOf([]byte(`{"num_prompts": 5, "completed": 4, "max_concurrency": null}`)); err != nil || n != (Counts{Requests: 5, Completed: 4}) {
		t.Errorf("no cap: got %+v, %v", n, err)
	}
}

// recorded is a stream of llama.cpp's server: its last choice has no text, but
// the usage.
const recorded = `data: {"choices":[{"text":" a","index":0,"logprobs":null,"finish_reason":null}],"created":1,"model":"tiny.gguf","object":"text_completion","id":"cmpl-1"}

data: {"choices":[{"text":" b","index":0,"logprobs":null,"finish_reason":null}],"created":1,"model":"tiny.gguf","object":"text_completion","id":"cmpl-1"}

data: {"choices":[{"text":" c","index":0,"logprobs":null,"finish_reason":null}],"created":1,"model":"tiny.gguf","object":"text_completion","id":"cmpl-1"}

data: {"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"created":1,"model":"tiny.gguf","object":"text_completion","usage":{"completion_tokens":3,"prompt_tokens":9,"total_tokens":12},"id":"cmpl-1"}

data: [DONE]

`

// From the stream to the file to the row: a server that sends usage beside its
// last choice has tokens, in all figures that are made of them.
func TestRowOfUsageBesideTheLastChoice(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, message := range strings.SplitAfter(recorded, "\n\n") {
			_, _ = io.WriteString(w, message)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	args := []string{"--base-url", server.URL, "--model", "m", "--dataset-name", "random", "--random-input-len", "8", "--random-output-len", "3",
		"--num-prompts", "10", "--max-concurrency", "1", "--save-result", "--result-dir", dir, "--result-filename", "r.json"}
	if err := bench.Command(context.Background(), args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Duration float64 `json:"duration"`
		Output   int     `json:"total_output_tokens"`
		TPOT     float64 `json:"mean_tpot_ms"`
	}
	if err := json.Unmarshal(raw, &file); err != nil || file.Output != 0 || file.TPOT != 0 {
		t.Errorf("the file's own keys: %+v, %v; want none of the tokens, as the reference reads it", file, err)
	}
	_, metrics, err := Normalise(raw, jobEnv("TP", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := metrics["output_tput_per_gpu"]*file.Duration, 30.0; got < want-1e-6 || got > want+1e-6 {
		t.Errorf("%v output tokens, want %v", got, want)
	}
	tpot := (metrics["mean_e2el"] - metrics["mean_ttft"]) / 2
	if got := metrics["mean_tpot"]; got <= 0 || got < tpot*(1-1e-9) || got > tpot*(1+1e-9) {
		t.Errorf("TPOT %v s, want the %v of the same requests' E2EL and TTFT", got, tpot)
	}
}
