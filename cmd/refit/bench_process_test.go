package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Somebody at a keyboard ends a measurement at its fourth request: the first
// three are written, marked as a part, and the exit code is 1.
func TestInterruptedBenchKeepsWhatItMeasured(t *testing.T) {
	started := make(chan *os.Process, 1)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[{\"text\":\"b\"}]}\n\n")
		if asked.Add(1) < 4 {
			fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
			return
		}
		w.(http.Flusher).Flush()
		if err := (<-started).Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	dir := t.TempDir()
	cmd := exec.Command("refit", "bench", "--base-url", server.URL, "--model", "m", "--dataset-name", "random", "--random-input-len", "4",
		"--random-output-len", "2", "--num-prompts", "6", "--max-concurrency", "1", "--num-warmups", "0",
		"--save-result", "--result-dir", dir, "--result-filename", "r.json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started <- cmd.Process
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitError || !strings.Contains(stderr.String(), "refit: bench: stopped after 3 of 6 requests") {
		t.Errorf("got exit code %d, %v\n%s", cmd.ProcessState.ExitCode(), err, stderr.String())
	}
	raw, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Completed int `json:"completed"`
		Refit     struct {
			Partial bool `json:"partial"`
		} `json:"refit"`
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Completed != 3 || !got.Refit.Partial {
		t.Errorf("got %+v, %v", got, err)
	}
}
