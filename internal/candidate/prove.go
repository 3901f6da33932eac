package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
)

// proof is what the artifacts of a finished run show.
type proof struct {
	run     result.Run
	gates   []gate.Verdict
	verdict gate.Verdict // over all gates
}

// onlyUnhealthy says that the load client's health is all that failed.
func (p proof) onlyUnhealthy() bool {
	for _, v := range p.gates {
		if v.Answer != gate.Pass && v.Gate != "health" {
			return false
		}
	}
	return p.verdict.Answer == gate.Fail
}

// Required artifacts of every run.
var required = []string{result.ManifestArtifact, result.RowsArtifact}

// proven reads a run's artifacts and asks every gate. It is called whenever a
// run is relied upon: nothing is believed because a comment says so. A run that
// was started again is taken point by point, each with the attempt that made it.
func (w *work) proven(ctx context.Context, run forge.Run, want matrix.Selection) (proof, error) {
	listed, err := w.artifacts(ctx, run)
	if err != nil {
		return proof{}, err
	}
	facts := factsOf(run, listed)
	// The run may have ended after this Advance began: what counts is when it is looked at.
	p := proof{gates: []gate.Verdict{gate.Run(facts, gate.RunWant{
		ID: run.ID, Attempt: run.Attempt, Heads: []string{run.HeadSHA}, Artifacts: required,
		Current: []string{result.ManifestArtifact}, Collected: []gate.Collection{rowsOf, benchmarks, scores}, Now: w.Now(),
	})}}
	left, err := w.leftovers(ctx, listed)
	if err == nil && (left.manifest != nil || p.gates[0].Answer == gate.Pass) { // else it was said already
		err = w.weigh(&p, facts, left, want)
	}
	if err == nil && gate.All(p.gates).Answer == gate.Pass {
		var more []gate.Verdict
		more, err = w.collected(ctx, run, listed, p.run)
		p.gates = append(p.gates, more...)
	}
	if no := unusable(""); errors.As(err, &no) {
		p.gates, err = append(p.gates, fail("artifacts", "%s", no)), nil
	}
	p.verdict = gate.All(p.gates)
	return p, err
}

// weigh reads the rows and asks the gates that judge them.
func (w *work) weigh(p *proof, facts gate.RunFacts, left leftovers, want matrix.Selection) (err error) {
	if p.run, err = left.run(); err != nil {
		return unusable(err.Error())
	}
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return err
	}
	var foreign []string
	if w.Config.Policy.ForeignClient {
		foreign = append(foreign, "unknown")
	}
	coverage := gate.Coverage(p.run.Manifest, p.run.Rows, p.run.Evals, want.Throughput, want.Evals)
	if coverage.Answer != gate.Pass && left.expired {
		coverage.Reason += "; artifact " + result.RowsArtifact + " of an earlier attempt has expired"
	}
	p.gates = append(p.gates,
		gate.Manifest(p.run.Manifest, facts),
		coverage,
		gate.Settings(p.run.Rows, p.run.Evals, slices.Concat(want.Throughput, want.Evals)),
		gate.Digest(p.run.Rows, r.NewDigest),
		gate.EvalDigest(p.run.Evals, r.NewDigest),
		gate.Health(p.run.Rows, foreign...),
		gate.Agreement(p.run.Rows, p.run.Evals),
	)
	return nil
}

// idle says that a run did nothing: a workflow whose jobs all decide that there
// is nothing to do ends with success and leaves nothing. Source: changelog
// specification, section 12, item 9.
func (w *work) idle(ctx context.Context, run forge.Run) (bool, error) {
	switch run.Conclusion {
	case "skipped":
		return true, nil
	case "success":
		listed, err := w.artifacts(ctx, run)
		return len(listed) == 0, err
	}
	return false, nil
}

func factsOf(run forge.Run, listed []forge.Artifact) gate.RunFacts {
	f := gate.RunFacts{
		ID: run.ID, Attempt: run.Attempt, Status: run.Status, Conclusion: run.Conclusion,
		Head: run.HeadSHA, Created: run.Created, Started: run.Started, Updated: run.Updated,
	}
	for _, a := range listed {
		f.Artifacts = append(f.Artifacts, gate.ArtifactFacts{Name: a.Name, Size: a.Size, Expired: a.Expired, Created: a.Created})
	}
	return f
}

// attempt is what a report of a run is made of.
type attempt struct {
	kind     string
	number   int
	run      forge.Run
	want     matrix.Selection
	proof    proof
	stands   report.Situation
	verdicts *compare.Result
}

// publishAttempt upserts the report of a run. Rendering reads no clock: the
// time in the heading is the run's own.
func (w *work) publishAttempt(ctx context.Context, a attempt) (string, error) {
	rec, err := w.attemptRecord(a)
	if err != nil {
		return "", err
	}
	base, err := w.frozenRecord()
	if err != nil {
		return "", err
	}
	comments, err := w.pages().AttemptRecords(w.c.Parent, w.c.ID, rec, base, a.verdicts)
	if err != nil {
		return "", fmt.Errorf("report of run %d: %w", a.run.ID, err)
	}
	p, err := w.ownPull(ctx)
	if err != nil {
		return "", err
	}
	return w.upsert(ctx, p.Number, comments)
}

func (w *work) attemptRecord(a attempt) (report.Attempt, error) {
	s, err := w.sentences()
	if err != nil {
		return report.Attempt{}, err
	}
	points, evals := report.FromRows(a.proof.run.Rows, a.proof.run.Evals)
	rec := report.Attempt{
		Kind: a.kind, Number: a.number, Head: a.run.HeadSHA, Image: w.c.NewImage,
		RunID: &a.run.ID, RunAttempt: &a.run.Attempt, Status: "failed",
		Change: s.change, Next: report.Next(a.stands),
		BenchmarksExpected: len(a.want.Throughput), EvalsExpected: len(a.want.Evals),
		Points: points, Evals: evals,
		UpdatedAt: a.run.Updated.UTC().Truncate(time.Second), PreparedBy: program,
		Evidence: evidenceOf(a.proof.run),
	}
	for _, p := range points {
		if p.Result == result.Passed {
			rec.BenchmarksPassed++
		}
	}
	for _, e := range evals {
		if e.Result == result.Passed {
			rec.EvalsPassed++
		}
	}
	if a.proof.verdict.Answer == gate.Pass {
		rec.Status = "passed"
	}
	err = rec.Validate(w.pages())
	if err != nil && a.proof.verdict.Answer != gate.Pass { // what was refused need not be fit to be shown
		rec.Points, rec.Evals, rec.BenchmarksPassed, rec.EvalsPassed, rec.Evidence = nil, nil, 0, 0, nil
		err = rec.Validate(w.pages())
	}
	return rec, err
}

// evidenceOf collects what a run showed besides its numbers.
func evidenceOf(r result.Run) *report.Evidence {
	var e report.Evidence
	var done, failed int
	known := true
	for _, row := range r.Rows {
		e.Jobs = append(e.Jobs, report.Job{Name: row.Label, Runner: row.Provenance.Runner})
		done += row.Requests
		if row.RequestErrors == nil {
			known = false
			continue
		}
		failed += *row.RequestErrors
	}
	if known && len(r.Rows) > 0 {
		e.RequestsDone, e.RequestsFailed = &done, &failed
	}
	return &e
}
