package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestProse(t *testing.T) {
	pin := "`lab/simengine@sha256:" + strings.Repeat("a", 64) + "`"
	for _, c := range []struct {
		name, text, wrong string
	}{
		{"plain", "A sentence.", ""},
		{"pinned-image", "Use " + pin + " now.", ""},
		{"longest", strings.Repeat("长", 700), ""},
		{"too-long", strings.Repeat("长", 701), "701 characters"},
		{"empty", " ", "empty sentence"},
		{"mention", "ask @owner", `'@' is not allowed`},
		{"pin-without-ticks", "Use " + strings.Trim(pin, "`"), `'@' is not allowed`},
		{"short-digest", "Use `a/b@sha256:1234`", `'@' is not allowed`},
		{"markup", "<b>", `'<' is not allowed`},
		{"quote", "a > b", `'>' is not allowed`},
		{"pipe", "a | b", `'|' is not allowed`},
		{"two-lines", "a\nb", `'\n' is not allowed`},
		{"not-utf8", "a\xff", "not UTF-8"},
	} {
		err := Prose{EN: c.text, ZH: "好"}.Check(true)
		if (err == nil) != (c.wrong == "") || (err != nil && !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wrong)
		}
	}
	if err := (Prose{EN: "a"}).Check(true); err == nil {
		t.Error("bilingual sentence without zh passed")
	}
	if err := (Prose{EN: "a"}).Check(false); err != nil {
		t.Errorf("sentence without zh where it may be missing: %v", err)
	}
}

func goodBaseline() Baseline {
	return Baseline{Family: "configs/a-master.yaml:fam", Date: "2026-09-10", Image: "lab/simengine:v1.0.0-cpu",
		Goal: Goal("a/b:v1", "a/b:v2"), Status: Status(Proposed), Sources: []string{"http://127.0.0.1:1/api/v1/evaluations"},
		PreparedBy: Author{Kind: "program"}, Points: []Point{goodPoint(4)}, Evals: []Evaluation{goodEval()}}
}

func goodPoint(conc int) Point {
	return Point{Key: strings.Repeat("a", 62) + string([]byte{'0' + byte(conc/10), '0' + byte(conc%10)}), Label: "256/64 c" + string('0'+rune(conc)) + " TP1 EP1 aaaaaa", Conc: conc,
		Scenario: "fixed-seq-len", Result: "passed", Values: Values{OutputTPSGPU: ptr(10.0), TTFTms: ptr(5.0), TPOTms: ptr(2.0), LatencyStatistic: "mean"}}
}

func goodEval() Evaluation {
	return Evaluation{Key: strings.Repeat("b", 64), Suite: "arith200", Metric: "em_strict", Label: "c4", Score: ptr(0.9), Samples: ptr(200), Result: "passed"}
}

func goodAttempt() Attempt {
	return Attempt{Kind: "initial", Head: strings.Repeat("c", 40), Image: "a/b:v2", RunID: ptr(int64(7)), RunAttempt: ptr(1), Status: "passed",
		Change: Change("a/b:v2"), Next: Next(SmokePassed), BenchmarksExpected: 1, BenchmarksPassed: 1, EvalsExpected: 1, EvalsPassed: 1,
		Points: []Point{goodPoint(4)}, Evals: []Evaluation{goodEval()}, UpdatedAt: time.Unix(1e9, 0).UTC(), PreparedBy: Author{Kind: "program"}}
}

func TestBaselineRules(t *testing.T) {
	for _, c := range []struct {
		name, wrong string
		spoil       func(*Baseline)
	}{
		{"good", "", func(b *Baseline) {}},
		{"no-points", "", func(b *Baseline) { b.Points, b.Evals, b.Sources = nil, nil, nil }},
		{"family-with-space", "family", func(b *Baseline) { b.Family = "a b" }},
		{"date", "not YYYY-MM-DD", func(b *Baseline) { b.Date = "2026-13-01" }},
		{"private-source", "not a public API", func(b *Baseline) { b.Sources = []string{"https://u:p@x/api/v1/a"} }},
		{"file-source", "not a public API", func(b *Baseline) { b.Sources = []string{"file:///api/v1/a"} }},
		{"same-key-twice", "key is repeated", func(b *Baseline) { b.Points = append(b.Points, b.Points[0]) }},
		{"short-key", "not 64 hex", func(b *Baseline) { b.Points[0].Key = "abc" }},
		{"negative-value", "ttft-ms is not", func(b *Baseline) { b.Points[0].Values.TTFTms = ptr(-1.0) }},
		{"not-a-number", "tpot-ms is not", func(b *Baseline) { b.Points[0].Values.TPOTms = ptr(math.NaN()) }},
		{"infinite", "output-tps-gpu is not", func(b *Baseline) { b.Points[0].Values.OutputTPSGPU = ptr(math.Inf(1)) }},
		{"statistic", "latency-statistic", func(b *Baseline) { b.Points[0].Values.LatencyStatistic = "p99" }},
		{"zero-conc", "not positive", func(b *Baseline) { b.Points[0].Conc = 0 }},
		{"score-in-percent", "outside 0..1", func(b *Baseline) { b.Evals[0].Score = ptr(95.0) }},
		{"no-samples", "samples is not positive", func(b *Baseline) { b.Evals[0].Samples = ptr(0) }},
		{"eval-cancelled", "unknown result", func(b *Baseline) { b.Evals[0].Result = "cancelled" }},
		{"author", "unknown kind", func(b *Baseline) { b.PreparedBy.Kind = "robot" }},
		{"goal", "goal: en", func(b *Baseline) { b.Goal.EN = "" }},
	} {
		b := goodBaseline()
		c.spoil(&b)
		wantErr(t, c.name, b.Validate(true), c.wrong)
	}
}

func wantErr(t *testing.T, name string, err error, wrong string) {
	t.Helper()
	if (err == nil) != (wrong == "") || (err != nil && !strings.Contains(err.Error(), wrong)) {
		t.Errorf("%s: got %v, want %q", name, err, wrong)
	}
}

func TestAttemptRules(t *testing.T) {
	for _, c := range []struct {
		name, wrong string
		spoil       func(*Attempt)
	}{
		{"good", "", func(a *Attempt) {}},
		{"own-provenance", "", func(a *Attempt) {
			a.Points[0].Provenance = Provenance{ptr(int64(7)), ptr(a.Head), ptr(1)}
		}},
		{"initial-number", "is not 0", func(a *Attempt) { a.Number = 1 }},
		{"repair-over-budget", "outside 1..5", func(a *Attempt) { a.Kind, a.Number = "repair", 6 }},
		{"kind", "unknown kind", func(a *Attempt) { a.Kind = "again" }},
		{"status", "unknown status", func(a *Attempt) { a.Status = "green" }},
		{"passed-too-many", "2 benchmarks passed of 1", func(a *Attempt) { a.BenchmarksPassed = 2 }},
		{"passed-in-part", "status passed, but", func(a *Attempt) { a.EvalsPassed = 0 }},
		{"other-run", "run-id is not the attempt's", func(a *Attempt) { a.Points[0].RunID = ptr(int64(8)) }},
		{"other-head", "head is not the attempt's", func(a *Attempt) { a.Evals[0].Head = ptr(strings.Repeat("d", 40)) }},
		{"later-attempt", "later than the attempt's", func(a *Attempt) { a.Points[0].RunAttempt = ptr(2) }},
		{"run-without-attempt", "go together", func(a *Attempt) { a.RunAttempt = nil }},
		{"no-time", "updated-at is missing", func(a *Attempt) { a.UpdatedAt = time.Time{} }},
		{"finding", "finding: en", func(a *Attempt) { a.Finding = &Prose{} }},
	} {
		a := goodAttempt()
		c.spoil(&a)
		wantErr(t, c.name, a.Validate(testPolicy()), c.wrong)
	}
}

func TestStrictJSON(t *testing.T) {
	good, err := json.Marshal(goodAttempt())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseAttempt(good); err != nil {
		t.Fatalf("own JSON: %v", err)
	}
	swap := func(old, new string) []byte {
		s := strings.Replace(string(good), old, new, 1)
		if s == string(good) {
			t.Fatalf("%s is not in the record", old)
		}
		return []byte(s)
	}
	for _, c := range []struct {
		name, wrong string
		data        []byte
	}{
		{"unknown-key", `unknown key "extra"`, swap(`"kind":"initial"`, `"extra":1,"kind":"initial"`)},
		{"other-case", `unknown key "Kind"`, swap(`"kind":"initial"`, `"Kind":"initial"`)},
		{"repeated-key", "is repeated", swap(`"kind":"initial"`, `"kind":"initial","kind":"initial"`)},
		{"missing-key", `key "number" is missing`, swap(`"number":0,`, ``)},
		{"missing-inner-key", `points[0].values: key "tpot-ms" is missing`, swap(`"tpot-ms":2,`, ``)},
		{"null-list", "points: null is not allowed", swap(`"points":[`, `"points":null,"x":[`)},
		{"fraction-for-count", "number 1.5", swap(`"benchmarks-expected":1`, `"benchmarks-expected":1.5`)},
		{"text-for-number", "cannot unmarshal string", swap(`"ttft-ms":5`, `"ttft-ms":"5"`)},
		{"huge-number", "1e400", swap(`"ttft-ms":5`, `"ttft-ms":1e400`)},
		{"object-for-text", "an object is not allowed", swap(`"image":"a/b:v2"`, `"image":{}`)},
		{"trailing", "data after the record", append(good[:len(good):len(good)], "{}"...)},
		{"cut", "unexpected EOF", good[:len(good)/2]},
		{"empty", "EOF", nil},
		{"null", "null is not allowed", []byte("null")},
	} {
		_, err := ParseAttempt(c.data)
		wantErr(t, c.name, err, c.wrong)
	}
}

// The fixed sentences are fit to be published in both languages.
func TestSentences(t *testing.T) {
	pinned := "lab/simengine:v2@sha256:" + strings.Repeat("0", 64)
	all := map[string]Prose{
		"goal": Goal("lab/simengine:v1", pinned), "change": Change(pinned), "sweep": ChangeSweep(), "title": Title("laba", "v2"),
		"rename": ChangeRename(pinned, "--graph-max-batch", "--graph-max-batch-decode", "benchmarks/laba.sh"),
	}
	for _, s := range append([]string{"proposed", "baseline-frozen", "smoke-queued", "smoke-running", "smoke-passed", "smoke-failed",
		"sweep-queued", "sweep-running", "sweep-passed", "sweep-failed", "anything else"}, outcomes...) {
		all["status "+s], all["next "+s] = Status(Situation(s)), Next(Situation(s))
	}
	for name, p := range all {
		if err := p.Check(true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndings(t *testing.T) {
	r := Receipt{Candidate: "9d94bebbcc742ac8-af00168b432f68fb", Family: "configs/a-master.yaml:fam", Outcome: "validated", Phase: "final-sweep",
		PullRequest: 3, RunIDs: []int64{7, 9}, Head: strings.Repeat("a", 40), Finished: time.Unix(1e9, 0).UTC()}
	for _, c := range []struct {
		name, wrong string
		spoil       func(*Receipt)
	}{
		{"good", "", func(r *Receipt) {}},
		{"validated-without-runs", "needs phase final-sweep", func(r *Receipt) { r.RunIDs = nil }},
		{"unknown-phase", "phase unknown", func(r *Receipt) { r.Outcome, r.Phase = "failed", "unknown" }},
		{"unexpected-error", "", func(r *Receipt) { r.Outcome, r.Phase = "unexpected-error", "unknown" }},
		{"run-twice", "repeated", func(r *Receipt) { r.RunIDs = []int64{7, 7} }},
		{"reason-elsewhere", "does not belong", func(r *Receipt) { r.Reason = "baseline-other" }},
	} {
		r := r
		c.spoil(&r)
		wantErr(t, c.name, r.Validate(), c.wrong)
	}
	r.Head, r.MeasuredAt = "abc", "def" // not valid, but no reason to panic
	if page := testPolicy().ReceiptComment(r); !strings.Contains(page, "**Outcome: validated** · final-sweep · 2001-09-09 01:46 UTC") ||
		!strings.Contains(page, "[7](https://forge.example/o/r/actions/runs/7), [9]") {
		t.Errorf("receipt page:\n%s", page)
	}
	c := Cleanup{Candidate: r.Candidate, Family: r.Family, Outcome: "failed", Phase: "targeted", PullRequest: 3, Branch: "kept",
		Why: Status(FailedOutcome), Started: time.Unix(1e9, 0).UTC()}
	wantErr(t, "cleanup", c.Validate(true), "")
	if page := testPolicy().CleanupComment(c); !strings.Contains(page, "**Cleanup pending: failed** · targeted") || !strings.Contains(page, "The branch is kept.") {
		t.Errorf("cleanup page:\n%s", page)
	}
	c.Outcome, c.Branch = "validated", ""
	wantErr(t, "cleanup-of-validated", c.Validate(true), "is not cleaned up")
}
