package candidate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
)

// rerun asks the forge to run a run's failed jobs again, as a person does, and
// waits for the attempt to end.
func (w *world) rerun(run forge.Run) forge.Run {
	w.t.Helper()
	where := fmt.Sprintf("%s/api/v3/repos/toy/recipes/actions/runs/%d/rerun-failed-jobs", w.url, run.ID)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, where, nil)
	w.must(err)
	req.Header.Set("Authorization", "Bearer maintainer-token")
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	w.must(resp.Body.Close())
	if resp.StatusCode != http.StatusCreated {
		w.t.Fatalf("rerun of run %d: %s", run.ID, resp.Status)
	}
	w.forge.Wait()
	again, err := w.client("bot-token").Run(w.t.Context(), run.ID)
	w.must(err)
	if again.Attempt != run.Attempt+1 || again.Status != "completed" {
		w.t.Fatalf("run %d: attempt %d, %s; want attempt %d to have ended", run.ID, again.Attempt, again.Status, run.Attempt+1)
	}
	return again
}

// longAgo moves a run and what it left into the past, so that a further attempt
// does not begin in the same second.
func (w *world) longAgo(run forge.Run) {
	w.t.Helper()
	w.inForge(`UPDATE pull SET created = created - 3600`)
	w.inForge(`UPDATE run SET created = created - 3000 WHERE id = ?`, run.ID)
	w.inForge(`UPDATE artifact SET created = created - 3000 WHERE run = ?`, run.ID)
}

var errPoint = errors.New("a point failed")

// onePointFails is a sweep as workflows make it that have a job for each point:
// in the first attempt the point of concurrency 4 fails, with its eval; a further
// one runs that job alone, and leaves what again makes of it.
func onePointFails(first, again leaver) leaver {
	return func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		if r.Attempt == 1 {
			for _, l := range lines {
				switch {
				case l.Row != nil && l.Row.Conc == 4:
					l.Row.Result = result.Failed
				case l.Eval != nil && l.Eval.Conc == 4:
					l.Eval.Result, l.Eval.Score = result.Failed, nil
				}
			}
			return errors.Join(first(r, m, lines), errPoint)
		}
		return again(r, m, slices.DeleteFunc(lines, func(l result.Line) bool {
			return l.Row != nil && l.Row.Conc != 4 || l.Eval != nil && l.Eval.Conc != 4
		}))
	}
}

// receiptOf is what the last receipt of a step holds.
func receiptOf[T any](w *world, step string) (v T) {
	w.t.Helper()
	for _, r := range w.ledger.receipts {
		if r.Step == step {
			v = *new(T)
			w.must(json.Unmarshal(r.Evidence, &v))
		}
	}
	return v
}

// finalReport is the record of the sweep that stands in the pull request, and
// its page.
func (w *world) finalReport() (report.Attempt, string) {
	w.t.Helper()
	comments, err := w.client("bot-token").Comments(w.t.Context(), 1)
	w.must(err)
	var a report.Attempt
	var page string
	for _, cm := range comments {
		rec, ok, err := report.ParseRecord("refit", cm.Body)
		w.must(err)
		if !ok || rec.Kind != "report" || !strings.HasPrefix(rec.Name, "run-") {
			continue
		}
		found, err := report.ParseAttempt(rec.JSON)
		w.must(err)
		if found.Kind == "final" {
			a, page = found, rec.Markdown
		}
	}
	return a, page
}

// measuredIn are the attempts that the report's figures name, by concurrency.
func measuredIn(a report.Attempt) string {
	var out []string
	for _, p := range a.Points {
		out = append(out, fmt.Sprintf("c%d:%d", p.Conc, *p.RunAttempt))
	}
	for _, e := range a.Evals {
		out = append(out, fmt.Sprintf("eval %s:%d", e.Label, *e.RunAttempt))
	}
	return strings.Join(out, " ")
}

// TestRerunPointsAreCertifiedOneByOne: a sweep that failed at one point and was
// started again by a person for that point alone is not lost.
func TestRerunPointsAreCertifiedOneByOne(t *testing.T) {
	for name, leaves := range map[string]leaver{"rows-alone": usual, "with-raw-files-and-aggregates": collecting()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.shepherd("bot-token")
			w.atSweep(onePointFails(leaves, leaves))
			c, run := w.swept(s)
			if run.Conclusion != "failure" {
				t.Fatalf("the first attempt ended as %s", run.Conclusion)
			}
			again := w.rerun(run)
			st := w.concluded(s, c)
			if st.Outcome != Validated {
				t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
			}
			a, page := w.finalReport()
			if a.RunID == nil || *a.RunID != run.ID || *a.RunAttempt != 2 || a.BenchmarksPassed != 5 || a.Status != "passed" {
				t.Errorf("report: got run %v attempt %v, %d points, %s; want attempt 2 of %d with 5", a.RunID, a.RunAttempt, a.BenchmarksPassed, a.Status, run.ID)
			}
			if got := measuredIn(a); !strings.HasPrefix(got, "c1:1 c2:1 c4:2 c8:1 c16:1 eval ") {
				t.Errorf("the report's points are of the attempts %s; want c4 of 2, the others of 1", got)
			}
			if !strings.Contains(page, "c1, c2, c8, c16: measured in attempt 1.") {
				t.Errorf("the page does not name the attempts:\n%s", page)
			}
			done := receiptOf[Certified](w, "certify")
			if done.RunID != run.ID || done.Attempt != 2 || done.Sweeps != 1 || done.Rounds != 0 {
				t.Errorf("certified run %d attempt %d with %d sweeps, want attempt 2 of %d as one sweep", done.RunID, done.Attempt, done.Sweeps, run.ID)
			}
			for what, origins := range map[string][]report.Origin{"certify": done.Origins, "receipt": receiptOf[Sealed](w, "finish").Receipt.Origins} {
				if len(origins) != 2 || len(origins[0].Points) != 4 || len(origins[1].Points) != 1 || origins[1].RunAttempt != 2 || origins[1].RunID != run.ID ||
					origins[0].Head != again.HeadSHA || !origins[0].Started.Equal(at) {
					t.Errorf("%s: origins %+v, want 4 points of attempt 1 and one of attempt 2, each with run, head and start", what, origins)
				}
			}
			if len(w.runs) != 3 { // smoke, and both attempts
				t.Errorf("%d runs, want nothing measured beyond the two attempts", len(w.runs))
			}
		})
	}
}

// collecting leaves the files of the points that ran; once all points have passed
// it leaves what is collected from those of both attempts, as a collecting job does.
func collecting() leaver {
	bench, evals := map[string][]byte{}, map[string][]byte{}
	return func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		b, e := partsOf(lines)
		maps.Copy(bench, b)
		maps.Copy(evals, e)
		err := errors.Join(put(r.Out, b), put(r.Out, e), usual(r, m, lines))
		if r.Attempt == 1 || err != nil {
			return err
		}
		whole, err := collections(bench, evals)
		return errors.Join(err, put(r.Out, whole))
	}
}

// TestAPointMeasuredTwiceCountsOnce: of a point that both attempts measured the
// later success counts, and never both.
func TestAPointMeasuredTwiceCountsOnce(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	w.atSweep(func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		if r.Attempt == 1 {
			return errors.Join(usual(r, m, lines), errPoint)
		}
		lines = slices.DeleteFunc(lines, func(l result.Line) bool { return l.Row == nil || l.Row.Conc > 2 })
		lines[0].Row.Metrics["output_tput_per_gpu"] = 100.5
		lines[1].Row.Result = result.Failed // a later failure takes nothing away
		return usual(r, m, lines)
	})
	c, run := w.swept(s)
	w.rerun(run)
	st := w.concluded(s, c)
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	a, _ := w.finalReport()
	if got := measuredIn(a); !strings.HasPrefix(got, "c1:2 c2:1 c4:1 c8:1 c16:1 ") {
		t.Errorf("points are of the attempts %s; want c1 of 2, the others of 1", got)
	}
	if v := a.Points[0].Values.OutputTPSGPU; v == nil || *v != 100.5 {
		t.Errorf("c1: got %v, want the later 100.5", v)
	}
	done := receiptOf[Certified](w, "certify")
	for _, curve := range done.Result.Curves {
		if len(curve.Points) != 5 {
			t.Errorf("%s: %d points, want each once", curve.Metric, len(curve.Points))
		}
	}
}

// TestRowsOfAnEarlierAttemptStand: where no point ran again, what was collected
// before is not stale.
func TestRowsOfAnEarlierAttemptStand(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	w.atSweep(func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		if r.Attempt == 1 {
			return errors.Join(alongside(r, m, lines), errors.New("an upload failed"))
		}
		return manifestAlone(r, m)
	})
	c, run := w.swept(s)
	w.longAgo(run)
	w.rerun(run)
	st := w.concluded(s, c)
	a, _ := w.finalReport()
	if st.Outcome != Validated || !strings.HasPrefix(measuredIn(a), "c1:1 c2:1 c4:1 c8:1 c16:1 ") {
		t.Errorf("got %s (%s) with %s, want validated by the points of attempt 1", st.Outcome, st.Reason, measuredIn(a))
	}
	if done := receiptOf[Certified](w, "certify"); done.Attempt != 2 || done.Origins != nil {
		t.Errorf("certified attempt %d with origins %v, want attempt 2 and none: one attempt measured all", done.Attempt, done.Origins)
	}
}

// manifestAlone leaves the manifest and no rows.
func manifestAlone(r local.RunRequest, m result.Manifest) error {
	return errors.Join(leave(r.Out, m, nil), without(r, result.RowsArtifact))
}

// TestARerunIsRefused: what a further attempt left does not make up for what it
// has to leave.
func TestARerunIsRefused(t *testing.T) {
	withoutManifest := func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		return errors.Join(usual(r, m, lines), without(r, result.ManifestArtifact))
	}
	for _, c := range []struct {
		name         string
		first, again leaver
		expire       string // artifact of the first attempt
		recent       bool   // the attempt begins in the second in which the first one ended
		want         string // N is the run's id
	}{
		{name: "stale-aggregate", first: alongside, want: "run: run N: artifact refit-rows is older than attempt 2, which made bmk_c4 again",
			again: func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
				return errors.Join(alongside(r, m, lines), without(r, "results_bmk", "eval_results_all", result.RowsArtifact))
			}},
		{name: "stale-collection-of-benchmarks", first: alongside, want: "artifact results_bmk is older than attempt 2, which made bmk_c4 again",
			again: func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
				return errors.Join(alongside(r, m, lines), without(r, "results_bmk", "eval_results_all"))
			}},
		{name: "manifest-of-the-first-attempt", first: usual, again: withoutManifest, want: "run: run N: artifact refit-manifest is older than attempt 2"},
		{name: "manifest-of-the-first-attempt-in-the-same-second", first: usual, again: withoutManifest, recent: true,
			want: "made by run N attempt 2 at "},
		{name: "manifest-that-says-the-first-attempt", first: usual, want: "manifest: it is of attempt 1, run N is at attempt 2",
			again: func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
				m.Attempt = 1
				return usual(r, m, nil)
			}},
		{name: "rows-of-the-first-attempt-expired", first: usual, again: usual, expire: result.RowsArtifact,
			want: "; artifact refit-rows of an earlier attempt has expired"},
		{name: "point-still-missing", first: usual, want: "coverage: point not passed: 256/64 c4 ",
			again: func(r local.RunRequest, m result.Manifest, lines []result.Line) error { return usual(r, m, nil) }},
		{name: "two-results-of-one-attempt", first: usual, want: "measured twice in attempt 1, and not the same",
			again: func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
				lines[0].Row.Provenance.Attempt = 1
				return usual(r, m, lines)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.shepherd("bot-token")
			w.atSweep(onePointFails(c.first, c.again))
			candidate, run := w.swept(s)
			if !c.recent {
				w.longAgo(run)
			}
			if c.expire != "" {
				w.must(os.Remove(w.archive(run, 1, c.expire)))
			}
			w.rerun(run)
			st := w.concluded(s, candidate)
			if want := strings.ReplaceAll(c.want, "N", fmt.Sprint(run.ID)); st.Outcome != Failed || !strings.Contains(st.Reason, want) {
				t.Errorf("got %s (%s), want failed by %q", st.Outcome, st.Reason, want)
			}
			if have := w.ledger.have(); have["sweep"] || have["certify"] {
				t.Errorf("receipts %s: want none of the sweep", w.ledger.steps())
			}
		})
	}
}

// TestArchivesAreNeverOverlaid: a file that only an earlier attempt's archive
// holds is not read as if the later one had it.
func TestArchivesAreNeverOverlaid(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	w.atSweep(onePointFails(usual, func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		if err := usual(r, m, lines); err != nil {
			return err
		}
		dir := filepath.Join(r.Out, result.ManifestArtifact)
		return os.Rename(filepath.Join(dir, result.ManifestFile), filepath.Join(dir, "other.json"))
	}))
	c, run := w.swept(s)
	w.rerun(run)
	st := w.concluded(s, c)
	if want := "no refit-manifest/manifest.json"; st.Outcome != Failed || !strings.Contains(st.Reason, want) {
		t.Errorf("got %s (%s), want failed by %q: the first attempt's manifest is not this one's", st.Outcome, st.Reason, want)
	}
}
