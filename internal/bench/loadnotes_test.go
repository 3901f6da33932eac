package bench

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoadNotes(t *testing.T) {
	ms := time.Millisecond
	r := Result{Duration: 2 * time.Second, Workload: Workload{Concurrency: 1, Rate: 10, Spacing: Gamma, InputTokens: 8, OutputTokens: 3, SLO: SLO{"ttft": 25 * ms}}}
	for i := range 5 {
		at := time.Duration(i) * 40 * ms
		r.Requests = append(r.Requests, Request{Intended: at, Sent: at + time.Duration(i)*5*ms, Queued: time.Duration(i) * 5 * ms, Ended: at + 60*ms,
			FirstText: 10 * ms, Latency: 30 * ms, OutputTokens: 1, TokensFrom: "usage"})
	}
	r.Health.Schedule = r.kept()
	notes := r.loadNotes()
	for _, want := range []string{
		"latencies from the intended time of sending; the client was late by 0s at the 99th percentile, 0s at most",
		"warning: requests waited up to 20ms in the client for a place",
		"4 of 5 requests within all limits (80.0 %), 2.00 req/s",
		"with 95 % confidence at most: TTFT p50 30ms; E2EL p50 50ms; no p99 of fewer than 299 requests",
	} {
		if !slices.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(notes, "\n"))
		}
	}
	if got := r.Workload.shape(); got != "8 input and 3 output tokens, 10 req/s gamma" {
		t.Errorf("title %q", got)
	}
}

// A table does not show a percentile that its sample cannot bound.
func TestTableOmitsWhatTheSampleDoesNotSay(t *testing.T) {
	r := Result{Workload: Workload{InputTokens: 8, OutputTokens: 3}, Health: Health{Verdict: Healthy}}
	for range 30 {
		r.Requests = append(r.Requests, Request{TTFT: 10 * time.Millisecond, FirstText: 10 * time.Millisecond, Latency: 20 * time.Millisecond, OutputTokens: 3, TokensFrom: "usage"})
	}
	var out strings.Builder
	if err := table(&out, []Result{r}); err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(strings.Split(out.String(), "\n")[2]); len(f) != 11 || f[0] != "none" || f[4] != "10.0" || f[5] != "-" || f[6] != "5.00" || f[7] != "-" {
		t.Errorf("line %q, want medians and no 99th percentiles of 30 requests", f)
	}
	if !strings.Contains(out.String(), "no cap: with 95 % confidence at most: TTFT p50 10ms; TPOT p50 5ms; E2EL p50 20ms; no p99 of fewer than 299 requests") {
		t.Errorf("table:\n%s", out.String())
	}
}
