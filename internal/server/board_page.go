package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// CandidatePage is everything that is known of a candidate here: its last
// computed state, its receipts, the runs in the store and the published reports.
// Only the ledger may ask a forge. fs.ErrNotExist says that there is no such candidate.
func CandidatePage(ctx context.Context, w *workspace.Workspace, l candidate.Ledger, s *store.Store, id string) (report.BoardPage, error) {
	sum, ok, err := candidate.Lookup(ctx, l, id)
	if err != nil {
		return report.BoardPage{}, err
	}
	if !ok {
		return report.BoardPage{}, fmt.Errorf("candidate %s: %w", id, fs.ErrNotExist)
	}
	p := report.BoardPage{Row: boardRow(sum)}
	receipts, err := l.Receipts(ctx, id)
	if reason, changed := candidate.Changed(err); changed {
		p.Row.Evidence = append(p.Row.Evidence, reason)
	} else if err != nil {
		return p, err
	}
	for _, r := range receipts {
		p.Receipts = append(p.Receipts, report.BoardReceipt{Step: r.Step, Subject: r.Subject, By: r.By, At: r.At, Detail: candidate.Describe(r)})
	}
	if in, ok := newest[candidate.Inspected](receipts, "inspect"); ok {
		p.Source = &in.Comparison
	}
	if err := addPublished(ctx, &p, w, l, id); err != nil {
		return p, err
	}
	return p, addRuns(ctx, &p, s, sum.Branch(w.Config.Policy.Prefix), receipts)
}

// newest is the evidence of a step's newest receipt.
func newest[T any](receipts []candidate.Receipt, step string) (T, bool) {
	var v T
	for _, r := range slices.Backward(receipts) {
		if r.Step == step {
			return v, json.Unmarshal(r.Evidence, &v) == nil
		}
	}
	return v, false
}

// addRuns adds the runs of both images and the verdicts on them: those that
// were certified, else those that follow from the runs.
func addRuns(ctx context.Context, p *report.BoardPage, s *store.Store, branch string, receipts []candidate.Receipt) error {
	images, ok := newest[candidate.Resolved](receipts, "resolve")
	if !ok {
		return nil
	}
	published := true
	before := store.Query{Family: p.Row.Family, Digest: images.OldDigest, Published: &published}
	after := store.Query{Family: p.Row.Family, Digest: images.NewDigest}
	old, oldEvals, err := stored(ctx, s, before)
	if err != nil {
		return err
	}
	new, newEvals, err := stored(ctx, s, after)
	if err != nil {
		return err
	}
	new = slices.DeleteFunc(new, func(r result.Row) bool { return !swept(r.Provenance, branch) })
	newEvals = slices.DeleteFunc(newEvals, func(e result.EvalRow) bool { return !swept(e.Provenance, branch) })
	if at, ok := began(new); ok { // what was published later stands behind no verdict
		old = slices.DeleteFunc(old, func(r result.Row) bool { return r.Provenance.Started.After(at) })
		oldEvals = slices.DeleteFunc(oldEvals, func(e result.EvalRow) bool { return e.Provenance.Started.After(at) })
	}
	p.Old, p.New = compare.ByRun(old), compare.ByRun(new)
	c, judged := newest[candidate.Certified](receipts, "certify")
	if !judged {
		c, judged = newest[candidate.Certified](receipts, "verdict")
	}
	if judged {
		p.Verdicts, p.Gates = &c.Result, c.Gates
	} else if len(new) > 0 {
		r := compare.Compare(p.Old, p.New, oldEvals, newEvals)
		p.Verdicts = &r
	}
	return nil
}

func stored(ctx context.Context, s *store.Store, q store.Query) ([]result.Row, []result.EvalRow, error) {
	rows, err := s.Points(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	evals, err := s.Evals(ctx, q)
	return rows, evals, err
}

// swept says whether a row is of a full sweep of the branch: a targeted run
// was dispatched.
func swept(p result.Provenance, branch string) bool {
	return p.Branch == branch && p.Event == "pull_request"
}

func began(rows []result.Row) (first time.Time, ok bool) {
	for _, r := range rows {
		if !ok || r.Provenance.Started.Before(first) {
			first, ok = r.Provenance.Started, true
		}
	}
	return first, ok
}
