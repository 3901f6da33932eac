package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// exporter serves the figures of a running measurement as a Prometheus page,
// on this machine only. Each measurement has its concurrency as a label.
type exporter struct {
	server   http.Server
	listener net.Listener
	done     chan error

	requests *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	running  *prometheus.GaugeVec
	messages *prometheus.GaugeVec
	left     *prometheus.GaugeVec
	first    *prometheus.HistogramVec
	e2el     *prometheus.HistogramVec
	lag      *prometheus.HistogramVec
}

// latencyBuckets are seconds: what an answer takes to begin and to end.
var latencyBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 25, 60, 300}

// lagBuckets are seconds: what a client may be late.
var lagBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .1, 1}

// listenForMetrics starts the page. An address that is not of this machine
// alone is refused.
func listenForMetrics(ctx context.Context, address string) (*exporter, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: bench: --metrics-listen %q: want an address and a port, as in 127.0.0.1:9400", ErrUsage, address)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%w: bench: --metrics-listen %q: only an address of this machine alone may be given, such as 127.0.0.1", ErrUsage, address)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("bench: --metrics-listen: %w", err)
	}
	x := &exporter{listener: l, done: make(chan error, 1)}
	registry := prometheus.NewRegistry()
	x.register(registry)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	x.server = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { x.done <- x.server.Serve(l) }()
	return x, nil
}

func (x *exporter) register(registry *prometheus.Registry) {
	by := []string{"concurrency"}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "refit_bench_" + name, Help: help}, append(by, labels...))
		registry.MustRegister(c)
		return c
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "refit_bench_" + name, Help: help}, by)
		registry.MustRegister(g)
		return g
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "refit_bench_" + name, Help: help, Buckets: buckets}, by)
		registry.MustRegister(h)
		return h
	}
	x.requests = counter("requests_total", "Requests that have ended, by how: ok, or the kind of the error.", "outcome")
	x.tokens = counter("output_tokens_total", "Output tokens of the requests that have ended, as the server counted them.")
	x.running = gauge("requests_running", "Requests in flight.")
	x.messages = gauge("messages", "Messages received so far, of requests in flight too.")
	x.left = gauge("remaining_seconds", "Time until the end of the measurement, at the pace so far.")
	x.first = histogram("first_text_seconds", "Time to the first text, from sending.", latencyBuckets)
	x.e2el = histogram("e2el_seconds", "Time of the whole answer, from sending.", latencyBuckets)
	x.lag = histogram("schedule_lag_seconds", "How late the client sent a request that it could have sent.", lagBuckets)
}

// watch books the progress of one measurement.
func (x *exporter) watch(w Workload) func(Progress) {
	label := strconv.Itoa(w.Concurrency)
	return func(p Progress) {
		x.running.WithLabelValues(label).Set(float64(p.Running))
		x.messages.WithLabelValues(label).Set(float64(p.Messages))
		x.left.WithLabelValues(label).Set(p.Left.Seconds())
		q := p.Ended
		if q == nil {
			return
		}
		x.lag.WithLabelValues(label).Observe(q.Lag.Seconds())
		if q.Error != "" {
			x.requests.WithLabelValues(label, q.ErrorKind).Inc()
			return
		}
		x.requests.WithLabelValues(label, "ok").Inc()
		x.tokens.WithLabelValues(label).Add(float64(q.OutputTokens))
		if q.FirstText > 0 {
			x.first.WithLabelValues(label).Observe(q.FirstText.Seconds())
		}
		x.e2el.WithLabelValues(label).Observe(q.Latency.Seconds())
	}
}

// url is where the page is.
func (x *exporter) url() string { return "http://" + x.listener.Addr().String() + "/metrics" }

// close ends the page.
func (x *exporter) close() {
	_ = x.server.Close() // the listener is what it closes, and there is nobody to be told
	<-x.done
}
