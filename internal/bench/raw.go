package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// maxFailureRate is the largest share of failed requests of a valid point.
const maxFailureRate = 0.05

// maxListedErrors bounds the errors that are written out in a raw file.
const maxListedErrors = 20

// RawMeta is what the raw file says beside the measurements.
type RawMeta struct {
	Backend     string      // "vllm", "openai", "openai-chat"
	ModelID     string      // empty = the name in the requests
	TokenizerID string      // empty = the model
	Detailed    bool        // with each request's readings, texts and errors
	Metadata    [][2]string // extra keys and values, behind num_prompts
	Families    []string    // of ttft, tpot, itl, e2el; nil = all
	Percentiles []float64   // nil = DefaultPercentiles
	SLO         SLO         // empty = no goodput
	Zone        *time.Location
	Attempts    []Result // all attempts at the point, in order, the published one among them; nil = one
}

// Raw is the legacy raw result file: keys, their order and the spelling of
// numbers are the reference client's, and the values are what it would have
// read (see Reading). What it does not have, or reads otherwise than it was,
// stands under the last key, "refit". A sum that nobody knows is null; one that
// the reference takes for zero is zero, and refit.legacy_doubts says so.
func (r Result) Raw(meta RawMeta) ([]byte, error) {
	var o object
	o.str("date", r.Ended.In(zone(meta.Zone)).Format("20060102-150405"))
	o.str("backend", meta.Backend)
	model := cmp.Or(meta.ModelID, r.Target.Model)
	o.str("model_id", model)
	o.str("tokenizer_id", cmp.Or(meta.TokenizerID, model))
	o.integer("best_of", max(r.Workload.BestOf, 1))
	o.integer("num_prompts", len(r.Requests))
	for _, pair := range meta.Metadata {
		o.str(pair[0], pair[1])
	}
	if r.Workload.Rate > 0 {
		o.float("request_rate", r.Workload.Rate)
	} else {
		o.str("request_rate", "inf")
	}
	o.float("burstiness", cmp.Or(r.Workload.Burstiness, 1))
	o.raw("max_concurrency", r.Workload.spelledCap())
	o.float("duration", r.Duration.Seconds())
	o.float("benchmark_start_time_unix", unixSeconds(r.Started))
	o.float("benchmark_end_time_unix", unixSeconds(r.Ended))
	r.reference().writeFigures(&o, meta)
	o.object("refit", r.own(meta, r.Totals(meta.SLO)))
	if o.err != nil {
		return nil, fmt.Errorf("raw result file: %w", o.err)
	}
	return []byte(o.String()), nil
}

// writeFigures writes every figure of the reference's file, by one reading of
// the streams: that of the requests as they are.
func (r Result) writeFigures(o *object, meta RawMeta) {
	t := r.Totals(meta.SLO)
	r.writeTotals(o, t, len(meta.SLO) > 0)
	if meta.Detailed {
		r.writeDetails(o)
	}
	r.writeFamilies(o, meta)
	o.object("benchmark_outcome", outcome(t))
}

// spelledCap is the concurrency cap, null without one.
func (w Workload) spelledCap() string {
	if w.Concurrency == 0 {
		return "null"
	}
	return strconv.Itoa(w.Concurrency)
}

func (r Result) writeTotals(o *object, t Totals, goodput bool) {
	o.integer("completed", t.Completed)
	o.integer("total_input_tokens", t.InputTokens)
	known := t.Unknown == 0
	if known {
		o.integer("total_output_tokens", t.OutputTokens)
	} else {
		o.null("total_output_tokens")
	}
	o.float("request_throughput", t.RequestsPerSecond)
	if goodput {
		o.float("request_goodput:", t.GoodRequestsPerSecond)
	} else {
		o.null("request_goodput:")
	}
	if known {
		o.float("output_throughput", t.OutputPerSecond)
		o.float("total_token_throughput", t.TokensPerSecond)
	} else {
		o.null("output_throughput")
		o.null("total_token_throughput")
	}
	in, out := make([]int, len(r.Requests)), make([]int, len(r.Requests))
	for i, q := range r.Requests {
		in[i], out[i] = q.InputTokens, q.OutputTokens
	}
	o.integers("input_lens", in)
	o.integers("output_lens", out)
}

// writeDetails writes what each request read, in seconds, failed ones included.
func (r Result) writeDetails(o *object) {
	var first []float64
	var gaps, texts, errors []string
	for _, q := range r.Requests {
		first = append(first, q.TTFT.Seconds())
		own := make([]string, len(q.ITLs))
		for i, gap := range q.ITLs {
			own[i] = o.number("itls", gap.Seconds())
		}
		gaps = append(gaps, list(own))
		text := q.Text
		if q.Error != "" {
			text = ""
		}
		texts, errors = append(texts, text), append(errors, q.Error)
	}
	o.floats("ttfts", first)
	o.raw("itls", list(gaps))
	o.strings("generated_texts", texts)
	o.strings("errors", errors)
}

func (r Result) writeFamilies(o *object, meta RawMeta) {
	percentiles := meta.Percentiles
	if percentiles == nil {
		percentiles = DefaultPercentiles
	}
	for _, name := range Families {
		if meta.Families == nil || slices.Contains(meta.Families, name) {
			writeStats(o, name, r.Stats(name, percentiles), percentiles)
		}
	}
}

// writeStats writes a sample of seconds in milliseconds.
func writeStats(o *object, name string, s Stats, percentiles []float64) {
	s = s.scaled(1000)
	o.float("mean_"+name+"_ms", s.Mean)
	o.float("median_"+name+"_ms", s.Median)
	o.float("std_"+name+"_ms", s.Std)
	for _, p := range percentiles {
		o.float("p"+strconv.FormatFloat(p, 'f', -1, 64)+"_"+name+"_ms", s.Percentiles[p])
	}
}

// outcome is the failure gate's answer: exactly the limit still passes.
func outcome(t Totals) *object {
	requested, status := t.Completed+t.Failed, "passed"
	if !t.Passed() {
		status = "failed"
	}
	var o object
	o.str("status", status)
	o.integer("requested", requested)
	o.integer("completed", t.Completed)
	o.integer("failed", t.Failed)
	o.float("max_failure_rate", maxFailureRate)
	return &o
}

// Passed says whether few enough requests failed for the point to count.
func (t Totals) Passed() bool {
	requested := t.Completed + t.Failed
	return t.Completed > 0 && float64(t.Failed)/float64(requested) <= maxFailureRate
}

// own is what the reference's file has no keys for. Under "reading" are the
// reference's own keys and formulas, from "completed" to "benchmark_outcome",
// by what refit made of the streams: a consumer takes all of its figures from
// there or all from the keys beside "refit". A server's usage beside the last
// choice is in the one and not in the other.
func (r Result) own(meta RawMeta, t Totals) *object {
	var o, reading object
	o.integer("version", 2)
	o.str("client", "refit")
	o.raw("seed", strconv.FormatInt(r.Workload.Seed, 10))
	meta.Detailed = false
	r.writeFigures(&reading, meta)
	o.object("reading", &reading)
	o.strings("legacy_doubts", r.legacyDoubts())
	o.integer("failed", t.Failed)
	o.integer("unknown_tokens", t.Unknown)
	o.integer("early_stops", t.EarlyStops)
	var prompt []int
	var sent, connect, e2el []float64
	for _, q := range r.Requests {
		prompt = append(prompt, q.PromptTokens)
		sent = append(sent, q.Sent.Seconds())
		connect = append(connect, q.Connect.Seconds())
		e2el = append(e2el, q.Latency.Seconds())
	}
	o.integers("server_prompt_tokens", prompt)
	o.floats("sent_s", sent)
	o.floats("connect_s", connect)
	o.floats("e2els_s", e2el)
	writeStats(&o, "first_text", r.Stats("first-text", DefaultPercentiles), DefaultPercentiles)
	writeStats(&o, "text_itl", r.Stats("text-itl", DefaultPercentiles), DefaultPercentiles)
	if r.counted() {
		writeStats(&o, "token_itl", r.Stats("token-itl", DefaultPercentiles), DefaultPercentiles)
	}
	r.writeLoad(&o, meta)
	r.writeServer(&o)
	o.raw("errors", r.errorList())
	o.object("health", r.Health.object())
	attempts := meta.Attempts
	if attempts == nil {
		attempts = []Result{r}
	}
	o.raw("attempts", attemptList(&o, attempts))
	return &o
}

func (r Result) errorList() string {
	var spelled []string
	for i, q := range r.Requests {
		if q.Error == "" || len(spelled) == maxListedErrors {
			continue
		}
		var e object
		e.integer("request", i)
		e.str("kind", q.ErrorKind)
		if q.Status != 0 {
			e.integer("status", q.Status)
		}
		if q.RetryAfter != "" {
			e.str("retry_after", q.RetryAfter)
		}
		e.str("error", q.Error)
		spelled = append(spelled, e.String())
	}
	return list(spelled)
}

func attemptList(into *object, attempts []Result) string {
	var spelled []string
	for _, a := range attempts {
		t := a.Totals(nil)
		var o object
		o.float("started_unix", unixSeconds(a.Started))
		o.float("duration", a.Duration.Seconds())
		o.raw("seed", strconv.FormatInt(a.Workload.Seed, 10))
		o.integer("completed", t.Completed)
		o.integer("failed", t.Failed)
		if t.Unknown == 0 {
			o.float("total_token_throughput", t.TokensPerSecond)
		} else {
			o.null("total_token_throughput")
		}
		o.float("median_ttft_ms", a.Stats("ttft", nil).scaled(1000).Median)
		o.float("median_tpot_ms", a.Stats("tpot", nil).scaled(1000).Median)
		o.object("health", a.Health.object())
		if into.err == nil {
			into.err = o.err
		}
		spelled = append(spelled, o.String())
	}
	return list(spelled)
}

// object spells a receipt with the keys of its JSON form.
func (h Health) object() *object {
	var o object
	o.str("verdict", h.Verdict)
	o.strings("reasons", h.Reasons)
	o.raw("read_delay_p50_ns", strconv.FormatInt(int64(h.ReadDelayP50), 10))
	o.raw("read_delay_p99_ns", strconv.FormatInt(int64(h.ReadDelayP99), 10))
	o.raw("mean_itl_ns", strconv.FormatInt(int64(h.MeanITL), 10))
	o.float("client_cpu_cores", h.ClientCPU)
	o.integer("errors", h.Errors)
	o.integer("requests", h.Requests)
	o.integer("samples", h.Samples)
	o.str("delay_source", h.DelaySource)
	o.optional("host_cpu_pressure", h.HostPressure)
	o.optional("prefix_cache_hits", h.PrefixCacheHits)
	if h.Schedule != nil {
		o.object("schedule", h.Schedule.object())
	}
	if h.Headroom != nil {
		o.object("headroom", h.Headroom.object())
	}
	if h.Client != nil {
		o.object("client", h.Client.object())
	}
	if h.Agreement != nil {
		o.object("server_agreement", h.Agreement.object())
	}
	if h.Engine != nil {
		o.object("engine", h.Engine.object())
	}
	return &o
}

// HealthOf reads the receipt out of a raw result file. A file of another
// client has none: its health is unknown.
func HealthOf(raw []byte) (Health, error) {
	var file struct {
		Refit *struct {
			Health *Health `json:"health"`
		} `json:"refit"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return Health{}, fmt.Errorf("raw result file: %w", err)
	}
	if file.Refit == nil || file.Refit.Health == nil {
		return Health{Verdict: Unknown, DelaySource: fromNobody, Reasons: []string{"measured by a client that leaves no health receipt"}}, nil
	}
	return *file.Refit.Health, nil
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func zone(z *time.Location) *time.Location {
	if z == nil {
		return time.Local
	}
	return z
}
