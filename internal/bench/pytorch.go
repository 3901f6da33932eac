package bench

import (
	"cmp"
	"fmt"
)

// pytorch is the second result file, in the format that PyTorch's benchmark
// pages take: a list of records, one for each mean, median, deviation and 99th
// percentile of TTFT, TPOT and ITL. Families and percentiles that the raw file
// leaves out are in it all the same.
func (r Result) pytorch(meta RawMeta) ([]byte, error) {
	model := cmp.Or(meta.ModelID, r.Target.Model)
	legacy := r.reference()
	totals := legacy.Totals(nil)
	var args, more object
	args.str("backend", meta.Backend)
	args.str("model", model)
	args.integer("num_prompts", len(r.Requests))
	args.integer("random_input_len", r.Workload.InputTokens)
	args.integer("random_output_len", r.Workload.OutputTokens)
	args.float("random_range_ratio", r.Workload.RangeRatio)
	args.raw("max_concurrency", r.Workload.spelledCap())
	args.raw("seed", fmt.Sprint(r.Workload.Seed))
	more.float("duration", r.Duration.Seconds())
	more.integer("completed", totals.Completed)
	more.integer("total_input_tokens", totals.InputTokens)
	more.integer("total_output_tokens", totals.OutputTokens)
	more.float("request_throughput", totals.RequestsPerSecond)
	more.float("output_throughput", totals.OutputPerSecond)
	more.float("total_token_throughput", totals.TokensPerSecond)
	var records []string
	for _, name := range []string{"ttft", "tpot", "itl"} {
		s := legacy.Stats(name, []float64{99}).scaled(1000)
		for _, v := range []struct {
			key   string
			value float64
		}{{"mean", s.Mean}, {"median", s.Median}, {"std", s.Std}, {"p99", s.Percentiles[99]}} {
			var o, bench, extra, of, metric object
			extra.object("args", &args)
			bench.str("name", "vLLM benchmark")
			bench.object("extra_info", &extra)
			of.str("name", model)
			metric.str("name", v.key+"_"+name+"_ms")
			metric.floats("benchmark_values", []float64{v.value})
			metric.object("extra_info", &more)
			o.object("benchmark", &bench)
			o.object("model", &of)
			o.object("metric", &metric)
			if o.err != nil {
				return nil, fmt.Errorf("pytorch file: %w", o.err)
			}
			records = append(records, o.String())
		}
	}
	return []byte(list(records)), nil
}
