package sim

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsHandler shows the engine's counters in Prometheus' text format.
func metricsHandler(s *scheduler) http.Handler {
	registry := prometheus.NewRegistry()
	c := &s.counters
	gauge := func(name, help string, v *atomic.Int64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(v.Load()) }))
	}
	counter := func(name, help string, v *atomic.Int64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(v.Load()) }))
	}
	seconds := func(v *atomic.Int64) func() float64 {
		return func() float64 { return float64(v.Load()) / 1e9 }
	}
	gauge("num_requests_running", "Requests in the batch.", &c.running)
	gauge("num_requests_waiting", "Requests in the queue.", &c.waiting)
	counter("prompt_tokens_total", "Prompt tokens taken.", &c.prompt)
	counter("generation_tokens_total", "Tokens generated.", &c.generated)
	counter("prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", &c.prefixQueries)
	counter("prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", &c.prefixHits)
	counter("steps_total", "Steps of the batch.", &c.steps)
	registry.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "step_lateness_seconds_total", Help: "How late the ends of steps were, summed."}, seconds(&c.lateTotal)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "step_lateness_worst_seconds", Help: "The latest end of a step."}, seconds(&c.lateWorst)),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
