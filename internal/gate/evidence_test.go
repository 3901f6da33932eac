package gate

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
)

func TestManifest(t *testing.T) {
	head := strings.Repeat("a", 40)
	for _, c := range []struct {
		name   string
		spoil  func(*result.Manifest)
		want   Answer
		reason string
	}{
		{"of-this-attempt", func(*result.Manifest) {}, Pass, "of run 7 attempt 2 at aaaaaaaaaaaa"},
		{"of-an-earlier-attempt", func(m *result.Manifest) { m.Attempt = 1 }, Fail, "it is of attempt 1, run 7 is at attempt 2"},
		{"of-a-later-attempt", func(m *result.Manifest) { m.Attempt = 3 }, Fail, "it is of attempt 3"},
		{"of-another-run", func(m *result.Manifest) { m.RunID = 8 }, Fail, "it is of run 8, not of run 7"},
		{"for-another-head", func(m *result.Manifest) { m.Head = strings.Repeat("b", 40) }, Fail, "it was made for head bbbbbbbbbbbb, the run is of head aaaaaaaaaaaa"},
	} {
		m := result.Manifest{RunID: 7, Attempt: 2, Head: head}
		c.spoil(&m)
		expect(t, c.name, Manifest(m, RunFacts{ID: 7, Attempt: 2, Head: head}), c.want, c.reason)
	}
}

func TestRunOfSeveralAttempts(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	rows := Collection{Name: "rows", From: []string{"bmk_", "eval_"}, Not: []string{"eval_server_logs_"}}
	for _, c := range []struct {
		name   string
		added  []ArtifactFacts
		want   Answer
		reason string
	}{
		{"nothing-ran-again", nil, Pass, "succeeded"},
		{"stale-aggregate", []ArtifactFacts{{"bmk_x", 1, false, at(31)}}, Fail, "artifact rows is older than attempt 2, which made bmk_x again"},
		{"stale-for-an-eval", []ArtifactFacts{{"eval_x", 1, false, at(31)}}, Fail, "which made eval_x again"},
		{"collected-anew", []ArtifactFacts{{"bmk_x", 1, false, at(31)}, {"rows", 1, false, at(32)}}, Pass, "succeeded"},
		{"only-logs-again", []ArtifactFacts{{"eval_server_logs_x", 1, false, at(31)}}, Pass, "succeeded"},
		{"something-else-again", []ArtifactFacts{{"run-stats", 1, false, at(31)}}, Pass, "succeeded"},
		{"made-after-the-end", []ArtifactFacts{{"rows", 1, false, at(62)}}, Fail, "artifact rows was made after the run had ended"},
		{"seems-late-by-seconds", []ArtifactFacts{{"rows", 1, false, at(60).Add(30 * time.Second)}}, Pass, "succeeded"},
	} {
		got := RunFacts{ID: 7, Attempt: 2, Status: "completed", Conclusion: "success", Created: at(10), Started: at(30), Updated: at(60),
			Artifacts: append([]ArtifactFacts{{"bmk_x", 1, false, at(11)}, {"rows", 1, false, at(12)}}, c.added...)}
		expect(t, c.name, Run(got, RunWant{ID: 7, Attempt: 2, Artifacts: []string{"rows"}, Collected: []Collection{rows}, Now: at(70)}), c.want, c.reason)
	}
}

func TestSettings(t *testing.T) {
	ps := []matrix.Point{point(t, 1, false), point(t, 2, true)}
	for _, c := range []struct {
		name   string
		spoil  func(*result.Row, *result.EvalRow)
		want   Answer
		reason string
	}{
		{"equal", func(*result.Row, *result.EvalRow) {}, Pass, "2 rows and 1 evals"},
		{"changed-point-with-a-copied-fingerprint", func(r *result.Row, _ *result.EvalRow) { r.Plan.Set("osl", 32) }, Fail, "other settings than the recipe's: 256/64 c1"},
		{"added-setting", func(r *result.Row, _ *result.EvalRow) { r.Plan.Set("duration", 60) }, Fail, "other settings"},
		{"no-settings", func(r *result.Row, _ *result.EvalRow) { r.Plan = matrix.Row{} }, Fail, "other settings"},
		{"another-concurrency", func(r *result.Row, _ *result.EvalRow) { r.Conc = 2 }, Fail, "other settings"},
		{"another-length", func(r *result.Row, _ *result.EvalRow) { r.OSL = 8 }, Fail, "other settings"},
		{"scheduling-is-no-setting", func(r *result.Row, _ *result.EvalRow) { r.Plan.Set("priority", 3) }, Pass, "have the recipe's settings"},
		{"another-order", func(r *result.Row, _ *result.EvalRow) {
			v, _ := r.Plan.Get("isl")
			r.Plan.Delete("isl")
			r.Plan.Set("isl", v)
		}, Pass, "have the recipe's settings"},
		{"not-wanted", func(r *result.Row, _ *result.EvalRow) { r.Key, r.Plan = "z", matrix.Row{} }, Pass, "settings"},
		{"eval-without-a-plan", func(_ *result.Row, e *result.EvalRow) { e.Plan = matrix.Row{} }, Pass, "settings"},
		{"eval-of-other-settings", func(_ *result.Row, e *result.EvalRow) { e.Plan.Set("tp", 8) }, Fail, "settings than the recipe's: s 256/64 c2"},
	} {
		var rows []result.Row
		for _, p := range ps {
			rows = append(rows, result.Row{Family: p.Family, Key: p.Key, Conc: p.Conc(), ISL: 256, OSL: 64, Scenario: matrix.Fixed, Plan: p.Row.Clone()})
		}
		e := result.EvalRow{Family: family, Key: ps[1].Key, Conc: 2, Suite: "s", Plan: ps[1].Row.Clone()}
		c.spoil(&rows[0], &e)
		expect(t, c.name, Settings(rows, []result.EvalRow{e}, ps), c.want, c.reason)
	}
}

func TestFinalMatrixComparesSettings(t *testing.T) {
	ps := []matrix.Point{point(t, 1, false), point(t, 2, true)}
	want := matrix.Selection{Throughput: ps, Evals: ps[1:]}
	changed := point(t, 1, false) // its key and its fingerprint are those of the canonical point
	changed.Row.Set("tp", 8)
	got := matrix.Selection{Throughput: []matrix.Point{changed, ps[1]}, Evals: ps[1:]}
	expect(t, "changed-settings-with-a-copied-fingerprint", FinalMatrix(want, got), Fail, "point with other settings: 256/64 c1")
	eval := point(t, 2, true)
	eval.Row.Set("tp", 8)
	expect(t, "changed-eval", FinalMatrix(want, matrix.Selection{Throughput: ps, Evals: []matrix.Point{eval}}), Fail, "point with other settings: 256/64 c2")
	queued := point(t, 1, false)
	queued.Row.Set("priority", 7)
	expect(t, "queued", FinalMatrix(want, matrix.Selection{Throughput: []matrix.Point{queued, ps[1]}, Evals: ps[1:]}), Pass, "as generated")
}

func TestAgreement(t *testing.T) {
	score := 0.5
	for _, c := range []struct {
		name   string
		spoil  func(*result.Row, *result.EvalRow)
		want   Answer
		reason string
	}{
		{"equal", func(*result.Row, *result.EvalRow) {}, Pass, "1 rows and 1 evals are what they are made of"},
		{"faster-than-its-file", func(r *result.Row, _ *result.EvalRow) { r.Metrics["tput_per_gpu"] = 200 }, Fail, "c1 tput_per_gpu is 200, its aggregate says 100"},
		{"not-in-its-file", func(r *result.Row, _ *result.EvalRow) { r.Metrics["mean_ttft"] = 1 }, Fail, "c1 mean_ttft is not in its aggregate"},
		{"not-finite", func(r *result.Row, _ *result.EvalRow) { r.Agg = json.RawMessage(`{"tput_per_gpu":1e400}`) }, Fail, "unreadable aggregate"},
		{"failed-rows-say-what-they-like", func(r *result.Row, _ *result.EvalRow) { r.Result, r.Metrics["tput_per_gpu"] = result.Failed, 200 }, Pass, "1 rows"},
		{"without-a-file", func(r *result.Row, _ *result.EvalRow) { r.Agg = nil }, Pass, "1 rows"},
		{"score-of-other-answers", func(_ *result.Row, e *result.EvalRow) { e.Answers[0].Correct = false }, Fail, "s c1 scored 0.5, 0 of 2 answers are right"},
		{"answers-missing", func(_ *result.Row, e *result.EvalRow) { e.Answers = e.Answers[:1] }, Fail, "s c1 has 1 answers of 2 samples"},
		{"answers-not-kept", func(_ *result.Row, e *result.EvalRow) { e.Answers = nil }, Pass, "1 evals"},
	} {
		r := result.Row{Label: "c1", Result: result.Passed, Metrics: map[string]float64{"tput_per_gpu": 100}, Agg: json.RawMessage(`{"tput_per_gpu":100.0,"hw":"box"}`)}
		e := result.EvalRow{Label: "c1", Suite: "s", Result: result.Passed, Score: &score, Samples: 2, Answers: []eval.Answer{{Correct: true}, {}}}
		c.spoil(&r, &e)
		expect(t, c.name, Agreement([]result.Row{r}, []result.EvalRow{e}), c.want, c.reason)
	}
}

func TestCollected(t *testing.T) {
	a, b := Piece{"bmk_a", `{"x":1}`}, Piece{"bmk_b", `{"x":2}`}
	in := func(p Piece, n string) Piece { return Piece{"result " + n, p.Text} }
	expect(t, "equal", Collected("results_bmk", []Piece{a, b}, []Piece{in(b, "1"), in(a, "2")}), Pass, "results_bmk holds 2 results")
	expect(t, "none", Collected("results_bmk", nil, nil), Pass, "0 results")
	expect(t, "missing", Collected("results_bmk", []Piece{a, b}, []Piece{in(a, "1")}), Fail, "results_bmk is not what the points left: it lacks bmk_b")
	expect(t, "added", Collected("results_bmk", []Piece{a}, []Piece{in(a, "1"), in(b, "2")}), Fail, "it adds result 2")
	expect(t, "changed", Collected("results_bmk", []Piece{a}, []Piece{in(b, "1")}), Fail, "it lacks bmk_a; it adds result 1")
	expect(t, "twice", Collected("results_bmk", []Piece{a}, []Piece{in(a, "1"), in(a, "2")}), Fail, "it adds result 2")
	expect(t, "not-there", Collected("results_bmk", []Piece{a}, nil), Fail, "it lacks bmk_a")
}

func TestCarried(t *testing.T) {
	a, b := Piece{"bmk_a", `{"x":1}`}, Piece{"bmk_b", `{"x":2}`}
	expect(t, "some-of-the-points", Carried([]Piece{{"c1", a.Text}}, []Piece{a, b}), Pass, "1 rows are made of")
	expect(t, "another-result", Carried([]Piece{{"c1", a.Text}, {"c2", `{"x":3}`}}, []Piece{a, b}), Fail, "no point left the result: c2")
	expect(t, "no-rows", Carried(nil, []Piece{a}), Pass, "0 rows")
}
