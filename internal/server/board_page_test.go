package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

const pageID = "9d94bebbcc742ac8-af00168b432f68fb"

// pageWorkspace is a workspace with one candidate in its store.
func pageWorkspace(t *testing.T, s *store.Store, family string) *workspace.Workspace {
	t.Helper()
	w := &workspace.Workspace{Root: t.TempDir()}
	w.Config.Policy.Prefix = "refit"
	c := candidate.Summary{Candidate: candidate.Candidate{ID: pageID, Family: family, OldImage: apiImage, NewImage: "lab/engine:v2.0.0-cpu", Parent: "7"}, Step: "sweep"}
	if err := s.SaveCandidate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return w
}

// keepReports writes comments as they are kept.
func keepReports(t *testing.T, w *workspace.Workspace, comments []report.NamedComment) {
	t.Helper()
	dir := w.State("reports", pageID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range comments {
		if err := os.WriteFile(filepath.Join(dir, c.Name+".md"), []byte(c.Body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// manyPoints are points of a record that does not fit one comment.
func manyPoints(n int) []report.Point {
	var out []report.Point
	for i := range n {
		tps, tpot := float64(100+i), float64(10+i)
		out = append(out, report.Point{Key: fmt.Sprintf("%064x", i+1), Label: fmt.Sprintf("256/64 c%d TP1 EP1 %06x", i+1, i+1), Conc: i + 1, Scenario: "fixed-seq-len", Result: "passed",
			Values: report.Values{OutputTPSGPU: &tps, TPOTms: &tpot, LatencyStatistic: "mean"}})
	}
	return out
}

func manyRecords(t *testing.T) (baseline, attempt []report.NamedComment) {
	t.Helper()
	p := report.Policy{Prefix: "refit"}
	run, one := int64(9), 1
	b := report.Baseline{Family: "configs/lab-master.yaml:fam-a", Date: "2026-10-01", Image: apiImage, Goal: report.Goal("a:v1", "a:v2"), Status: report.Status(report.BaselineFrozen),
		PreparedBy: report.Author{Kind: "program"}, Points: manyPoints(25)}
	a := report.Attempt{Kind: "final", Head: strings.Repeat("c", 40), Image: "a:v2", RunID: &run, RunAttempt: &one, Status: "passed", Change: report.ChangeSweep(), Next: report.Next(report.Validated),
		BenchmarksExpected: 41, BenchmarksPassed: 41, UpdatedAt: time.Unix(1e9, 0).UTC(), PreparedBy: report.Author{Kind: "program"}, Points: manyPoints(41)}
	baseline, err := p.BaselineRecords("7", pageID, b)
	if err != nil {
		t.Fatal(err)
	}
	attempt, err = p.AttemptRecords("7", pageID, a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return baseline, attempt
}

// A record of more than twenty points is spread over several comments; the
// page shows all of it, and says when a part is gone.
func TestPageOfSplitRecords(t *testing.T) {
	s := apiStore(t, apiPoints(t))
	w := pageWorkspace(t, s, "configs/lab-master.yaml:fam-a")
	baseline, attempt := manyRecords(t)
	keepReports(t, w, append(baseline, attempt...))
	p, err := CandidatePage(t.Context(), w, s, s, pageID)
	if err != nil {
		t.Fatal(err)
	}
	if p.Baseline == nil || p.Attempt == nil || len(p.Baseline.Points) != 25 || len(p.Attempt.Points) != 41 || len(p.Reports) != 5 {
		t.Fatalf("baseline %+v, attempt %+v, %d reports; want 25 points, 41 points, 5 reports", p.Baseline, p.Attempt, len(p.Reports))
	}
	if svg := string(p.SVG()); strings.Count(svg, "<title>old ") != 25 || strings.Count(svg, "<title>new ") != 41 {
		t.Errorf("the drawing has %d old and %d new points, want 25 and 41", strings.Count(svg, "<title>old "), strings.Count(svg, "<title>new "))
	}
	if err := os.Remove(filepath.Join(w.State("reports", pageID), attempt[0].Name+".md")); err != nil {
		t.Fatal(err)
	}
	p, err = CandidatePage(t.Context(), w, s, s, pageID)
	if err != nil || p.Attempt != nil || len(p.Baseline.Points) != 25 || !strings.Contains(strings.Join(p.Row.Evidence, "\n"), "is missing") {
		t.Errorf("without a part: %v, attempt %+v, evidence %q", err, p.Attempt, p.Row.Evidence)
	}
	if _, err := CandidatePage(t.Context(), w, s, s, "nobody"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown candidate: %v, want fs.ErrNotExist", err)
	}
}

// Without a certificate the verdicts follow from the runs: the old image's
// published ones and the sweeps of the candidate's branch, nothing else.
func TestPageOfRuns(t *testing.T) {
	points := apiPoints(t)
	s := apiStore(t, points)
	family := points[0].Family
	w := pageWorkspace(t, s, family)
	old, now := "sha256:"+strings.Repeat("d", 64), "sha256:"+strings.Repeat("e", 64)
	resolved := fmt.Sprintf(`{"old-image":%q,"old-digest":%q,"new-image":"lab/engine:v2.0.0-cpu","new-digest":%q}`, apiImage, old, now)
	if err := s.Append(t.Context(), candidate.Receipt{Candidate: pageID, Step: "resolve", Subject: "s", By: "refit", At: time.Unix(1, 0), Evidence: []byte(resolved)}); err != nil {
		t.Fatal(err)
	}
	ingestSweep(t, s, points, 50, now, "refit/auto-"+pageID, "workflow_dispatch", 20)
	ingestSweep(t, s, points, 51, now, "refit/auto-"+pageID, "pull_request", 20)
	ingestSweep(t, s, points, 52, now, "refit/auto-another", "pull_request", 30)
	p, err := CandidatePage(t.Context(), w, s, s, pageID)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Old) != 1 || len(p.New) != 1 || len(p.New[0]) != len(points) || p.New[0][0].Provenance.RunID != 51 {
		t.Fatalf("%d old runs, %d new ones, want 1 and the run 51 alone", len(p.Old), len(p.New))
	}
	c := p.Verdicts.Curves[0] // 20 of 24.91 tokens per second, one old run: no verdict, but the change
	if c.Verdict != compare.Inconclusive || c.DF != 0 || c.Points[0].Delta > -0.19 || c.Points[0].Delta < -0.20 {
		t.Errorf("verdict %+v", c)
	}
	_, page := get(t, &Board{Workspace: "lab", Page: func(ctx context.Context, id string) (report.BoardPage, error) { return CandidatePage(ctx, w, s, s, id) }}, "GET", "/candidates/"+pageID)
	wants(t, page, "-19.71%", `<span class="tag warn">inconclusive</span>`, "Runners and client health", "51 / 1", "24.91")
}

func ingestSweep(t *testing.T, s *store.Store, points []matrix.Point, id int64, digest, branch, event string, tps float64) {
	t.Helper()
	head, at := strings.Repeat("a", 40), time.Date(2026, 9, 11, 6, int(id), 0, 0, time.UTC)
	prov := result.Provenance{RunID: id, Attempt: 1, Head: head, Branch: branch, Event: event, Runner: "cpu_local", Started: at, Ended: at}
	family := result.ManifestFamily{Family: points[0].Family, Image: "lab/engine:v2.0.0-cpu", Digest: digest}
	var r result.Run
	none := 0
	for _, p := range points {
		family.Points = append(family.Points, result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()})
		row := result.Row{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: family.Image, Digest: digest, Label: p.Label(), Conc: p.Conc(), ISL: 256, OSL: 64, Scenario: matrix.Fixed,
			Result: result.Passed, RequestErrors: &none, Plan: p.Row, Provenance: prov, Metrics: map[string]float64{"output_tput_per_gpu": tps, "mean_tpot": 0.02}}
		row.Health.Verdict = "healthy"
		r.Rows = append(r.Rows, row)
	}
	r.Manifest = result.Manifest{Version: 1, RunID: id, Attempt: 1, Head: head, Mode: result.ModePush, Families: []result.ManifestFamily{family}}
	run := store.WorkflowRun{ID: id, Attempt: 1, Name: "Run Sweep", HeadSHA: head, Branch: branch, Event: event, Conclusion: "success", URL: "http://127.0.0.1:1/x/y/actions/runs/1", Created: at, Started: at}
	if _, err := s.Ingest(context.Background(), run, r, false); err != nil {
		t.Fatal(err)
	}
}
