package bench

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Waiting for the next request's time without sleeping is no work.
func TestPollingIsNoWork(t *testing.T) {
	r := Result{Duration: 2 * time.Second, Requests: []Request{{ITLs: []time.Duration{time.Millisecond}}}}
	h := receipt(r, &delays{}, cost{all: 1900 * time.Millisecond, polled: 1500 * time.Millisecond}, nil)
	if math.Abs(h.ClientCPU-0.2) > 1e-9 || math.Abs(h.Client.Polling-0.75) > 1e-9 {
		t.Errorf("work %v and polling %v cores, want 0.2 and 0.75", h.ClientCPU, h.Client.Polling)
	}
	busy := func(h Health) bool {
		return slices.ContainsFunc(h.doubted().Reasons, func(s string) bool { return strings.HasPrefix(s, "client used") })
	}
	if busy(h) {
		t.Errorf("a client that waits is called busy: %q", h.Reasons)
	}
	if h := receipt(r, &delays{}, cost{all: 1900 * time.Millisecond}, nil); !busy(h) || math.Abs(h.ClientCPU-0.95) > 1e-9 {
		t.Errorf("a client that works: %v cores, %q", h.ClientCPU, h.Reasons)
	}
	if h := receipt(r, &delays{}, cost{all: time.Second, polled: 2 * time.Second}, nil); h.ClientCPU != 0 {
		t.Errorf("%v cores of work, want none: clocks differ", h.ClientCPU)
	}
}

// From some 16,000 requests a second the next request is always so near that
// the client does not sleep; the receipt tells the waiting from the work.
func TestPollingAtARate(t *testing.T) {
	target := startRig(t, rigPlan{Core: 0, Prebuilt: 1})
	w := Workload{Requests: 4000, Rate: 16_000, Spacing: Constant, InputTokens: 4, OutputTokens: 1}
	before := cpuTime()
	r, err := Run(context.Background(), target, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := (cpuTime() - before).Seconds() / r.Duration.Seconds()
	c := r.Health.Client
	if c.Polling <= 0 || r.Health.ClientCPU <= 0 || r.Health.ClientCPU+c.Polling > all+0.01 {
		t.Errorf("%v cores of work and %v of polling, want both, and not more than the %v that were used", r.Health.ClientCPU, c.Polling, all)
	}
	t.Logf("%v cores: %.2f of work, %.2f of polling", all, r.Health.ClientCPU, c.Polling)
}

// A closed loop has nothing to wait for but answers, and sleeps.
func TestClosedLoopDoesNotPoll(t *testing.T) {
	r, err := Run(context.Background(), (&honest{answer: full}).start(t), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Health.Client.Polling; p != 0 {
		t.Errorf("%v cores of polling, want none", p)
	}
}
