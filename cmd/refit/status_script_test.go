package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/workspace"
)

// publishedCheckout is a checkout of the published catalogue, committed on 2026-08-22.
func publishedCheckout(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("REFIT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	from := filepath.Join(shared, "data", "inferencex")
	if _, err := os.Stat(from); err != nil {
		t.Skip("shared data not present: set REFIT_SHARED")
	}
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_COMMITTER_DATE", "2026-08-22T12:00:00Z")
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-m", "Start"}} {
		if _, err := (workspace.Repo{Dir: dir}).Git(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// answered runs a command in this process and wants it to succeed without a word.
func answered(t *testing.T, now time.Time, args ...string) []byte {
	t.Helper()
	var out, said bytes.Buffer
	e := env{stdin: strings.NewReader(""), stdout: &out, stderr: &said, now: func() time.Time { return now }}
	if code := execute(t.Context(), e, args); code != 0 || said.Len() > 0 {
		t.Fatalf("refit %s: exit code %d\n%s", strings.Join(args, " "), code, &said)
	}
	return out.Bytes()
}

func TestStatusOfThePublishedCatalogue(t *testing.T) {
	dir, now := publishedCheckout(t), time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	var f report.Fleet
	if err := json.Unmarshal(answered(t, now, "status", "-C", dir, "--offline", "--json"), &f); err != nil {
		t.Fatal(err)
	}
	if want := (report.FleetSum{Families: 208, Images: 91, Points: 2077, Unknown: 91}); f.Sum != want {
		t.Errorf("got %+v, want %+v", f.Sum, want)
	}
	oldest := f.Images[0]
	if oldest.Image != "lmsysorg/sglang-rocm:v0.5.12-rocm720-mi35x-20260519" || oldest.AgeDays == nil || *oldest.AgeDays != 105 || oldest.AgeFrom != report.AgeTag {
		t.Errorf("the oldest image: got %+v", oldest)
	}
	sources := map[report.AgeSource]int{}
	for i, img := range f.Images {
		sources[img.AgeFrom]++
		if i > 0 && img.Since.Before(*f.Images[i-1].Since) {
			t.Errorf("%s is older than the image before it", img.Image)
		}
		if img.AgeFrom == report.AgeRecipe && img.Since.Format(time.DateOnly) != "2026-08-22" {
			t.Errorf("%s: got %v, want the day of the only commit", img.Image, img.Since)
		}
	}
	if sources[report.AgeTag] < 30 || sources[report.AgeTag]+sources[report.AgeRecipe] != 91 {
		t.Errorf("sources of ages: got %v", sources)
	}

	text := string(answered(t, now, "status", "-C", dir, "--offline", "--stale", "100"))
	if !strings.Contains(text, "\n 105d  tag      lmsysorg/sglang-rocm:v0.5.12-rocm720-mi35x-20260519\n") {
		t.Errorf("got\n%s", text)
	}
	if want := "3 families on 2 images, 47 points; newer in lane: 0 yes, 0 no, 2 unknown; 0 open candidates (205 families not shown)\n"; !strings.HasSuffix(text, want) {
		t.Errorf("the summary of 100 days and more: got\n%s\nwant %s", text, want)
	}
}

func TestExplainInThePublishedCatalogue(t *testing.T) {
	dir := publishedCheckout(t)
	var x run.Explained
	if err := json.Unmarshal(answered(t, time.Now(), "matrix", "explain", "-C", dir, "dsv4-fp4-b200-vllm-agentic-mtp:196", "--json"), &x); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range x.Values {
		got[v.Name] = v.At + " " + v.How
	}
	for name, want := range map[string]string{
		"image": "configs/nvidia-master.yaml:965 ",
		"total-cpu-dram-gb": "configs/runners.yaml:341 2861022 MiB (the most that counts of 3095781) x 1048576 x dram-utilization 0.95 " +
			"(configs/nvidia-master.yaml:974) x 8 of 8 gpus of a node / 1000000000, rounded down",
		"conc": "configs/nvidia-master.yaml:979 number 6 of 6 of conc-list",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if !x.Eval.Evaluated || x.Eval.Why != "highest of the concurrencies of its group: 1 4 8 14 32 64 96 128 160 196" {
		t.Errorf("eval: got %+v", x.Eval)
	}
	if x.Runner.At != "configs/runners.yaml:245" || len(x.Runner.Machines) != 10 {
		t.Errorf("runner: got %+v", x.Runner)
	}
	tried := []string{"benchmarks/single_node/agentic/dsv4_fp4_b200_vllm_mtp.sh", "benchmarks/single_node/agentic/dsv4_fp4_b200_vllm_mtp.yaml",
		"benchmarks/single_node/agentic/dsv4_fp4_b200_mtp.sh", "benchmarks/single_node/agentic/dsv4_fp4_b200_mtp.yaml"}
	if strings.Join(x.Reproduction.Tried, " ") != strings.Join(tried, " ") {
		t.Errorf("tried %q, want %q", x.Reproduction.Tried, tried)
	}
	// The published suffix of this point: its key begins with it.
	text := string(answered(t, time.Now(), "matrix", "explain", "-C", dir, "qwen3.5-fp8-h200-sglang-agentic-mtp:0a47d8"))
	if !strings.HasPrefix(text, "qwen3.5-fp8-h200-sglang-agentic-mtp  AgentX ") || !strings.Contains(text, "\nkey          0a47d8") {
		t.Errorf("got\n%s", text)
	}
}
