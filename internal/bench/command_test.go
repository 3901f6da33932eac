package bench

import (
	"context"
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
)

// reference are the flags that the sweep wrapper always passes.
func reference(target Target, dir string, more ...string) []string {
	return append([]string{"--backend", "vllm", "--base-url", target.URL, "--model", "m", "--dataset-name", "random",
		"--random-input-len", "20", "--random-output-len", "5", "--random-range-ratio", "0.8", "--num-prompts", "6", "--num-warmups", "4",
		"--max-concurrency", "2", "--request-rate", "inf", "--ignore-eos", "--save-result", "--result-dir", dir,
		"--result-filename", "r.json", "--percentile-metrics", "ttft,tpot,itl,e2el"}, more...)
}

func TestCommandWritesTheRawFile(t *testing.T) {
	dir := t.TempDir()
	target := (&honest{answer: full}).start(t)
	var out strings.Builder
	if err := Command(context.Background(), reference(target, dir), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Completed int `json:"completed"`
		Max       int `json:"max_concurrency"`
		Refit     struct {
			Attempts []json.RawMessage `json:"attempts"`
		} `json:"refit"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Completed != 6 || got.Max != 2 || len(got.Refit.Attempts) != 1 {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(out.String(), "6 completed, 0 failed") {
		t.Errorf("summary: %s", out.String())
	}
}

func TestUnhealthyAttemptIsRepeatedAndRecorded(t *testing.T) {
	dir := t.TempDir()
	h := &honest{answer: func(w http.ResponseWriter, n int, c completion) {
		if n < 15 { // the first attempt: 4 warm-ups, 6 measured; the second: 4 and 1
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		full(w, n, c)
	}}
	_ = Command(context.Background(), reference(h.start(t), dir, "--health-retries", "2"), io.Discard, io.Discard)
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Completed int `json:"completed"`
		Refit     struct {
			Attempts []struct {
				Completed int `json:"completed"`
			} `json:"attempts"`
		} `json:"refit"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	a := got.Refit.Attempts
	if len(a) != 3 || a[0].Completed != 0 || a[1].Completed != 5 || a[2].Completed != 6 || got.Completed != 6 {
		t.Errorf("got %+v, want attempts with 0, 5 and 6 and the last one published", got)
	}
}

func TestTooManyFailuresFailAfterTheFileIsWritten(t *testing.T) {
	dir := t.TempDir()
	h := &honest{answer: func(w http.ResponseWriter, _ int, _ completion) { http.Error(w, "busy", http.StatusServiceUnavailable) }}
	err := Command(context.Background(), reference(h.start(t), dir), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "6 of 6 requests failed, limit 5 %: status: 503 Service Unavailable: busy") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "r.json")); err != nil {
		t.Error(err)
	}
}

func TestHealthiestNeverLooksAtSpeed(t *testing.T) {
	attempt := func(verdict string, errors int, p99 time.Duration, duration time.Duration) Result {
		return Result{Duration: duration, Health: Health{Verdict: verdict, Errors: errors, ReadDelayP99: p99, MeanITL: time.Second}}
	}
	got := healthiest([]Result{attempt(Unhealthy, 0, 5, 1), attempt(Unhealthy, 0, 4, 9), attempt(Unhealthy, 1, 1, 1)})
	if got != 1 {
		t.Errorf("chose attempt %d, want the one with the least delay and no errors", got)
	}
	if got := healthiest([]Result{attempt(Unhealthy, 0, 1, 1), attempt(Unknown, 0, 9, 9)}); got != 1 {
		t.Errorf("chose attempt %d, want the one that is not unhealthy", got)
	}
}

func TestUsageErrors(t *testing.T) {
	check := func(want string, args ...string) {
		t.Helper()
		err := Command(context.Background(), args, io.Discard, io.Discard)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want a usage error with %q", args, err, want)
		}
	}
	check("--model is required")
	check("unknown flag", "--modell", "m")
	check(`unexpected argument "x"`, "--model", "m", "x")
	check(`backend "soap" is none of`, "--model", "m", "--backend", "soap")
	check("does not end in completions", "--model", "m", "--endpoint", "/generate")
	check(`dataset "sharegpt"`, "--model", "m", "--dataset-name", "sharegpt")
	check("give --dataset-name random", "--model", "m")
	check(`request rate "0"`, "--model", "m", "--request-rate", "0")
	check(`metric "foo"`, "--model", "m", "--dataset-name", "random", "--percentile-metrics", "foo")
	check(`percentile "101"`, "--model", "m", "--dataset-name", "random", "--metric-percentiles", "101")
	check(`goodput "ttft"`, "--model", "m", "--dataset-name", "random", "--goodput", "ttft")
	check(`metadata "abc"`, "--model", "m", "--dataset-name", "random", "--metadata", "abc")
}

func TestMetadataLosesWhatFollowsASecondSign(t *testing.T) {
	o := options{metadata: []string{"a=b=c", "d="}}
	if got := o.pairs(); got[0] != [2]string{"a", "b"} || got[1] != [2]string{"d", ""} {
		t.Errorf("got %v", got)
	}
}

// The raw file has what the reference would have of requests that fail: the
// reason alone of a status, the TTFT of a stream that broke, no text.
func TestFailedRequestsInTheRawFile(t *testing.T) {
	dir := t.TempDir()
	h := &honest{answer: func(w http.ResponseWriter, n int, c completion) {
		switch n {
		case 0:
			http.Error(w, "out of memory", http.StatusInternalServerError)
		case 1:
			w.WriteHeader(http.StatusCreated)
		case 2:
			say(w, token("a"), token("b"))
			cut(w)
		default:
			full(w, n, c)
		}
	}}
	err := Command(context.Background(), reference(h.start(t), dir, "--num-warmups", "0", "--max-concurrency", "1", "--save-detailed"), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "3 of 6 requests failed") {
		t.Errorf("got %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Completed  int
		OutputLens []int       `json:"output_lens"`
		InputLens  []int       `json:"input_lens"`
		TTFTs      []float64   `json:"ttfts"`
		ITLs       [][]float64 `json:"itls"`
		Texts      []string    `json:"generated_texts"`
		Errors     []string
		Outcome    struct{ Status string } `json:"benchmark_outcome"`
		Refit      struct {
			Errors []struct{ Kind, Error string }
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	in, out := lengths(0, 6, 20, 5, 0.8)
	if got.Completed != 3 || got.Outcome.Status != "failed" || !slices.Equal(got.InputLens, in) || !slices.Equal(got.OutputLens, append([]int{0, 0, 0}, out[3:]...)) {
		t.Errorf("got %+v", got)
	}
	if got.Errors[0] != "Internal Server Error" || got.Errors[1] != "Created" || got.Errors[2] == "" || got.Errors[3] != "" {
		t.Errorf("errors %q", got.Errors)
	}
	if got.TTFTs[0] != 0 || got.TTFTs[2] <= 0 || len(got.ITLs[2]) != 1 || got.Texts[2] != "" || len(got.ITLs[3]) != out[3]-1 || got.Texts[3] != strings.Repeat(" word", out[3]) {
		t.Errorf("ttfts %v, itls %v, texts %q", got.TTFTs, got.ITLs, got.Texts)
	}
	if e := got.Refit.Errors; len(e) != 3 || e[0].Kind != "status" || !strings.Contains(e[0].Error, "out of memory") || e[2].Kind != "cut" {
		t.Errorf("refit's errors %+v", e)
	}
}

// A server that the reference cannot read fails by its rules, and only by
// them: refit's own flags have the measurement, and say so.
func TestServerThatTheReferenceCannotRead(t *testing.T) {
	h := &honest{models: []string{"m"}, answer: func(w http.ResponseWriter, n int, c completion) {
		say(w, ": ping\n\n")
		full(w, n, c)
	}}
	dir := t.TempDir()
	err := Command(context.Background(), reference(h.start(t), dir), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "6 of 6 requests failed, limit 5 %: line is not JSON: : ping") {
		t.Errorf("the reference's flags: got %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Completed int
		Refit     struct {
			Reading struct{ Completed int }
			Doubts  []string `json:"legacy_doubts"`
			Health  Health
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Completed != 0 || got.Refit.Reading.Completed != 6 || len(got.Refit.Doubts) != 1 ||
		!strings.HasPrefix(got.Refit.Doubts[0], "the legacy keys have 0 completed requests, 6 of 6 were") || slices.Contains(got.Refit.Health.Reasons, got.Refit.Doubts[0]) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := Command(context.Background(), reference(h.start(t), dir, "--own-gate"), io.Discard, io.Discard); err != nil {
		t.Errorf("by refit's own gate: got %v", err)
	}
	out, _, err := measured(t, h, "--conc", "1")
	if err != nil || !strings.Contains(out, "warning: the legacy keys have 0 completed requests, 4 of 4 were") {
		t.Errorf("refit's own flags: %v\n%s", err, out)
	}
}

// A file that cannot be written is known before anything is measured.
func TestFilesAreTriedFirst(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--csv", "--hdr"} {
		for _, path := range []string{filepath.Join(dir, "none", "r"), dir} {
			h := &honest{answer: full}
			err := Command(context.Background(), reference(h.start(t), dir, flag, path), io.Discard, io.Discard)
			if err == nil || len(h.prompts) > 0 {
				t.Errorf("%s %s: got %v after %d prompts", flag, path, err, len(h.prompts))
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
}

// What was measured is shown and kept though the raw file cannot be written.
func TestRawFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	file, csv := filepath.Join(dir, "file"), filepath.Join(dir, "r.csv")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := measured(t, &honest{answer: full, models: []string{"m"}}, "--conc", "1", "--num-warmups", "0",
		"--save-result", "--result-filename", filepath.Join(file, "r.json"), "--csv", csv)
	if err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("got %v", err)
	}
	if lines, err := os.ReadFile(csv); err != nil || strings.Count(string(lines), "\n") != 5 {
		t.Errorf("%v:\n%s", err, lines)
	}
	if !strings.Contains(out, "TTFT p50") {
		t.Errorf("no table: %s", out)
	}
}

// Whoever stops a second attempt is told so.
func TestStoppedSecondAttempt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := t.TempDir()
	h := &honest{answer: func(w http.ResponseWriter, n int, _ completion) {
		if n >= 10 { // the first attempt: 4 warm-ups, 6 measured
			cancel()
		}
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}}
	err := Command(ctx, reference(h.start(t), dir, "--health-retries", "1"), io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "r.json")); err != nil {
		t.Error(err)
	}
}

func TestTargetWithAUserIsNotRepeated(t *testing.T) {
	for _, target := range []string{"http://u:secret@127.0.0.1:1", "http://u:sec/ret@127.0.0.1:1", "u:secret@127.0.0.1:1"} {
		_, err := Run(context.Background(), Target{URL: target, Model: "m"}, small(), nil)
		if err == nil || !strings.Contains(err.Error(), "is not taken") || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: got %v", target, err)
		}
	}
}
