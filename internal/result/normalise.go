package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What the environment of a job must say. An empty value counts as present.
var (
	requiredEnv = []string{"RUNNER_TYPE", "FRAMEWORK", "PRECISION", "SPEC_DECODING", "RESULT_FILENAME",
		"ISL", "OSL", "DISAGG", "MODEL_PREFIX", "IMAGE"}
	requiredSingle = []string{"TP", "EP_SIZE", "DP_ATTENTION"}
)

// Normalise turns the raw result file of a load client and the environment of
// its single-node job into the aggregate file and its numeric metrics (seconds,
// tokens per second). The file keeps the published key order and number
// spelling. A TPOT statistic that is zero has no interactivity; a value that is
// not finite is left out. An outcome "failed" is copied: the point is the
// caller's to mark. Of a file with two readings of the streams, all figures are
// those of refit's own.
func Normalise(raw []byte, env map[string]string) ([]byte, map[string]float64, error) {
	in, err := oneReading(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("normalise: %w", err)
	}
	if err := checkEnv(env); err != nil {
		return nil, nil, fmt.Errorf("normalise: %w", err)
	}
	out := object{}
	for _, part := range []func(*object, object, map[string]string) error{
		addIdentity, addRouter, addTopology, addStatistics,
	} {
		if err := part(&out, in, env); err != nil {
			return nil, nil, fmt.Errorf("normalise: %w", err)
		}
	}
	out.set("power_metric_schema_version", 2)
	out.set("power_valid", 0) // no telemetry was handed over
	text, err := encodeIndented(out)
	if err != nil {
		return nil, nil, fmt.Errorf("normalise: %w", err)
	}
	return text, metricsOf(out), nil
}

func checkEnv(env map[string]string) error {
	if isTrue(env["IS_MULTINODE"]) {
		return errors.New("IS_MULTINODE true: only single-node results are normalised")
	}
	var missing []string
	for _, name := range append(append([]string{}, requiredEnv...), requiredSingle...) {
		if _, ok := env[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing environment: %s", strings.Join(missing, ", "))
	}
	if isTrue(env["DISAGG"]) {
		return errors.New("DISAGG true on a single node")
	}
	if (env["PREFILL_HARDWARE"] == "") != (env["DECODE_HARDWARE"] == "") {
		return errors.New("PREFILL_HARDWARE and DECODE_HARDWARE: both or neither")
	}
	return nil
}

func isTrue(s string) bool { return strings.EqualFold(s, "true") }

func addIdentity(out *object, in object, env map[string]string) error {
	conc, err := rawNumber(in, "max_concurrency")
	if err != nil {
		return err
	}
	isl, err := envInt(env, "ISL")
	if err != nil {
		return err
	}
	osl, err := envInt(env, "OSL")
	if err != nil {
		return err
	}
	model, ok := in.get("model_id")
	if _, text := model.(string); !ok || !text {
		return errors.New("raw file: model_id is not a text")
	}
	*out = append(*out, object{
		{"hw", env["RUNNER_TYPE"]}, {"conc", int(conc)}, {"image", env["IMAGE"]}, {"model", model},
		{"infmax_model_prefix", env["MODEL_PREFIX"]}, {"framework", env["FRAMEWORK"]}, {"precision", env["PRECISION"]},
		{"spec_decoding", env["SPEC_DECODING"]}, {"disagg", false}, {"recipe_fingerprint", env["RECIPE_FINGERPRINT"]},
		{"isl", isl}, {"osl", osl},
	}...)
	outcome, ok := in.get("benchmark_outcome")
	if !ok {
		return nil
	}
	if err := checkOutcome(in, outcome); err != nil {
		return fmt.Errorf("raw file: benchmark_outcome: %w", err)
	}
	out.set("benchmark_outcome", outcome)
	return nil
}

// maxFailureRate is the share of failed requests above which a point failed.
const maxFailureRate = 0.05

// checkOutcome refuses an outcome that its own counts or the file's contradict.
func checkOutcome(in object, outcome any) error {
	o, ok := outcome.(object)
	if !ok {
		return errors.New("not an object")
	}
	status := o.str("status")
	requested, err1 := rawNumber(o, "requested")
	completed, err2 := rawNumber(o, "completed")
	if err1 != nil || err2 != nil || requested <= 0 || completed < 0 || completed > requested {
		if status != "failed" {
			return fmt.Errorf("status %q without usable counts", status)
		}
		return nil
	}
	want := "passed"
	if completed == 0 || (requested-completed)/requested > maxFailureRate {
		want = "failed"
	}
	if status != want {
		return fmt.Errorf("status %q, %v of %v requests make it %q", status, completed, requested, want)
	}
	for key, n := range map[string]float64{"completed": completed, "num_prompts": requested} {
		if top, err := rawNumber(in, key); err == nil && top != n {
			return fmt.Errorf("%s %v, the file says %v", key, n, top)
		}
	}
	return nil
}

func addRouter(out *object, _ object, env map[string]string) error {
	if text := env["ROUTER_METADATA"]; text != "" && text != "null" {
		o, err := decodeObject([]byte(text))
		if err != nil {
			return fmt.Errorf("ROUTER_METADATA: %w", err)
		}
		if len(o) != 2 || o.str("name") == "" || o.str("version") == "" {
			return errors.New("ROUTER_METADATA: want exactly a non-empty name and version")
		}
		out.set("router", object{{"name", o.str("name")}, {"version", o.str("version")}})
	}
	if transfer := env["KV_P2P_TRANSFER"]; transfer != "" {
		out.set("kv_p2p_transfer", transfer)
	}
	return nil
}

// addTopology divides by the GPUs of one engine: TP x PP x PCP. DCP and EP
// share those devices.
func addTopology(out *object, in object, env map[string]string) error {
	total, err := rawNumber(in, "total_token_throughput")
	if err != nil {
		return err
	}
	output, err := rawNumber(in, "output_throughput")
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, name := range []string{"TP", "PP_SIZE", "DCP_SIZE", "PCP_SIZE", "EP_SIZE"} {
		if _, ok := env[name]; !ok {
			sizes[name] = 1
			continue
		}
		if sizes[name], err = envInt(env, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"TP", "PP_SIZE", "DCP_SIZE", "PCP_SIZE"} {
		if sizes[name] <= 0 {
			return fmt.Errorf("%s %d: must be positive", name, sizes[name])
		}
	}
	gpus := float64(sizes["TP"] * sizes["PP_SIZE"] * sizes["PCP_SIZE"])
	*out = append(*out, object{
		{"is_multinode", false}, {"tp", sizes["TP"]}, {"pp", sizes["PP_SIZE"]}, {"dcp_size", sizes["DCP_SIZE"]},
		{"pcp_size", sizes["PCP_SIZE"]}, {"ep", sizes["EP_SIZE"]}, {"dp_attention", env["DP_ATTENTION"]},
		{"tput_per_gpu", total / gpus}, {"output_tput_per_gpu", output / gpus}, {"input_tput_per_gpu", (total - output) / gpus},
	}...)
	return nil
}

// addStatistics converts milliseconds to seconds and adds the interactivity of
// every TPOT statistic, in the order of the raw file.
func addStatistics(out *object, in object, _ map[string]string) error {
	for _, m := range in {
		ms, tpot := strings.HasSuffix(m.key, "ms"), strings.Contains(m.key, "tpot")
		if !ms && !tpot {
			continue
		}
		v, ok, err := number(m.value)
		if err != nil {
			return fmt.Errorf("raw file: %s: %w", m.key, err)
		}
		if !ok {
			continue
		}
		name := strings.ReplaceAll(m.key, "_ms", "")
		if ms {
			out.set(name, v/1000)
		}
		if tpot && v > 0 {
			out.set(strings.ReplaceAll(name, "tpot", "intvty"), 1000/v)
		}
	}
	return nil
}

func rawNumber(in object, key string) (float64, error) {
	v, ok := in.get(key)
	if !ok {
		return 0, fmt.Errorf("raw file: %s is missing", key)
	}
	f, ok, err := number(v)
	if err != nil || !ok {
		return 0, fmt.Errorf("raw file: %s is not a finite number", key)
	}
	return f, nil
}

// number reads a JSON number; false when it is out of range.
func number(v any) (float64, bool, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false, errors.New("not a number")
	}
	f, err := n.Float64()
	return f, err == nil && finite(f), nil
}

func envInt(env map[string]string, name string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(env[name]))
	if err != nil {
		return 0, fmt.Errorf("%s %q: not an integer", name, env[name])
	}
	return n, nil
}

// routing are the aggregate's keys that identify a row and never become metrics.
var routing = map[string]bool{
	"hw": true, "conc": true, "users": true, "isl": true, "osl": true, "tp": true, "ep": true,
	"num_gpus": true, "num_prefill_gpu": true, "num_decode_gpu": true, "num_aggregate_gpu": true,
	"num_requests_total": true, "num_requests_successful": true, "result_schema_version": true,
}

func metricsOf(o object) map[string]float64 {
	metrics := map[string]float64{}
	for _, m := range o {
		if routing[m.key] {
			continue
		}
		switch v := m.value.(type) {
		case float64:
			if finite(v) {
				metrics[m.key] = v
			}
		case int:
			metrics[m.key] = float64(v)
		}
	}
	return metrics
}
