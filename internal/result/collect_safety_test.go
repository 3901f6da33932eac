package result

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/result/api"
)

// What is collected from anybody's files is JSON, a row for each task.
func FuzzCollectEvals(f *testing.F) {
	f.Add([]byte(metaWith("")), harnessFile("0.5"))
	f.Add([]byte(metaWith(`, "eval_concs": [4]`)), harnessFile("1e400"))
	f.Add([]byte(`{"tp":"8","tp":[1]}`), []byte(`{"lm_eval_version":1,"results":{"a":{"acc":1e999},"a":7,"b":null},"configs":{"a":{"filter_list":[{"name":""}],"metric_list":[{}]}}}`))
	f.Add([]byte(`null`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, meta, doc []byte) {
		out, err := CollectEvals(map[string][]byte{"a/meta_env.json": meta, "a/results_2026-01-01T00-00-00_conc4.json": doc, "a/other.json": []byte("{")})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "collect evals: a/results_") {
				t.Errorf("CollectEvals: got %v", err)
			}
			return
		}
		var rows []map[string]json.RawMessage
		if err := json.Unmarshal(out, &rows); err != nil {
			t.Fatalf("CollectEvals(%q, %q): %v", meta, doc, err)
		}
		for _, row := range rows {
			if _, ok := row["task"]; !ok || len(row["score_name"]) == 0 {
				t.Errorf("CollectEvals(%q, %q): got row %s", meta, doc, row)
			}
		}
	})
}

// A file is collected as it is: collecting it again changes nothing.
func FuzzCollectBenchmarks(f *testing.F) {
	for _, s := range []string{`{"a":1.50,"b":[1e2,-0,"\u00e9"],"a":2}`, `[]`, `1e400`, `{"":{"x":null}}`, `"\ud800"`, `{}{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := CollectBenchmarks(map[string][]byte{"a/x.json": src, "b.txt": []byte("no")})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "collect benchmarks: a/x.json: ") {
				t.Errorf("CollectBenchmarks: got %v", err)
			}
			return
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(out, &rows); err != nil || len(rows) != 1 {
			t.Fatalf("CollectBenchmarks(%q) = %s: %v", src, out, err)
		}
		again, err := CollectBenchmarks(map[string][]byte{"x.json": rows[0]})
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("CollectBenchmarks(%s) = %s, %v, want %s", rows[0], again, err, out)
		}
	})
}

func FuzzParseRunURL(f *testing.F) {
	for _, s := range []string{"https://forge.example/o/r/actions/runs/7", "https://forge.example/o/r/actions/runs/7/attempts/2", "/actions/runs/99999999999999999999", "/actions/runs/0", "/actions/runs/7/attempts/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		run, attempt, ok := api.ParseRunURL(address)
		if !ok {
			if run != 0 || attempt != 0 {
				t.Errorf("ParseRunURL(%q): got %d, %d without ok", address, run, attempt)
			}
			return
		}
		if run <= 0 || attempt < 0 {
			t.Errorf("ParseRunURL(%q): got %d, %d", address, run, attempt)
		}
		base, _, _ := strings.Cut(address, "/attempts/")
		if again, n, ok := api.ParseRunURL(api.RunURL(base, 3)); !ok || again != run || n != 3 {
			t.Errorf("ParseRunURL(RunURL(%q, 3)): got %d, %d, %v", base, again, n, ok)
		}
	})
}

// The two files that a run is judged by have one reading.
func TestRowsAndManifestsAreStrict(t *testing.T) {
	const manifest = `{"version":1,"run-id":7,"run-attempt":1,"head":"cccccccccccccccccccccccccccccccccccccccc","mode":"full","families":[]}`
	for name, change := range map[string][2]string{
		"run twice": {`"run-id":7`, `"run-id":7,"run-id":8`}, "other case": {`"mode"`, `"Mode"`}, "both cases": {`"mode":"full"`, `"mode":"full","MODE":"smoke"`},
		"unknown": {`"mode"`, `"x":1,"mode"`}, "text behind": {`[]}`, `[]}x`}, "second value": {`[]}`, `[]}{}`},
	} {
		if m, err := ParseManifest([]byte(strings.Replace(manifest, change[0], change[1], 1))); err == nil {
			t.Errorf("manifest, %s: got %+v, want an error", name, m)
		}
	}
	for _, line := range []string{`{"kind":"row","kind":"row","row":{}}`, `{"Kind":"row","row":{}}`, `{"kind":"row","row":{"result":"failed","result":"passed"}}`, `{"kind":"eval","eval":{"Score":1}}`} {
		if _, err := ReadLines(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), "line 1: ") || !strings.Contains(err.Error(), "key ") {
			t.Errorf("ReadLines(%s): got %v, want an error that names a key", line, err)
		}
	}
}
