package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestSpell(t *testing.T) {
	check := func(v float64, want string) {
		t.Helper()
		got, err := spell(v)
		if err != nil || got != want {
			t.Errorf("spell(%g) = %s, %v; want %s", v, got, err, want)
		}
	}
	check(0, "0.0")
	check(1, "1.0")
	check(-2.5, "-2.5")
	check(0.0001, "0.0001")
	check(0.00001, "1e-05")
	check(1.5e-7, "1.5e-07")
	check(1e15, "1000000000000000.0")
	check(1e16, "1e+16")
	check(1.25e100, "1.25e+100")
	check(370.00000000000006, "370.00000000000006")
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := spell(v); err == nil {
			t.Errorf("spell(%v) gave no error", v)
		}
	}
}

func TestQuote(t *testing.T) {
	check := func(in, want string) {
		t.Helper()
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
	check("a/b <&>", `"a/b <&>"`)
	check("\"\\\n\t\r\b\f\x01\x7f", `"\"\\\n\t\r\b\f\u0001\u007f"`)
	check("é€😀", `"\u00e9\u20ac\ud83d\ude00"`)
}

// sample is a small finished run.
func sample() Result {
	r := mixed()
	r.Requests = r.Requests[:2]
	r.Target = Target{Model: "lab/tiny-a"}
	r.Workload = Workload{Concurrency: 2, Requests: 2}
	r.Started = time.Date(2026, 8, 1, 10, 0, 0, 500e6, time.UTC)
	r.Ended = r.Started.Add(2 * time.Second)
	r.Health = Health{Requests: 2, MeanITL: 2 * time.Millisecond, ReadDelayP99: 100 * time.Microsecond, ReadDelayP50: 30 * time.Microsecond, DelaySource: "server-stamp", Samples: 11, ClientCPU: 0.125}.judged(false)
	return r
}

func TestRawFile(t *testing.T) {
	got, err := sample().Raw(RawMeta{Backend: "vllm", Metadata: [][2]string{{"a", "b"}}, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	legacy, _, ok := strings.Cut(string(got), `, "refit": `)
	want := `{"date": "20260801-100002", "backend": "vllm", "model_id": "lab/tiny-a", "tokenizer_id": "lab/tiny-a", "best_of": 1, "num_prompts": 2, "a": "b", ` +
		`"request_rate": "inf", "burstiness": 1.0, "max_concurrency": 2, "duration": 2.0, "benchmark_start_time_unix": 1785578400.5, "benchmark_end_time_unix": 1785578402.5, ` +
		`"completed": 2, "total_input_tokens": 22, "total_output_tokens": 16, "request_throughput": 1.0, "request_goodput:": null, "output_throughput": 8.0, "total_token_throughput": 19.0, ` +
		`"input_lens": [10, 12], "output_lens": [5, 11], ` +
		`"mean_ttft_ms": 350.0, "median_ttft_ms": 350.0, "std_ttft_ms": 150.0, "p90_ttft_ms": 470.00000000000006, "p99_ttft_ms": 497.0, "p99.9_ttft_ms": 499.70000000000005, ` +
		`"mean_tpot_ms": 175.0, "median_tpot_ms": 175.0, "std_tpot_ms": 25.000000000000007, "p90_tpot_ms": 195.0, "p99_tpot_ms": 199.5, "p99.9_tpot_ms": 199.95000000000002, ` +
		`"mean_itl_ms": `
	if !ok || !strings.HasPrefix(legacy, want) {
		t.Errorf("got  %s\nwant %s", legacy, want)
	}
	if !strings.HasSuffix(legacy, `"benchmark_outcome": {"status": "passed", "requested": 2, "completed": 2, "failed": 0, "max_failure_rate": 0.05}`) {
		t.Errorf("outcome: %s", legacy[len(legacy)-160:])
	}
	if !json.Valid(got) || strings.ContainsAny(string(got), "\n") {
		t.Error("not one line of JSON")
	}
	h, err := HealthOf(got)
	if err != nil || h.Verdict != Healthy || h.ReadDelayP99 != 100*time.Microsecond || h.ClientCPU != 0.125 {
		t.Errorf("health read back: %+v, %v", h, err)
	}
}

func TestUnknownTokensAreNull(t *testing.T) {
	r := sample()
	r.Requests[0].TokensFrom = ""
	got, err := r.Raw(RawMeta{Backend: "vllm"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"total_output_tokens": null`, `"output_throughput": null`, `"total_token_throughput": null`, `"unknown_tokens": 1`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestForeignFileHasUnknownHealth(t *testing.T) {
	h, err := HealthOf([]byte(`{"completed": 5}`))
	if err != nil || h.Verdict != Unknown || len(h.Reasons) != 1 {
		t.Errorf("got %+v, %v", h, err)
	}
}

func TestHealthVerdicts(t *testing.T) {
	good := Health{Requests: 10, MeanITL: 2 * time.Millisecond, ReadDelayP99: 400 * time.Microsecond, DelaySource: fromServer, ClientCPU: 0.5}
	check := func(name string, change func(*Health), future bool, verdict, reason string) {
		t.Helper()
		h := good
		if change != nil {
			change(&h)
		}
		h = h.judged(future)
		if h.Verdict != verdict || !strings.Contains(strings.Join(h.Reasons, "; "), reason) {
			t.Errorf("%s: %s %q, want %s %q", name, h.Verdict, h.Reasons, verdict, reason)
		}
	}
	check("limits are inclusive", nil, false, Healthy, "")
	check("late reads", func(h *Health) { h.ReadDelayP99++ }, false, Unhealthy, "p99 read delay 400µs is 20.0 % of the mean gap 2ms")
	check("busy client", func(h *Health) { h.ClientCPU = 0.81 }, false, Unhealthy, "client used 0.81 cores")
	check("errors", func(h *Health) { h.Errors = 3 }, false, Unhealthy, "3 of 10 requests had an error")
	check("no stamps", func(h *Health) { h.DelaySource = fromNobody }, false, Unknown, "cannot be known")
	check("no stamps and errors", func(h *Health) { h.DelaySource = fromNobody; h.Errors = 1 }, false, Unhealthy, "1 of 10")
	check("clocks differ", nil, true, Unknown, "clocks differ")
	check("no gaps", func(h *Health) { h.MeanITL = 0 }, false, Unknown, "no gap")
	check("nothing sent", func(h *Health) { h.Requests = 0 }, false, Unhealthy, "no request")
}

func TestPrefixCounter(t *testing.T) {
	page := []byte("# HELP x\nvllm:prefix_cache_hits_total{engine=\"0\"} 5.0\nvllm:prefix_cache_hits_total{engine=\"1\"} 7.0 1700\nvllm:prefix_cache_hits_total_created 9\n")
	if got := gauge(page, "vllm:prefix_cache_hits_total"); got == nil || *got != 12 {
		t.Errorf("got %v, want 12", got)
	}
	if gauge(page, "sglang:cached_tokens_total") != nil {
		t.Error("found a counter that is not there")
	}
}
