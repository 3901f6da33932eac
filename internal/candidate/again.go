package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
)

// Again asks, after a smoke run that failed for the image's sake, whether a
// further attempt is worth a run. It is false where nobody judges, for every
// other end, when policy.repairs attempts were made, and when the same edits
// failed twice. The edits of a further attempt are chosen in its own review.
func (s *Shepherd) Again(ctx context.Context, c Candidate) (bool, error) {
	if s.Judge == nil {
		return false, nil
	}
	w, err := s.open(ctx, c)
	if err != nil {
		return false, err
	}
	if err := w.obeyBase(ctx); err != nil {
		return false, err
	}
	sealed, err := evidence[Sealed](w, "outcome")
	if err != nil || sealed.Receipt.Phase != string(Targeted) || Outcome(sealed.Receipt.Outcome) != Uncertain || c.Attempt >= w.Config.Policy.Repairs {
		return false, nil
	}
	twice, err := w.failedBefore(ctx)
	if err != nil || twice {
		return false, err
	}
	q, err := w.againQuestion(ctx, sealed)
	if err != nil {
		return false, err
	}
	a, ok, _, err := w.ask(ctx, q, func(Answer) error { return nil })
	return ok && a.Decision == onceMore, err
}

// failedBefore says whether the attempt before this one made the same edits:
// they failed twice, and nothing is to be learnt from a third time.
func (w *work) failedBefore(ctx context.Context) (bool, error) {
	if w.c.Attempt == 0 {
		return false, nil
	}
	now, err := evidence[Inspected](w, "inspect")
	if err != nil {
		return false, nil
	}
	all, err := w.Ledger.Receipts(ctx, w.c.ID)
	if err != nil {
		return false, fmt.Errorf("candidate %s: read receipts: %w", w.c.ID, err)
	}
	for _, r := range ofAttempt(all, w.c.Attempt-1) {
		var before Inspected
		if r.Step == "inspect" && json.Unmarshal(r.Evidence, &before) == nil && reflect.DeepEqual(byFile(before.Edits), byFile(now.Edits)) {
			return true, nil
		}
	}
	return false, nil
}

// earlierEnds are the outcomes of a candidate's earlier attempts, oldest first.
func (w *work) earlierEnds(ctx context.Context) ([]string, error) {
	all, err := w.Ledger.Receipts(ctx, w.c.ID)
	if err != nil {
		return nil, fmt.Errorf("candidate %s: read receipts: %w", w.c.ID, err)
	}
	var ends []string
	for _, r := range all {
		var s Sealed
		if r.Step == "outcome" && json.Unmarshal(r.Evidence, &s) == nil {
			ends = append(ends, s.Receipt.Outcome+": "+s.Reason)
		}
	}
	return ends, nil
}

func (w *work) againQuestion(ctx context.Context, sealed Sealed) (Question, error) {
	files := map[string]any{"candidate.json": w.c, "outcome.json": sealed}
	if in, err := evidence[Inspected](w, "inspect"); err == nil {
		files["inspection.json"] = in
	}
	mine, err := w.published(ctx, sealed.Receipt.PullRequest)
	if err != nil {
		return Question{}, err
	}
	for _, p := range mine {
		if strings.HasPrefix(p.record.Name, "run-") {
			files[p.record.Name+".json"] = p.record.JSON
		}
	}
	for _, run := range sealed.Receipt.RunIDs {
		logs, err := w.lastLogs(ctx, run)
		if err != nil {
			return Question{}, err
		}
		if len(logs) > 0 {
			files[fmt.Sprintf("logs-%d.json", run)] = logs
		}
	}
	return Question{
		Kind: Again, Candidate: w.c, Commit: w.c.Base, Files: files, Evidence: slices.Sorted(maps.Keys(files)),
		Ask: "The smoke run on the new image failed: " + sealed.Reason + ". Its pull request is closed. " +
			"Is it something that other edits of the recipe would repair? A further attempt asks for them in its own review.",
		Decisions: []Option{
			{onceMore, "begin a further attempt; choose its edits in the review that follows"},
			{giveUp, "leave it with the outcome that it has"},
		},
	}, nil
}

// maxLog bounds what is kept of one log, in bytes: its end.
const maxLog = 16 << 10

// lastLogs are the ends of a run's logs, by artifact and file. A run that the
// forge no longer knows has none.
func (w *work) lastLogs(ctx context.Context, run int64) (map[string]string, error) {
	listed, err := w.Forge.Artifacts(ctx, run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("artifacts of run %d: %w", run, err)
	}
	logs := map[string]string{}
	for _, a := range listed {
		if a.Expired || !strings.HasPrefix(a.Name, "server_logs") {
			continue
		}
		if err := w.readLogs(ctx, a, logs); err != nil {
			return nil, err
		}
	}
	return logs, nil
}

func (w *work) readLogs(ctx context.Context, a forge.Artifact, into map[string]string) error {
	content, err := w.Forge.Download(ctx, a)
	if err != nil {
		return fmt.Errorf("artifact %s: %w", a.Name, err)
	}
	for name, data := range content {
		into[a.Name+"/"+name] = strings.ToValidUTF8(string(data[max(0, len(data)-maxLog):]), "\uFFFD")
	}
	return nil
}
