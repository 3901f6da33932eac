package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCollectBenchmarks(t *testing.T) {
	got, err := CollectBenchmarks(map[string][]byte{
		"bmk_b/agg_b.json": []byte(`{"conc": 8, "x": 1e-7}`), "bmk_a/agg_a.json": []byte(`[{"conc": 4}]`), "bmk_a/note.txt": []byte("no"),
	})
	want := "[\n  [\n    {\n      \"conc\": 4\n    }\n  ],\n  {\n    \"conc\": 8,\n    \"x\": 1e-07\n  }\n]"
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if got, err := CollectBenchmarks(nil); err != nil || string(got) != "[]" {
		t.Errorf("nothing collected: %s (%v), want []", got, err)
	}
	if _, err := CollectBenchmarks(map[string][]byte{"a/b.json": []byte("{")}); err == nil || !strings.Contains(err.Error(), "a/b.json") {
		t.Errorf("bad file: error %v, want one naming a/b.json", err)
	}
}

const metaEnv = `{"is_multinode": false, "framework": "SIM", "precision": "FP8", "spec_decoding": "none", "recipe_fingerprint": "",
"tp": 8, "conc": 16, "ep": 1, "dp_attention": false, "model": "lab/tiny-a", "infmax_model_prefix": "laba", "hw": "h100", "isl": "1024", "osl": "x"%s}`

func metaWith(extra string) []byte { return []byte(strings.Replace(metaEnv, "%s", extra, 1)) }

func harnessFile(score string) []byte {
	return []byte(`{"results": {"gsm8k": {"alias": "gsm8k", "exact_match,strict-match": ` + score + `, "exact_match_stderr,strict-match": 0.006,
"exact_match,flexible-extract": 0.95, "exact_match_stderr,flexible-extract": "N/A"}},
"configs": {"gsm8k": {"metric_list": [{"metric": "exact_match"}], "filter_list": [{"name": "strict-match"}, {"name": "flexible-extract"}]}},
"n-samples": {"gsm8k": {"original": 200, "effective": 200}}, "lm_eval_version": "0.4.9.2", "model_name": ""}`)
}

func collected(t *testing.T, files map[string][]byte) []map[string]any {
	t.Helper()
	src, err := CollectEvals(files)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(src, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Cases 49 and 50: fallbacks of one set, and the newest of its result files.
func TestCollectEvals(t *testing.T) {
	src, err := CollectEvals(map[string][]byte{
		"eval_a/meta_env.json":                           metaWith(""),
		"eval_a/results_2026-09-10T06-12-31.000100.json": harnessFile("0.5"),
		"eval_a/results_2026-09-11T06-12-31.json":        harnessFile("0.949"),
		"eval_a/broken.json":                             []byte("{"),
		"eval_a/other.json":                              []byte(`{"results": {}}`),
		"deep/er/meta_env.json":                          metaWith(""),
	})
	want := `[
  {
    "is_multinode": false,
    "model_prefix": "laba",
    "model": "lab/tiny-a",
    "hw": "H100",
    "framework": "sim",
    "precision": "fp8",
    "spec_decoding": "none",
    "isl": 1024,
    "osl": 0,
    "tp": 8,
    "ep": 1,
    "prefill_tp": 8,
    "prefill_ep": 1,
    "prefill_num_workers": 1,
    "decode_tp": 8,
    "decode_ep": 1,
    "decode_num_workers": 1,
    "conc": 16,
    "dp_attention": "false",
    "prefill_dp_attention": "false",
    "decode_dp_attention": "false",
    "task": "gsm8k",
    "em_strict": 0.949,
    "em_strict_se": 0.006,
    "em_flexible": 0.95,
    "em_flexible_se": "N/A",
    "n_eff": 200,
    "source": "eval_a/results_2026-09-11T06-12-31.json",
    "score": 0.949,
    "score_name": "em_strict",
    "score_se": 0.006
  }
]`
	if err != nil || string(src) != want {
		t.Errorf("aggregate (%v): %s", err, cmp.Diff(want, string(src)))
	}
	rows := collected(t, map[string][]byte{"e/meta_env.json": metaWith(`, "eval_concs": [4, 16], "completed_eval_concs": [4]`),
		"e/results_x_conc4.json": harnessFile("0.9"), "e/results_x_conc16.json": harnessFile("0.8"), "e/results_x.json": harnessFile("0.7")})
	if len(rows) != 1 || rows[0]["conc"] != 4.0 || rows[0]["em_strict"] != 0.9 {
		t.Errorf("batched set: %v, want one row, conc 4", rows)
	}
	if rows := collected(t, nil); len(rows) != 0 {
		t.Errorf("nothing: %v", rows)
	}
	noModel := map[string][]byte{"e/meta_env.json": []byte(`{}`), "e/r.json": harnessFile("0.9")}
	if row := collected(t, noModel)[0]; row["model"] != "unknown" || row["hw"] != "unknown" || row["conc"] != 0.0 {
		t.Errorf("empty meta: %v", row)
	}
}

// Case 51: unequal roles, and a task with a flexible value alone.
func TestCollectEvalsRoles(t *testing.T) {
	only := `{"results": {"t": {"exact_match,flexible-extract": 0.5}}, "configs": {"t": {"filter_list": [{"name": "flexible-extract"}]}}, "lm_eval_version": "1"}`
	row := collected(t, map[string][]byte{
		"meta_env.json": []byte(`{"is_multinode": "TRUE", "prefill_dp_attention": true, "decode_dp_attention": "False", "prefill_tp": 4, "prefill_ep": "2"}`),
		"results.json":  []byte(only),
	})[0]
	for key, want := range map[string]any{"dp_attention": "prefill=true,decode=false", "tp": 4.0, "ep": 2.0, "decode_tp": 4.0,
		"em_flexible": 0.5, "em_strict": nil, "score": nil, "n_eff": nil, "is_multinode": true} {
		if row[key] != want {
			t.Errorf("%s = %v, want %v", key, row[key], want)
		}
	}
}
