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
)

// stopped is a server at whose fourth request somebody ends the measurement.
func stopped(cancel func()) *honest {
	return &honest{models: []string{"m"}, answer: func(w http.ResponseWriter, n int, c completion) {
		if n < 3 {
			full(w, n, c)
			return
		}
		say(w, token("a"))
		cancel()
		<-w.(interface{ CloseNotify() <-chan bool }).CloseNotify()
	}}
}

func TestStoppedRunKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := Workload{Requests: 6, Concurrency: 1, InputTokens: 4, OutputTokens: 2}
	r, err := Run(ctx, stopped(cancel).start(t), w, nil)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stopped after 3 of 6 requests") {
		t.Errorf("got %v", err)
	}
	if !r.Partial || len(r.Requests) != 6 || r.finished() != 3 {
		t.Fatalf("got %d requests, %d finished, partial %v", len(r.Requests), r.finished(), r.Partial)
	}
	var errs []string
	for _, q := range r.Requests {
		errs = append(errs, q.Error)
	}
	if want := []string{"", "", "", "interrupted: after 1 messages", "interrupted: before it was sent", "interrupted: before it was sent"}; !slices.Equal(errs, want) {
		t.Errorf("got %q", errs)
	}
	if h := r.Health; h.Verdict != Unhealthy || h.Errors != 0 || !slices.Contains(h.Reasons, "stopped after 3 of 6 requests: the figures are of a part") {
		t.Errorf("health %s, %d errors: %v", h.Verdict, h.Errors, h.Reasons)
	}
}

func TestStoppedCommandWritesItsFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := t.TempDir()
	csv := filepath.Join(dir, "r.csv")
	args := []string{"--url", stopped(cancel).start(t).URL, "--profile", "4x2", "--conc", "1,2", "--requests", "6", "--num-warmups", "0",
		"--save-result", "--result-dir", dir, "--csv", csv, "--hdr", filepath.Join(dir, "r.hlog")}
	var out strings.Builder
	err := Command(ctx, append(args, "--json"), &out, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	var got struct {
		Prompts   int `json:"num_prompts"`
		Completed int `json:"completed"`
		Outcome   struct {
			Status string `json:"status"`
		} `json:"benchmark_outcome"`
		Refit struct {
			Partial bool `json:"partial"`
		} `json:"refit"`
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil { // one line: the second point was not begun
		t.Fatalf("%v: %s", err, out.String())
	}
	if got.Prompts != 6 || got.Completed != 3 || !got.Refit.Partial || got.Outcome.Status != "failed" {
		t.Errorf("got %+v", got)
	}
	raws, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(raws) != 1 {
		t.Errorf("raw files %v, %v", raws, err)
	}
	lines, err := os.ReadFile(csv)
	if err != nil || strings.Count(string(lines), "\n") != 7 || strings.Count(string(lines), ",interrupted,") != 3 {
		t.Errorf("%v:\n%s", err, lines)
	}
}

// Nothing measured leaves nothing behind.
func TestStoppedWarmUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := stopped(cancel)
	dir := t.TempDir()
	err := Command(ctx, reference(h.start(t), dir), io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "warm-up") {
		t.Errorf("got %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
}
