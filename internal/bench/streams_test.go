package bench

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	manyStreams = 10_000
	manyEvery   = 250 * time.Millisecond
	manyFor     = time.Minute
	manyMemory  = 1 << 30 // bytes, of either process
)

// TestTenThousandStreams keeps 10,000 streams with 250 ms between tokens open
// for a minute, from a server in a process of its own, and interrupts a second
// run half-way.
func TestTenThousandStreams(t *testing.T) {
	if os.Getenv("REFIT_TEST_STREAMS") == "" {
		t.Skip("takes a minute and two idle cores: set REFIT_TEST_STREAMS=1")
	}
	target, server := startRigProcess(t, rigPlan{Core: 0, Every: manyEvery})
	tokens := int(manyFor / manyEvery)
	w := Workload{Requests: manyStreams, Concurrency: manyStreams, InputTokens: 16, OutputTokens: tokens}
	r, err := Run(context.Background(), target, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, itl := r.Health, r.Stats("text-itl", []float64{99})
	t.Logf("%d streams for %v: %d errors, %.0f tokens/s, ITL p50 %.3f ms, p99 %.3f ms, read delay p50 %v, p99 %v, client %.2f cores, %s %v", manyStreams,
		r.Duration.Round(time.Millisecond), h.Errors, r.Totals(nil).OutputPerSecond, 1000*itl.Median, 1000*itl.Percentiles[99], h.ReadDelayP50, h.ReadDelayP99,
		h.ClientCPU, h.Verdict, h.Reasons)
	t.Logf("in flight %.0f in the mean, %d at most; connect p99 %v; %d collections, longest pause %v", h.Client.InFlightMean, h.Client.InFlightMax,
		h.Client.ConnectP99, h.Client.Collections, h.Client.PauseMax)
	ours, theirs := peakMemory(t, os.Getpid()), peakMemory(t, server)
	t.Logf("memory at its highest: client %d MiB, server %d MiB", ours>>20, theirs>>20)
	if h.Errors > 0 || h.Client.InFlightMax != manyStreams || ours > manyMemory || theirs > manyMemory {
		t.Errorf("%d errors (%s), %d in flight, memory %d and %d MiB: want none, %d and at most %d MiB", h.Errors, r.firstError(), h.Client.InFlightMax,
			ours>>20, theirs>>20, manyStreams, manyMemory>>20)
	}
	interruptHalfway(t, target, w)
}

// interruptHalfway sends this process the signal of Ctrl-C when the streams
// run, and wants what was measured.
func interruptHalfway(t *testing.T, target Target, w Workload) {
	t.Helper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w.Requests, w.OutputTokens, w.Seed = 2*manyStreams, 8, 7 // the first half ends, the second is under way
	sent := false
	before := openDescriptors()
	r, err := Run(ctx, target, w, func(p Progress) {
		if p.Done > manyStreams && !sent {
			sent = true
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	})
	done := r.Totals(nil).Completed
	t.Logf("interrupted: %v; %d completed and kept, %d descriptors more than before", err, done, openDescriptors()-before)
	if !errors.Is(err, context.Canceled) || !r.Partial || done < manyStreams || done >= w.Requests || openDescriptors() > before+10 {
		t.Errorf("got %d completed, partial %v, error %v", done, r.Partial, err)
	}
}

// peakMemory is the highest resident memory of a process so far, in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no peak in %s", strings.TrimSpace(string(status)))
	}
	kb, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
