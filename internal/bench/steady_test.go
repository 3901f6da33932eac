package bench

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Two at a time, a request a second long each but for the last, which drains
// for two: 0-1, 0.5-1.5, 1-2, 1.5-2.5, 2-4.
func TestSteadyLeavesOutRampAndDrain(t *testing.T) {
	const half = 500 * time.Millisecond
	request := func(from, to time.Duration) Request {
		q := Request{Sent: from * half, Ended: to * half, FirstText: half, Latency: (to - from) * half, InputTokens: 10, OutputTokens: 2, TokensFrom: "usage"}
		q.TextITLs = []time.Duration{(to-from)*half - half}
		return q
	}
	r := Result{Workload: Workload{Concurrency: 2}, Requests: []Request{request(0, 2), request(1, 3), request(2, 4), request(3, 5), request(4, 8)}}
	s := r.Steady()
	if s == nil || s.From != half || s.To != 5*half || s.AtCap != 1 {
		t.Fatalf("got %+v, want 0.5 s to 2.5 s, always at the cap", s)
	}
	// Texts inside: at 0.5, 1, 1, 1.5, 1.5, 2, 2; those at 2.5 and 4 are behind it.
	if s.Completed != 4 || s.RequestsPerSecond != 1.875 || s.OutputPerSecond != 3.5 || s.TokensPerSecond != 23.5 {
		t.Errorf("got %+v, want 4 requests ended, 3.75 made in 2 s, 3.5 and 23.5 tok/s", s)
	}
}

func TestSteadyTurnaround(t *testing.T) {
	ms := time.Millisecond
	r := Result{Workload: Workload{Concurrency: 1}, Requests: []Request{
		{Sent: 0, Ended: 9 * ms, FirstText: ms, OutputTokens: 1}, {Sent: 10 * ms, Ended: 20 * ms, FirstText: ms, OutputTokens: 1}}}
	if s := r.Steady(); s == nil || math.Abs(s.AtCap-0.95) > 1e-12 || s.To != 20*ms {
		t.Errorf("got %+v, want 0.95 of 20 ms", s)
	}
}

func TestNoSteadyState(t *testing.T) {
	q := Request{Sent: 0, Ended: time.Second, FirstText: 1, OutputTokens: 1}
	if s := (Result{Requests: []Request{q}}).Steady(); s != nil {
		t.Errorf("without a cap: got %+v", s)
	}
	if s := (Result{Workload: Workload{Concurrency: 2}, Requests: []Request{q}}).Steady(); s != nil {
		t.Errorf("the cap was never reached: got %+v", s)
	}
}

// Tokens that nobody counted have no throughput, here as little as over the
// whole run.
func TestSteadyOfUnknownTokens(t *testing.T) {
	r := Result{Duration: time.Second, Workload: Workload{Concurrency: 1}, Requests: []Request{{Ended: time.Second, FirstText: 1, Latency: time.Second}}}
	spelled := r.Steady().object().String()
	if !strings.Contains(spelled, `"request_throughput": 1.0, "output_throughput": null, "total_token_throughput": null`) {
		t.Errorf("steady: %s", spelled)
	}
	if note := r.loadNotes()[0]; note != "between ramp and drain, 0s to 1s: 1.00 req/s" {
		t.Errorf("note %q", note)
	}
	var o object
	if spelled := attemptList(&o, []Result{r}); !strings.Contains(spelled, `"total_token_throughput": null`) || o.err != nil {
		t.Errorf("attempts: %s, %v", spelled, o.err)
	}
}
