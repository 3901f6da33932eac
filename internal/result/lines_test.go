package result

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/matrix"
)

var (
	key1    = strings.Repeat("1", 64)
	key2    = strings.Repeat("2", 64)
	head    = strings.Repeat("c", 40)
	digest1 = "sha256:" + strings.Repeat("d", 64)
)

func planRow(t *testing.T) matrix.Row {
	t.Helper()
	var row matrix.Row
	if err := json.Unmarshal([]byte(`{"image":"lab/engine:v1.0.0-cpu","model":"lab/tiny-a","model-prefix":"laba","precision":"fp8","framework":"sim","spec-decoding":"none","runner":"cpu","isl":256,"osl":64,"tp":1,"pp":1,"dcp-size":1,"pcp-size":1,"ep":1,"dp-attn":false,"conc":4,"disagg":false}`), &row); err != nil {
		t.Fatal(err)
	}
	return row
}

func goodRow(t *testing.T) Row {
	at := time.Date(2026, 9, 10, 6, 12, 31, 5, time.UTC)
	return Row{Family: "configs/x-master.yaml:f", Key: key1, Fingerprint: key2, Image: "lab/engine:v1.0.0-cpu", Digest: digest1, Label: "256/64 c4 TP1 EP1 111111",
		Conc: 4, ISL: 256, OSL: 64, Scenario: matrix.Fixed, Result: Passed, Metrics: map[string]float64{"tput_per_gpu": 12.5, "mean_tpot": 0.01853},
		Requests: 40, RequestErrors: ptr(0), Health: bench.Health{Verdict: bench.Healthy, Reasons: []string{}}, Agg: json.RawMessage(`{"conc":4}`), Plan: planRow(t),
		Provenance: Provenance{RunID: 7, Attempt: 1, Head: head, Branch: "main", Client: "refit", Started: at, Ended: at.Add(time.Second)}}
}

func goodEval(t *testing.T) EvalRow {
	return EvalRow{Family: "configs/x-master.yaml:f", Key: key1, Fingerprint: key2, Image: "lab/engine:v1.0.0-cpu", Digest: digest1, Label: "256/64 c4 TP1 EP1 111111",
		Conc: 4, Suite: "gsm8k", Metric: StrictMetric, Score: ptr(0.5), StdErr: ptr(0.5), Samples: 2, Result: Passed, Plan: planRow(t),
		Answers:    []eval.Answer{{DocID: 0, QuestionDigest: key1, Target: "1", Response: "<b>#### 1", Filtered: "1", Correct: true}, {DocID: 1, QuestionDigest: key2, Target: "2"}},
		Provenance: Provenance{RunID: 7, Attempt: 1, Head: head}}
}

func TestLinesRoundTrip(t *testing.T) {
	row, e := goodRow(t), goodEval(t)
	want := []Line{{Kind: KindRow, Row: &row}, {Kind: KindEval, Eval: &e}}
	var buf bytes.Buffer
	if err := WriteLines(&buf, want); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(buf.Bytes(), []byte("\n")); n != 2 {
		t.Errorf("%d lines, want 2", n)
	}
	got, err := ReadLines(bytes.NewReader(buf.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(matrix.Row{}), cmp.Comparer(func(a, b matrix.Row) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return bytes.Equal(x, y)
	})); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
	if got, err := ReadLines(strings.NewReader("")); err != nil || len(got) != 0 {
		t.Errorf("empty file: %v (%v)", got, err)
	}
}

func TestWriteLinesRefuses(t *testing.T) {
	for name, change := range map[string]func(*Row){
		"infinite":     func(r *Row) { r.Metrics["x"] = math.Inf(1) },
		"nan":          func(r *Row) { r.Metrics["x"] = math.NaN() },
		"no-family":    func(r *Row) { r.Family = "" },
		"bad-key":      func(r *Row) { r.Key = "k" },
		"bad-digest":   func(r *Row) { r.Digest = "sha256:1" },
		"bad-result":   func(r *Row) { r.Result = "ok" },
		"bad-scenario": func(r *Row) { r.Scenario = "" },
		"no-conc":      func(r *Row) { r.Conc = 0 },
		"bad-head":     func(r *Row) { r.Provenance.Head = "main" },
	} {
		row := goodRow(t)
		change(&row)
		var buf bytes.Buffer
		if err := WriteLines(&buf, []Line{{Kind: KindRow, Row: &row}}); err == nil || buf.Len() != 0 {
			t.Errorf("%s: error %v and %d bytes, want an error and nothing written", name, err, buf.Len())
		}
	}
}

func TestReadLinesRefuses(t *testing.T) {
	row := goodRow(t)
	var buf bytes.Buffer
	if err := WriteLines(&buf, []Line{{Kind: KindRow, Row: &row}}); err != nil {
		t.Fatal(err)
	}
	good := strings.TrimSuffix(buf.String(), "\n")
	for name, tt := range map[string]struct{ text, want string }{
		"unknown-key":   {strings.Replace(good, `"kind"`, `"x":1,"kind"`, 1), "line 1"},
		"wrong-kind":    {strings.Replace(good, `"kind":"row"`, `"kind":"eval"`, 1), "does not fit"},
		"infinite":      {strings.Replace(good, "12.5", "1e999", 1), "line 1"},
		"nan":           {strings.Replace(good, "12.5", "NaN", 1), "line 1"},
		"second-line":   {good + "\n{}", "line 2"},
		"blank-line":    {good + "\n\n" + good, "line 2"},
		"two-on-a-line": {good + good, "more than one JSON value"},
		"cut":           {good[:len(good)/2], "line 1"},
	} {
		if _, err := ReadLines(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func goodManifest() Manifest {
	point := ManifestPoint{Key: key1, Fingerprint: key2, Conc: 4, Label: "256/64 c4 TP1 EP1 111111"}
	return Manifest{Version: ManifestVersion, RunID: 7, Attempt: 1, Head: head, Mode: ModePush, Families: []ManifestFamily{
		{Family: "configs/x-master.yaml:f", Image: "lab/engine:v1.0.0-cpu", Digest: digest1, Points: []ManifestPoint{point}, Evals: []ManifestPoint{point}}}}
}

func artifacts(t *testing.T, m Manifest, lines ...Line) map[string]map[string][]byte {
	t.Helper()
	src, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := WriteLines(&buf, lines); err != nil {
		t.Fatal(err)
	}
	return map[string]map[string][]byte{ManifestArtifact: {ManifestFile: src}, RowsArtifact: {RowsFile: buf.Bytes()}}
}

func TestReadRun(t *testing.T) {
	row, e := goodRow(t), goodEval(t)
	run, err := ReadRun(artifacts(t, goodManifest(), Line{Kind: KindRow, Row: &row}, Line{Kind: KindEval, Eval: &e}))
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Rows) != 1 || len(run.Evals) != 1 || run.Manifest.RunID != 7 || len(run.Evals[0].Answers) != 2 {
		t.Errorf("run %+v", run)
	}
	if v := run.Rows[0].Values(); *v.TPOTms != 18.53 || v.TTFTms != nil {
		t.Errorf("values %+v, want tpot 18.53 and no ttft", v)
	}
	if run, err := ReadRun(artifacts(t, goodManifest())); err != nil || len(run.Rows) != 0 {
		t.Errorf("a run without rows: %v (%v)", run.Rows, err)
	}
}

func TestReadRunRefuses(t *testing.T) {
	row, e := goodRow(t), goodEval(t)
	line, evalLine := Line{Kind: KindRow, Row: &row}, Line{Kind: KindEval, Eval: &e}
	check := func(name, want string, change func(*Manifest), lines ...Line) {
		t.Helper()
		m := goodManifest()
		change(&m)
		if _, err := ReadRun(artifacts(t, m, lines...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	none := func(*Manifest) {}
	check("row-twice", "measured twice", none, line, line)
	check("eval-twice", "scored twice", none, evalLine, evalLine)
	check("not-expected", "does not expect", func(m *Manifest) { m.Families[0].Points = nil }, line)
	check("other-family", "does not name the family", func(m *Manifest) { m.Families = nil }, line)
	check("other-run", "manifest is of run 8", func(m *Manifest) { m.RunID = 8 }, line)
	check("version", "version 2", func(m *Manifest) { m.Version = 2 })
	check("mode", `unknown mode "x"`, func(m *Manifest) { m.Mode = "x" })
	check("family-twice", "named twice", func(m *Manifest) { m.Families = append(m.Families, m.Families[0]) })
	if _, err := ReadRun(nil); err == nil || !strings.Contains(err.Error(), "no refit-manifest/manifest.json") {
		t.Errorf("no artifacts: %v", err)
	}
}

// Whatever comes in, what was accepted can be written again.
func FuzzReadLines(f *testing.F) {
	f.Add([]byte(`{"kind":"row"}`))
	f.Add([]byte(`{"kind":"eval","eval":{"family":"f","image":"i","key":"` + key1 + `","suite":"s","metric":"m","result":"passed","plan":{"a":[{}]}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		lines, err := ReadLines(bytes.NewReader(src))
		if err != nil {
			return
		}
		if err := WriteLines(io.Discard, lines); err != nil {
			t.Errorf("accepted but not writable: %v", err)
		}
	})
}
