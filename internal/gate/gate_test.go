package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
)

const family = "configs/lab-master.yaml:laba"

func point(t testing.TB, conc int64, eval bool) matrix.Point {
	t.Helper()
	var row matrix.Row
	for _, f := range []struct {
		name  string
		value any
	}{{"isl", int64(256)}, {"osl", int64(64)}, {"tp", int64(1)}, {"ep", int64(1)}, {"conc", conc}} {
		row.Set(f.name, f.value)
	}
	key := strings.Repeat(string(rune('a'+conc)), 64)
	return matrix.Point{Family: family, Key: key, Fingerprint: "print-" + key[:1], Row: row, Eval: eval}
}

// run is complete evidence for two points, the second with an eval.
type evidence struct {
	manifest     result.Manifest
	rows         []result.Row
	evals        []result.EvalRow
	points, want []matrix.Point
}

func complete(t testing.TB) evidence {
	ps := []matrix.Point{point(t, 1, false), point(t, 2, true)}
	e := evidence{points: ps, want: ps[1:]}
	f := result.ManifestFamily{Family: family}
	for _, p := range ps {
		m := result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()}
		f.Points = append(f.Points, m)
		e.rows = append(e.rows, result.Row{Family: family, Key: p.Key, Fingerprint: p.Fingerprint, Label: p.Label(), Conc: p.Conc(),
			Result: result.Passed, Health: bench.Health{Verdict: "healthy"}})
	}
	f.Evals = f.Points[1:]
	score := 0.9
	e.evals = []result.EvalRow{{Family: family, Key: ps[1].Key, Fingerprint: ps[1].Fingerprint, Label: ps[1].Label(), Suite: "s", Metric: "m",
		Score: &score, Samples: 200, Result: result.Passed}}
	e.manifest = result.Manifest{Families: []result.ManifestFamily{f, {Family: "another"}}}
	e.rows = append(e.rows, result.Row{Family: "another", Key: "x", Result: result.Failed})
	return e
}

// expect checks an answer and a part of its reason, which is one line and never empty.
func expect(t *testing.T, name string, got Verdict, want Answer, reason string) {
	t.Helper()
	if got.Answer != want || !strings.Contains(got.Reason, reason) || got.Reason == "" || strings.Contains(got.Reason, "\n") {
		t.Errorf("%s: got %s, want %s with %q", name, got, want, reason)
	}
}

func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(*evidence)
		want   Answer
		reason string
	}{
		{"complete", func(e *evidence) {}, Pass, "2 of 2 points and 1 of 1 evals"},
		{"nothing-wanted", func(e *evidence) { e.points = nil }, Unknown, "no point is wanted"},
		{"two-families-wanted", func(e *evidence) { e.want[0].Family = "other" }, Unknown, "two families"},
		{"missing-point", func(e *evidence) { e.rows = e.rows[1:] }, Fail, "point missing: 256/64 c1"},
		{"no-rows", func(e *evidence) { e.rows = nil }, Fail, "point missing"},
		{"extra-point", func(e *evidence) {
			r := e.rows[0]
			r.Key, r.Label = "z", "256/64 c64"
			e.rows = append(e.rows, r)
		}, Fail, "point extra: 256/64 c64"},
		{"duplicate-point", func(e *evidence) { e.rows = append(e.rows, e.rows[0]) }, Fail, "point duplicate: 256/64 c1"},
		{"failed-point", func(e *evidence) { e.rows[1].Result = result.Failed }, Fail, "c2 TP1 EP1 cccccc failed"},
		{"missing-eval", func(e *evidence) { e.evals = nil }, Fail, "eval missing: 256/64 c2"},
		{"extra-eval", func(e *evidence) { e.evals[0].Key = e.points[0].Key }, Fail, "eval extra"},
		{"second-suite-of-one-point", func(e *evidence) {
			v := e.evals[0]
			v.Suite = "other"
			e.evals = append(e.evals, v)
		}, Pass, "1 of 1 evals"},
		{"eval-without-score", func(e *evidence) { e.evals[0].Score = nil }, Fail, "passed without a score"},
		{"eval-without-samples", func(e *evidence) { e.evals[0].Samples = 0 }, Fail, "passed without a score"},
		{"changed-point-with-copied-fingerprint", func(e *evidence) { e.rows[0].Fingerprint = e.rows[1].Fingerprint }, Fail, "point with another fingerprint: 256/64 c1"},
		{"copied-fingerprint-on-another-key", func(e *evidence) { e.rows[0].Key = strings.Repeat("f", 64) }, Fail, "point extra"},
		{"no-fingerprint", func(e *evidence) { e.points[0].Fingerprint, e.rows[0].Fingerprint = "", "" }, Fail, "with another fingerprint"},
		{"manifest-lacks-point", func(e *evidence) { e.manifest.Families[0].Points = e.manifest.Families[0].Points[:1] }, Fail, "manifest point missing"},
		{"manifest-lacks-eval", func(e *evidence) { e.manifest.Families[0].Evals = nil }, Fail, "manifest eval missing"},
		{"manifest-lacks-family", func(e *evidence) { e.manifest.Families = e.manifest.Families[1:] }, Fail, "manifest: family"},
		{"rows-of-another-family-only", func(e *evidence) {
			for i := range e.rows {
				e.rows[i].Family = "another"
			}
		}, Fail, "point missing"},
	} {
		e := complete(t)
		c.spoil(&e)
		expect(t, c.name, Coverage(e.manifest, e.rows, e.evals, e.points, e.want), c.want, c.reason)
	}
}

func TestReasonsStayShort(t *testing.T) {
	var ps []matrix.Point
	for i := range int64(20) {
		ps = append(ps, point(t, i+1, false))
	}
	expect(t, "twenty-missing", Coverage(result.Manifest{}, nil, nil, ps, nil), Fail, "and 16 more")
}

func TestRoster(t *testing.T) {
	ps := []matrix.Point{point(t, 1, false), point(t, 2, true), point(t, 3, false)}
	b := result.Baseline{Family: family,
		Points: []result.BaselinePoint{{Key: ps[0].Key, Label: "c1"}, {Key: ps[1].Key, Label: "c2", Result: result.Unavailable}},
		Evals:  []result.BaselineEval{{Key: ps[1].Key, Label: "c2", Suite: "s", Metric: "m"}}}
	expect(t, "covered", Roster(b, ps), Pass, "all 2 baseline points and 1 evals are covered by 3 points")
	expect(t, "lost-point", Roster(b, ps[1:]), Fail, "the family lost: c1")
	expect(t, "lost-unavailable-point", Roster(b, []matrix.Point{ps[0], ps[2]}), Fail, "the family lost: c2")
	unmarked := append([]matrix.Point(nil), ps...)
	unmarked[1].Eval = false
	expect(t, "lost-eval", Roster(b, unmarked), Fail, "evals that the family lost: s/m c2")
	expect(t, "no-baseline", Roster(result.Baseline{Family: family}, ps), Unknown, "no points")
	b.Family = "another"
	expect(t, "another-family", Roster(b, ps), Fail, "the baseline of another")
}

func TestFinalMatrix(t *testing.T) {
	ps := []matrix.Point{point(t, 1, false), point(t, 2, true)}
	want := matrix.Selection{Throughput: ps, Evals: ps[1:]}
	expect(t, "equal", FinalMatrix(want, want), Pass, "2 points and 1 evals")
	expect(t, "other-order", FinalMatrix(want, matrix.Selection{Throughput: []matrix.Point{ps[1], ps[0]}, Evals: ps[1:]}), Pass, "as generated")
	expect(t, "omitted-point", FinalMatrix(want, matrix.Selection{Throughput: ps[1:], Evals: ps[1:]}), Fail, "point missing")
	expect(t, "omitted-eval", FinalMatrix(want, matrix.Selection{Throughput: ps}), Fail, "eval missing")
	expect(t, "twice", FinalMatrix(want, matrix.Selection{Throughput: append(ps[:2:2], ps[0]), Evals: ps[1:]}), Fail, "point duplicate")
	changed := append([]matrix.Point(nil), ps...)
	changed[0].Fingerprint = "of the old image"
	expect(t, "old-image", FinalMatrix(want, matrix.Selection{Throughput: changed, Evals: ps[1:]}), Fail, "another fingerprint")
	expect(t, "nothing-canonical", FinalMatrix(matrix.Selection{}, want), Unknown, "no points")
}

func TestHealth(t *testing.T) {
	row := func(verdict string, reasons ...string) result.Row {
		return result.Row{Label: "p-" + verdict, Result: result.Passed, Health: bench.Health{Verdict: verdict, Reasons: reasons}}
	}
	failed := row("unhealthy")
	failed.Result = result.Failed
	sound, sick, foreign := row("healthy"), row("unhealthy", "late reads"), row("unknown")
	expect(t, "sound", Health([]result.Row{sound, sound}), Pass, "client sound at 2 points")
	expect(t, "one-sick", Health([]result.Row{sound, sick}), Fail, "p-unhealthy (late reads)")
	expect(t, "suspect", Health([]result.Row{sound, row("suspect", "long pause")}), Pass, "client sound at 2 points, suspect at 1 of them: p-suspect (long pause)")
	expect(t, "suspect-and-sick", Health([]result.Row{row("suspect"), sick}), Fail, "unhealthy client: p-unhealthy")
	expect(t, "foreign", Health([]result.Row{sound, foreign}), Unknown, "client health unknown: p-unknown")
	expect(t, "foreign-allowed", Health([]result.Row{sound, foreign}, "unknown"), Pass, "2 points")
	expect(t, "sick-is-never-allowed", Health([]result.Row{sick}, "unknown", "unhealthy"), Fail, "unhealthy client")
	expect(t, "not-recorded", Health([]result.Row{row("")}), Unknown, "unknown")
	expect(t, "sick-and-foreign", Health([]result.Row{foreign, sick}), Fail, "unhealthy client")
	expect(t, "failed-points-only", Health([]result.Row{failed}), Unknown, "no passed point")
	expect(t, "no-rows", Health(nil), Unknown, "no passed point")
}

func TestDigest(t *testing.T) {
	d := "sha256:" + strings.Repeat("a", 64)
	other := "sha256:" + strings.Repeat("b", 64)
	rows := []result.Row{{Label: "c1", Digest: d}, {Label: "c2", Digest: d}}
	expect(t, "equal", Digest(rows, d), Pass, "2 rows ran "+d)
	expect(t, "other", Digest(append(rows, result.Row{Label: "c4", Digest: other}), d), Fail, "c4 ran "+other)
	expect(t, "not-recorded", Digest(append(rows, result.Row{Label: "c4"}), d), Unknown, "no digest recorded: c4")
	expect(t, "a-tag", Digest(rows, "v2"), Unknown, "not a sha256 digest")
	expect(t, "no-rows", Digest(nil, d), Unknown, "no rows")
	expect(t, "eval", EvalDigest([]result.EvalRow{{Suite: "s", Label: "c1", Digest: other}}, d), Fail, "s c1 ran")
	expect(t, "no-evals", EvalDigest(nil, d), Pass, "no evals")
	expect(t, "eval-equal", EvalDigest([]result.EvalRow{{Digest: d}}, d), Pass, "1 rows")
}

func TestRun(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	head, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for _, c := range []struct {
		name   string
		spoil  func(*RunFacts, *RunWant)
		want   Answer
		reason string
	}{
		{"good", func(g *RunFacts, w *RunWant) {}, Pass, "run 7 attempt 2 succeeded at aaaaaaaaaaaa with 2 artifacts"},
		{"earlier-head-accepted", func(g *RunFacts, w *RunWant) { w.Heads = []string{other, head} }, Pass, "succeeded"},
		{"nothing-asked", func(g *RunFacts, w *RunWant) { *w = RunWant{} }, Pass, "0 artifacts"},
		{"other-run", func(g *RunFacts, w *RunWant) { w.ID = 8 }, Fail, "is not run 8"},
		{"re-run-since", func(g *RunFacts, w *RunWant) { w.Attempt = 1 }, Fail, "at attempt 2, not 1"},
		{"other-head", func(g *RunFacts, w *RunWant) { w.Heads = []string{other} }, Fail, "head aaaaaaaaaaaa, not bbbbbbbbbbbb"},
		{"under-way", func(g *RunFacts, w *RunWant) { g.Status, g.Conclusion = "in_progress", "" }, Unknown, "is in_progress"},
		{"failed", func(g *RunFacts, w *RunWant) { g.Conclusion = "failure" }, Fail, "ended as failure"},
		{"cancelled", func(g *RunFacts, w *RunWant) { g.Conclusion = "cancelled" }, Fail, "ended as cancelled"},
		{"artifact-missing", func(g *RunFacts, w *RunWant) { g.Artifacts = g.Artifacts[:2] }, Fail, "artifact rows is missing"},
		{"similar-name", func(g *RunFacts, w *RunWant) { g.Artifacts[2].Name = "rows-2" }, Fail, "artifact rows is missing"},
		{"expired", func(g *RunFacts, w *RunWant) { g.Artifacts[2].Expired = true }, Fail, "artifact rows has expired"},
		{"older-one-expired", func(g *RunFacts, w *RunWant) { g.Artifacts[0].Expired = true }, Pass, "succeeded"},
		{"empty", func(g *RunFacts, w *RunWant) { g.Artifacts[2].Size = 0 }, Fail, "artifact rows is empty"},
		{"older-than-the-run", func(g *RunFacts, w *RunWant) { g.Artifacts[2].Created = at(9) }, Fail, "older than the run"},
		{"from-the-future", func(g *RunFacts, w *RunWant) { g.Artifacts[2].Created = at(100) }, Fail, "from the future"},
		{"manifest-of-attempt-1", func(g *RunFacts, w *RunWant) { g.Artifacts[1].Created = at(25) }, Fail, "manifest is older than attempt 2"},
		{"rows-of-attempt-1", func(g *RunFacts, w *RunWant) { g.Artifacts[2].Created = at(25) }, Pass, "succeeded"},
	} {
		got := RunFacts{ID: 7, Attempt: 2, Status: "completed", Conclusion: "success", Head: head, Created: at(10), Started: at(30), Artifacts: []ArtifactFacts{
			{"manifest", 10, false, at(12)}, {"manifest", 10, false, at(31)}, {"rows", 10, false, at(40)}}}
		want := RunWant{ID: 7, Attempt: 2, Heads: []string{head}, Artifacts: []string{"manifest", "rows"}, Current: []string{"manifest"}, Now: at(60)}
		c.spoil(&got, &want)
		expect(t, c.name, Run(got, want), c.want, c.reason)
	}
}

func comparison(throughput, tpot, accuracy compare.Verdict) compare.Result {
	curve := func(m compare.Metric, v compare.Verdict) compare.Curve {
		return compare.Curve{Metric: m, Judged: true, Verdict: v, N: 3, DF: 10, Threshold: 0.03, Points: []compare.PointVerdict{{Key: "k", Verdict: v}}}
	}
	r := compare.Result{Curves: []compare.Curve{curve(compare.OutputTPS, throughput), curve(compare.TPOT, tpot)}}
	if accuracy != "" {
		r.Accuracy = []compare.Accuracy{{Key: "k", Verdict: accuracy}}
	}
	return r
}

func TestPolicy(t *testing.T) {
	both := map[string]string{"throughput": "no-worse", "accuracy": "no-worse"}
	for _, c := range []struct {
		name    string
		require map[string]string
		result  compare.Result
		want    Answer
		reason  string
	}{
		{"nothing-required", nil, comparison(compare.Worse, compare.Worse, compare.Worse), Pass, "nothing is required"},
		{"no-change", both, comparison(compare.NoChange, compare.NoChange, compare.NoChange), Pass, "accuracy: no-change; throughput: no-change"},
		{"better", both, comparison(compare.Better, compare.NoChange, compare.Better), Pass, "throughput: better"},
		{"worse", both, comparison(compare.Worse, compare.NoChange, compare.NoChange), Fail, "throughput is worse"},
		{"accuracy-worse", both, comparison(compare.Better, compare.NoChange, compare.Worse), Fail, "accuracy is worse"},
		{"worse-where-not-required", both, comparison(compare.NoChange, compare.Worse, compare.NoChange), Pass, "no-change"},
		{"inconclusive", both, comparison(compare.Inconclusive, compare.NoChange, compare.NoChange), Pass, "throughput is inconclusive"},
		{"inconclusive-and-worse", both, comparison(compare.Inconclusive, compare.NoChange, compare.Worse), Fail, "accuracy is worse"},
		{"family-without-evals", both, comparison(compare.NoChange, compare.NoChange, ""), Pass, "accuracy was not compared"},
		{"unknown-rule", map[string]string{"throughput": "faster"}, comparison(compare.Better, compare.Better, ""), Unknown, `unknown rule "faster"`},
		{"unknown-dimension", map[string]string{"colour": "no-worse"}, comparison(compare.Better, compare.Better, ""), Unknown, `unknown dimension "colour"`},
	} {
		expect(t, c.name, Policy(c.require, c.result), c.want, c.reason)
	}
	got := Inconclusive(both, comparison(compare.Inconclusive, compare.Inconclusive, compare.Inconclusive))
	if strings.Join(got, " ") != "accuracy throughput" {
		t.Errorf("Inconclusive: got %v, want accuracy and throughput", got)
	}
}

func TestAll(t *testing.T) {
	pass, fail, unknown := Verdict{"a", Pass, "fine"}, Verdict{"b", Fail, "broken"}, Verdict{"c", Unknown, "unseen"}
	expect(t, "none", All(nil), Unknown, "no gate was asked")
	expect(t, "all-pass", All([]Verdict{pass, pass}), Pass, "a: fine; a: fine")
	expect(t, "one-unknown", All([]Verdict{pass, unknown}), Unknown, "c: unseen")
	expect(t, "fail-before-unknown", All([]Verdict{unknown, pass, fail}), Fail, "b: broken")
	expect(t, "zero-verdict-is-no-pass", All([]Verdict{pass, {}}), Unknown, "")
	if got, want := fail.String(), "b: fail: broken"; got != want {
		t.Errorf("String: got %q, want %q", got, want)
	}
}
