package bench

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// meters are the names under which an engine's /metrics page tells what a
// health receipt wants to know.
type meters struct {
	engine           string
	running, waiting string   // gauges of requests
	prompt           string   // counter of prompt tokens
	cached           []string // counters of prompt tokens taken from the prefix cache, newest name first
}

// engines are the pages known as of 2026. A page belongs to the first engine
// of which it has any of the names.
var engines = []meters{
	{engine: "vllm", running: "vllm:num_requests_running", waiting: "vllm:num_requests_waiting", prompt: "vllm:prompt_tokens_total",
		cached: []string{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits"}},
	{engine: "sglang", running: "sglang:num_running_reqs", waiting: "sglang:num_queue_reqs", prompt: "sglang:prompt_tokens_total",
		cached: []string{"sglang:cached_tokens_total"}},
	{engine: "tensorrt-llm", running: "trtllm_num_requests_running", waiting: "trtllm_num_requests_waiting", prompt: "trtllm_prompt_tokens_total",
		cached: []string{"trtllm_prompt_cached_tokens_total", "trtllm_prompt_tokens_cached_total"}},
	{engine: "llama.cpp", running: "llamacpp:requests_processing", waiting: "llamacpp:requests_deferred", prompt: "llamacpp:prompt_tokens_total",
		cached: []string{"llamacpp:prompt_tokens_cached_total"}},
	{engine: "simulated", running: "num_requests_running", waiting: "num_requests_waiting", prompt: "prompt_tokens_total",
		cached: []string{"prefix_cache_hits_total"}},
}

// EngineLoad is what the engine's own page said around a run. A request of
// somebody else that runs beside a measurement falsifies it, and cannot be
// seen from the client. Gauges may be late by some steps of an engine, so they
// are shown and warned of, not judged.
type EngineLoad struct {
	Engine        string   `json:"engine"`         // whose names the page has
	RunningBefore *float64 `json:"running_before"` // requests running just before the first one was sent
	WaitingBefore *float64 `json:"waiting_before"`
	RunningAfter  *float64 `json:"running_after"` // just after the last answer
	WaitingAfter  *float64 `json:"waiting_after"`
	PromptTokens  *float64 `json:"prompt_tokens"` // taken during the run, of everybody's requests
}

// page is one reading of /metrics. What a page does not have is nil.
type page struct {
	engine                           string
	running, waiting, prompt, cached *float64
}

// pages are where engines have their page. TensorRT-LLM's server has something
// else at the usual place.
var pages = []string{"/metrics", "/prometheus/metrics"}

// metrics reads the server's page, nil when there is none or nobody's.
func (s side) metrics(ctx context.Context) *page {
	for _, path := range pages {
		if text, err := s.fetch(ctx, http.MethodGet, path, nil); err == nil {
			if p := readPage(text); p != nil {
				return p
			}
		}
	}
	return nil
}

func readPage(text []byte) *page {
	for _, m := range engines {
		p := page{engine: m.engine, running: gauge(text, m.running), waiting: gauge(text, m.waiting), prompt: gauge(text, m.prompt)}
		for _, name := range m.cached {
			if p.cached = gauge(text, name); p.cached != nil {
				break
			}
		}
		if p.running != nil || p.waiting != nil || p.prompt != nil || p.cached != nil {
			return &p
		}
	}
	return nil
}

// load sums up two pages, nil without both.
func load(before, after *page) *EngineLoad {
	if before == nil || after == nil || before.engine != after.engine {
		return nil
	}
	return &EngineLoad{Engine: after.engine, RunningBefore: before.running, WaitingBefore: before.waiting,
		RunningAfter: after.running, WaitingAfter: after.waiting, PromptTokens: grown(before.prompt, after.prompt)}
}

// cacheHits is how many prompt tokens came from the prefix cache: by the
// engine's counter or, without one, by what the answers said. Nil when nobody
// said anything.
func cacheHits(before, after *page, requests []Request) *float64 {
	if before != nil && after != nil {
		if hits := grown(before.cached, after.cached); hits != nil {
			return hits
		}
	}
	var sum *float64
	for _, q := range requests {
		if q.Cached == nil {
			continue
		}
		if sum == nil {
			sum = new(float64)
		}
		*sum += float64(*q.Cached)
	}
	return sum
}

func grown(before, after *float64) *float64 {
	if before == nil || after == nil {
		return nil
	}
	d := *after - *before
	return &d
}

// gauge is a counter or gauge of a page, nil when the page does not have it.
func gauge(page []byte, name string) *float64 {
	if v, ok := counter(page, name); ok {
		return &v
	}
	return nil
}

// counter sums a counter over its label sets in Prometheus text. A sum that
// is not finite, or that misses a line, is none.
func counter(page []byte, name string) (sum float64, ok bool) {
	lines := bufio.NewScanner(bytes.NewReader(page))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), name)
		if !found || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		rest, _, _ = strings.Cut(rest, " # ") // an exemplar, with labels of its own
		if end := strings.LastIndexByte(rest, '}'); end >= 0 {
			rest = rest[end+1:]
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil {
			sum, ok = sum+v, true
		}
	}
	if lines.Err() != nil || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, false
	}
	return sum, ok
}
