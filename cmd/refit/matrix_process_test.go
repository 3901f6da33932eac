package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// publishedSweep is the process that prints the published catalogue's matrix;
// it is this test binary, called as refit.
func publishedSweep(t testing.TB) (*exec.Cmd, string) {
	t.Helper()
	shared := os.Getenv("REFIT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "data", "inferencex")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("shared data not present: set REFIT_SHARED")
	}
	cmd := exec.Command("refit", "matrix", "full-sweep", "--config-files", "configs/amd-master.yaml", "configs/nvidia-master.yaml", "--runner-config", "configs/runners.yaml")
	cmd.Dir = dir
	return cmd, dir
}

// peak is the most memory that an ended process has held, in MiB.
func peak(p *os.ProcessState) float64 {
	return float64(p.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// The whole published catalogue fits into 64 MiB, program included.
func TestFullSweepMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a program under the race detector takes twice the memory, and short runs are for that")
	}
	cmd, dir := publishedSweep(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, "expected", "full-sweep.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, want) {
		t.Error("the process prints another matrix than the published one")
	}
	got := peak(cmd.ProcessState)
	t.Logf("most memory: %.1f MiB", got)
	if got >= 64 {
		t.Errorf("most memory: got %.1f MiB, want less than 64", got)
	}
}

// BenchmarkFullSweepProcess is the whole life of the process; the published
// generator took 630 ms for the same.
func BenchmarkFullSweepProcess(b *testing.B) {
	var took []time.Duration
	most := 0.0
	for b.Loop() {
		cmd, _ := publishedSweep(b)
		began := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		most = max(most, peak(cmd.ProcessState))
	}
	b.ReportMetric(1e3*slices.Min(took).Seconds(), "best-ms")
	b.ReportMetric(630/(1e3*slices.Min(took).Seconds()), "x-published")
	b.ReportMetric(most, "MiB")
}
