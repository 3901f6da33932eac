package candidate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// Sealed is what the end of a candidate leaves behind, whatever the end.
type Sealed struct {
	Receipt report.Receipt `json:"receipt"`
	Reason  string         `json:"reason,omitempty"` // why it is not validated
	URL     string         `json:"url,omitempty"`
}

func (s Sealed) String() string { return s.Receipt.Outcome + " " + s.URL }

func byHead(ctx context.Context, w *work) (string, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return "", err
	}
	return workspace.Identity([]string{p.HeadSHA, w.receipts["certify"].Subject}), nil
}

// finish proves the artifacts once more, sees that the final report stands,
// marks the pull request ready and writes the receipt.
func (w *work) finish(ctx context.Context) (any, error) {
	v, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	c, a, err := w.judge(ctx, v)
	if err != nil {
		return nil, err
	}
	if verdict := gate.All(c.Gates); verdict.Answer != gate.Pass {
		return nil, &End{Outcome: Uncertain, Phase: FinalSweep, Reason: "at finish: " + verdict.Reason}
	}
	a.stands = report.Validated
	if _, err := w.publishAttempt(ctx, a); err != nil { // puts it back if somebody removed it
		return nil, err
	}
	if err := w.relabel(ctx); err != nil {
		return nil, err
	}
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	if p.Draft {
		if err := w.Forge.MarkReady(ctx, p); err != nil {
			return nil, fmt.Errorf("mark ready: %w", err)
		}
	}
	if err := w.stillAt(ctx, v.Commit); err != nil {
		return nil, err
	}
	return w.seal(ctx, Validated, FinalSweep, "", marks(c), c.Origins)
}

// stillAt looks once more, after the last change and before the receipt: what
// is sealed must be what was proved.
func (w *work) stillAt(ctx context.Context, head string) error {
	if err := isOwned(ctx, w); err != nil {
		return err
	}
	if p, err := w.ownPull(ctx); err != nil || p.HeadSHA == head {
		return err
	}
	return Waiting{"a fresh look: the head has moved"}
}

// relabel puts the sweep label back where redoing the entry took it off; that
// head says [skip-sweep], so nothing starts.
func (w *work) relabel(ctx context.Context) error {
	p, err := w.ownPull(ctx)
	want := w.Config.Policy.SweepLabel
	if err != nil || slices.Contains(p.Labels, want) {
		return err
	}
	w.pull = nil
	if err := w.Forge.AddLabel(ctx, p.Number, want); err != nil {
		return fmt.Errorf("label %s: %w", want, err)
	}
	return nil
}

// marks are what a validated candidate must carry visibly.
func marks(c Certified) []string {
	var out []string
	for _, d := range dimensions {
		if d != "ttft" && c.Verdicts[d] == "inconclusive" {
			out = append(out, d+" inconclusive")
		}
	}
	return out
}

// seal publishes the receipt and records the outcome. Run ids are read again
// now: label changes may have started runs that skip.
func (w *work) seal(ctx context.Context, o Outcome, phase Phase, reason string, marks []string, origins []report.Origin) (Sealed, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return Sealed{}, err
	}
	runs, err := w.ownedRuns(ctx)
	if err != nil {
		return Sealed{}, err
	}
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return Sealed{}, err
	}
	rec := report.Receipt{
		Candidate: w.c.ID, Family: w.c.Family, Outcome: string(o), Phase: string(phase), PullRequest: p.Number,
		RunIDs: ids(runs), Head: p.HeadSHA, Digest: r.NewDigest, Marks: marks, Origins: origins, Finished: w.now.UTC(),
	}
	if m, err := evidence[Measured](w, "sweep"); err == nil && m.Head != p.HeadSHA {
		rec.MeasuredAt = m.Head
	}
	if err := rec.Validate(); err != nil {
		return Sealed{}, fmt.Errorf("receipt: %w", err)
	}
	mine, err := w.published(ctx, p.Number)
	if err != nil {
		return Sealed{}, err
	}
	if s, ok := standingSeal(mine, rec, reason); ok {
		return s, nil
	}
	body, err := w.pages().Record("outcome", w.c.Parent, w.c.ID, "", rec, w.pages().ReceiptComment(rec))
	if err != nil {
		return Sealed{}, fmt.Errorf("receipt: %w", err)
	}
	url, err := w.upsertOver(ctx, p.Number, mine, []report.NamedComment{{Name: "outcome", Body: body}})
	return Sealed{rec, reason, url}, err
}

// standingSeal is the receipt that was published before its line in the ledger
// was lost: it says the same, only earlier. It is not written a second time, and
// not changed either: runs that skip may have come since.
func standingSeal(mine map[string]publication, rec report.Receipt, reason string) (Sealed, bool) {
	there, ok := mine["outcome/"]
	var old report.Receipt
	if !ok || json.Unmarshal(there.record.JSON, &old) != nil {
		return Sealed{}, false
	}
	rec.Finished, rec.RunIDs = old.Finished, old.RunIDs
	return Sealed{old, reason, there.url}, bytes.Equal(mustJSON(old), mustJSON(rec))
}

// ownedRuns are the candidate's targeted runs and the sweeps of its branch.
// What other workflows make of its pull request is not ours to cancel.
func (w *work) ownedRuns(ctx context.Context) ([]forge.Run, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	sweeps, err := w.Forge.Runs(ctx, forge.RunFilter{
		Branch: w.c.Branch(w.prefix()), Event: "pull_request", Workflow: w.Config.Executor.Sweep, Since: p.Created,
	})
	if err != nil {
		return nil, fmt.Errorf("sweep runs: %w", err)
	}
	if sweeps, err = w.ofThisAttempt(ctx, sweeps); err != nil {
		return nil, err
	}
	dispatched, err := w.dispatched(ctx, p)
	return append(sweeps, dispatched...), err
}

func ids(runs []forge.Run) []int64 {
	var out []int64
	for _, r := range runs {
		out = append(out, r.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("candidate: evidence of type %T must marshal: %v", v, err))
	}
	return data
}
