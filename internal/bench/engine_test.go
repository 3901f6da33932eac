package bench

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The pages of the engines whose names are public, as they print them.
func TestReadPage(t *testing.T) {
	for name, c := range map[string]struct {
		page                             string
		running, waiting, prompt, cached float64
	}{
		"vllm": {"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\nvllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 1.0\n" +
			"vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 1024.0\nvllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} 16.0\n", 3, 1, 1024, 16},
		"sglang": {"sglang:num_running_reqs{model_name=\"m\"} 2.0\nsglang:num_queue_reqs{model_name=\"m\"} 5.0\nsglang:prompt_tokens_total{model_name=\"m\"} 8.128902e+06\n" +
			"sglang:cached_tokens_total{cache_source=\"device\",model_name=\"m\"} 7.0\nsglang:cached_tokens_total{cache_source=\"host\",model_name=\"m\"} 4.0\n", 2, 5, 8128902, 11},
		"tensorrt-llm": {"trtllm_num_requests_running{engine_type=\"trtllm\",model_name=\"m\"} 4.0\ntrtllm_num_requests_waiting{engine_type=\"trtllm\",model_name=\"m\"} 0.0\n" +
			"trtllm_prompt_tokens_total{engine_type=\"trtllm\",model_name=\"m\"} 90.0\ntrtllm_prompt_cached_tokens_total{engine_type=\"trtllm\",model_name=\"m\"} 32.0\n", 4, 0, 90, 32},
	} {
		p := readPage([]byte(c.page))
		if p == nil || p.engine != name || p.running == nil || p.waiting == nil || p.prompt == nil || p.cached == nil {
			t.Errorf("%s: got %+v", name, p)
			continue
		}
		if *p.running != c.running || *p.waiting != c.waiting || *p.prompt != c.prompt || *p.cached != c.cached {
			t.Errorf("%s: running %v, waiting %v, prompt %v, cached %v", name, *p.running, *p.waiting, *p.prompt, *p.cached)
		}
	}
	if p := readPage([]byte(`[{"iter": 7, "numActiveRequests": 2}]`)); p != nil {
		t.Errorf("a page of JSON: got %+v, want none", p)
	}
}

// TensorRT-LLM's server has JSON at the usual place and its page at another.
func TestPageAtAnotherPlace(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			io.WriteString(w, `[{"iter": 7}]`)
		case "/prometheus/metrics":
			io.WriteString(w, "trtllm_num_requests_running{model_name=\"m\"} 2.0\n")
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	side := newSide(Target{URL: s.URL, Model: "m"})
	defer side.close()
	p := side.metrics(context.Background())
	if p == nil || p.engine != "tensorrt-llm" || p.running == nil || *p.running != 2 || p.cached != nil {
		t.Errorf("got %+v", p)
	}
}
