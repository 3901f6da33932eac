package result

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"
)

// jobEnv is a complete single-node environment.
func jobEnv(extra ...string) map[string]string {
	env := map[string]string{
		"RUNNER_TYPE": "runner-a", "FRAMEWORK": "sim", "PRECISION": "fp8", "SPEC_DECODING": "none", "RESULT_FILENAME": "r",
		"ISL": "1024", "OSL": "512", "DISAGG": "false", "MODEL_PREFIX": "laba", "IMAGE": "lab/engine:v1.0.0-cpu",
		"TP": "8", "EP_SIZE": "1", "DP_ATTENTION": "false",
	}
	for i := 0; i < len(extra); i += 2 {
		env[extra[i]] = extra[i+1]
	}
	return env
}

const rawFile = `{"max_concurrency": 4, "model_id": "lab/tiny-a", "total_token_throughput": 15000.5, "output_throughput": 12000.0}`

// withKeys adds members to a small raw file.
func withKeys(members string) []byte {
	return []byte(strings.TrimSuffix(rawFile, "}") + ", " + members + "}")
}

func TestNormaliseFile(t *testing.T) {
	raw := withKeys(`"duration": 2.5, "request_goodput:": null, "input_lens": [1, 2], "mean_ttft_ms": 150.5, "mean_tpot_ms": 20, "std_tpot_ms": 0.00001`)
	got, metrics, err := Normalise(raw, jobEnv("RECIPE_FINGERPRINT", "ab", "MODEL_PREFIX", "läb\x7f"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "hw": "runner-a",
  "conc": 4,
  "image": "lab/engine:v1.0.0-cpu",
  "model": "lab/tiny-a",
  "infmax_model_prefix": "l\u00e4b\u007f",
  "framework": "sim",
  "precision": "fp8",
  "spec_decoding": "none",
  "disagg": false,
  "recipe_fingerprint": "ab",
  "isl": 1024,
  "osl": 512,
  "is_multinode": false,
  "tp": 8,
  "pp": 1,
  "dcp_size": 1,
  "pcp_size": 1,
  "ep": 1,
  "dp_attention": "false",
  "tput_per_gpu": 1875.0625,
  "output_tput_per_gpu": 1500.0,
  "input_tput_per_gpu": 375.0625,
  "mean_ttft": 0.1505,
  "mean_tpot": 0.02,
  "mean_intvty": 50.0,
  "std_tpot": 1e-08,
  "std_intvty": 99999999.99999999,
  "power_metric_schema_version": 2,
  "power_valid": 0
}`
	if string(got) != want {
		t.Errorf("aggregate file:\n%s\nwant:\n%s", got, want)
	}
	wantMetrics := map[string]float64{"pp": 1, "dcp_size": 1, "pcp_size": 1, "tput_per_gpu": 1875.0625, "output_tput_per_gpu": 1500,
		"input_tput_per_gpu": 375.0625, "mean_ttft": 0.1505, "mean_tpot": 0.02, "mean_intvty": 50, "std_tpot": 1e-8, "std_intvty": 99999999.99999999,
		"power_metric_schema_version": 2, "power_valid": 0}
	if !maps.Equal(metrics, wantMetrics) {
		t.Errorf("metrics %v, want %v", metrics, wantMetrics)
	}
}

// Cases 30, 33, 34 and 37 of the specification: a value in, a value out.
func TestNormaliseValues(t *testing.T) {
	tests := []struct {
		name, members string
		env           []string
		want          map[string]float64
		absent        []string
	}{
		{"dcp-shares-gpus", `"total_token_throughput": 8000, "output_throughput": 6000`, []string{"TP", "4", "PP_SIZE", "2", "DCP_SIZE", "2", "PCP_SIZE", "2"},
			map[string]float64{"tput_per_gpu": 500, "output_tput_per_gpu": 375, "input_tput_per_gpu": 125}, nil},
		{"ms-becomes-seconds", `"ttft_p50_ms": 150.5, "custom_metric_ms": 500`, nil,
			map[string]float64{"ttft_p50": 0.1505, "custom_metric": 0.5}, nil},
		{"tpot-has-interactivity", `"tpot_p99_ms": 45, "median_tpot_ms": 19, "p99.9_tpot_ms": 50`, nil,
			map[string]float64{"tpot_p99": 0.045, "intvty_p99": 22.22222222222222, "median_intvty": 52.63157894736842, "p99.9_intvty": 20}, nil},
		{"zero-tpot-has-none", `"std_tpot_ms": 0`, nil, map[string]float64{"std_tpot": 0}, []string{"std_intvty"}},
		{"out-of-range-left-out", `"mean_ttft_ms": 1e999`, nil, nil, []string{"mean_ttft"}},
		{"key-twice-last-value", `"mean_ttft_ms": 1, "mean_ttft_ms": 2`, nil, map[string]float64{"mean_ttft": 0.002}, nil},
		{"goodput-and-lists-stay-out", `"request_goodput:": 3.0, "output_lens": [3]`, nil, nil, []string{"request_goodput:", "output_lens"}},
		{"disagg-FALSE", `"mean_ttft_ms": 1`, []string{"DISAGG", "FALSE"}, map[string]float64{"mean_ttft": 0.001}, nil},
		{"router-null", `"mean_ttft_ms": 1`, []string{"ROUTER_METADATA", "null"}, map[string]float64{"mean_ttft": 0.001}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, err := Normalise(withKeys(tt.members), jobEnv(tt.env...))
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range tt.want {
				if math.Abs(got[name]-want) > 1e-12*math.Abs(want) {
					t.Errorf("%s = %v, want %v", name, got[name], want)
				}
			}
			for _, name := range tt.absent {
				if v, ok := got[name]; ok {
					t.Errorf("%s = %v, want it absent", name, v)
				}
			}
		})
	}
}

// Cases 35 and 36 of the specification, and other refusals.
func TestNormaliseRefuses(t *testing.T) {
	tests := []struct {
		name, raw string
		env       []string
		unset     []string
		want      string
	}{
		{"disagg-single", rawFile, []string{"DISAGG", "True"}, nil, "DISAGG true on a single node"},
		{"multinode", rawFile, []string{"IS_MULTINODE", "TRUE"}, nil, "only single-node"},
		{"no-image", rawFile, nil, []string{"IMAGE"}, "missing environment: IMAGE"},
		{"declared-order", rawFile, nil, []string{"TP", "IMAGE", "ISL"}, "missing environment: ISL, IMAGE, TP"},
		{"empty-isl", rawFile, []string{"ISL", ""}, nil, `ISL "": not an integer`},
		{"one-hardware-name", rawFile, []string{"PREFILL_HARDWARE", "x"}, nil, "both or neither"},
		{"pp-zero", rawFile, []string{"PP_SIZE", "0"}, nil, "PP_SIZE 0: must be positive"},
		{"router-without-version", rawFile, []string{"ROUTER_METADATA", `{"name":"r"}`}, nil, "ROUTER_METADATA"},
		{"router-extra-key", rawFile, []string{"ROUTER_METADATA", `{"name":"r","version":"1","x":1}`}, nil, "ROUTER_METADATA"},
		{"router-empty-version", rawFile, []string{"ROUTER_METADATA", `{"name":"r","version":""}`}, nil, "ROUTER_METADATA"},
		{"text-under-ms", string(withKeys(`"params": "x"`)), nil, nil, "raw file: params: not a number"},
		{"outcome-disagrees", string(withKeys(`"benchmark_outcome": {"status": "passed", "requested": 20, "completed": 18}`)), nil, nil, "18 of 20 requests make it \"failed\""},
		{"outcome-other-counts", string(withKeys(`"num_prompts": 30, "benchmark_outcome": {"status": "passed", "requested": 20, "completed": 19}`)), nil, nil, "num_prompts 20, the file says 30"},
		{"outcome-no-counts", string(withKeys(`"benchmark_outcome": {"status": "passed"}`)), nil, nil, "without usable counts"},
		{"no-concurrency", `{"model_id": "m"}`, nil, nil, "max_concurrency is missing"},
		{"nan", string(withKeys(`"mean_ttft_ms": NaN`)), nil, nil, "raw file"},
		{"no-object", `[]`, nil, nil, "not a JSON object"},
		{"deep", strings.Repeat("[", 100_000), nil, nil, "nested too deep"},
		{"cut", rawFile[:40], nil, nil, "raw file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := jobEnv(tt.env...)
			for _, name := range tt.unset {
				delete(env, name)
			}
			_, _, err := Normalise([]byte(tt.raw), env)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// One of twenty failed is exactly the limit and passes.
func TestNormaliseOutcome(t *testing.T) {
	for _, outcome := range []string{`{"status": "passed", "requested": 20, "completed": 19, "failed": 1, "max_failure_rate": 0.05}`,
		`{"status": "failed", "requested": 20, "completed": 18}`, `{"status": "failed", "error": "x"}`} {
		got, _, err := Normalise(withKeys(`"benchmark_outcome": `+outcome), jobEnv())
		if err != nil {
			t.Errorf("%s: %v", outcome, err)
		}
		if want := "\"osl\": 512,\n  \"benchmark_outcome\": {\n    \"status\""; !strings.Contains(string(got), want) {
			t.Errorf("%s: not behind osl:\n%s", outcome, got)
		}
	}
}

// Whatever comes in, what comes out is an error or JSON.
func FuzzNormalise(f *testing.F) {
	f.Add([]byte(rawFile), "8")
	f.Add(withKeys(`"mean_tpot_ms": 1e-320, "x\u0000ms": -1, "benchmark_outcome": {"status": "failed"}`), "1")
	f.Add([]byte(`{"a":`), "-9223372036854775808")
	f.Fuzz(func(t *testing.T, raw []byte, tp string) {
		got, metrics, err := Normalise(raw, jobEnv("TP", tp))
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Errorf("not JSON: %s", got)
		}
		for name, v := range metrics {
			if !finite(v) {
				t.Errorf("%s = %v", name, v)
			}
		}
	})
}

func TestNormaliseRouter(t *testing.T) {
	got, _, err := Normalise([]byte(rawFile), jobEnv("ROUTER_METADATA", `{"version":"1","name":"r"}`, "KV_P2P_TRANSFER", "nixl"))
	if err != nil {
		t.Fatal(err)
	}
	want := "  \"osl\": 512,\n  \"router\": {\n    \"name\": \"r\",\n    \"version\": \"1\"\n  },\n  \"kv_p2p_transfer\": \"nixl\",\n  \"is_multinode\": false,"
	if !strings.Contains(string(got), want) {
		t.Errorf("aggregate file:\n%s\nwant in it:\n%s", got, want)
	}
}

// The number spelling of section 0.
func TestNumberSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "1.0": "1.0", "1e-5": "1e-05", "0.0001": "0.0001", "1e16": "1e+16", "1e15": "1000000000000000.0",
		"-2.50": "-2.5", "12345678901234567890": "12345678901234567890", "1E2": "100.0", "0.0": "0.0", "-0.0": "-0.0",
	} {
		v, err := decodeOrdered([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := encodeIndented(v)
		if err != nil || string(got) != want {
			t.Errorf("%s is written %s (%v), want %s", in, got, err, want)
		}
	}
	got, err := encodeIndented(object{{"a", []any{}}, {"b", object{}}, {"c<>&\"\\\n\x01😀", nil}})
	want := "{\n  \"a\": [],\n  \"b\": {},\n  \"c<>&\\\"\\\\\\n\\u0001\\ud83d\\ude00\": null\n}"
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
