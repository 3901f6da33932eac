package candidate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// Published is what a step that only publishes leaves behind.
type Published struct {
	URL string `json:"url"`
}

func (p Published) String() string { return p.URL }

func byBaseline(_ context.Context, w *work) (string, error) {
	r, err := evidence[Rehearsed](w, "rehearse")
	if err != nil {
		return "", err
	}
	return workspace.Identity(r.Baseline), nil
}

// baseline publishes what rehearse froze. It is never computed a second time:
// the numbers may have moved since. One that stands is kept.
func (w *work) baseline(ctx context.Context) (any, error) {
	rec, err := w.frozenRecord()
	if err != nil {
		return nil, err
	}
	comments, err := w.pages().BaselineRecords(w.c.Parent, w.c.ID, rec)
	if err != nil {
		return nil, err
	}
	p, err := w.ownPull(ctx)
	if err != nil {
		return nil, err
	}
	mine, err := w.published(ctx, p.Number)
	if err != nil {
		return nil, err
	}
	if err := w.sameBaseline(mine, comments[len(comments)-1]); err != nil {
		return nil, err
	}
	url, err := w.upsertOver(ctx, p.Number, mine, comments)
	return Published{url}, err
}

// sameBaseline refuses another record in the place of one that is frozen: what
// everything was compared with does not change under it. Only the words may.
func (w *work) sameBaseline(mine map[string]publication, index report.NamedComment) error {
	next, _, err := report.ParseRecord(w.prefix(), index.Body)
	if err != nil {
		return err
	}
	there, ok := mine[next.Kind+"/"+next.Name]
	if !ok {
		return nil
	}
	frozen, err := numbersOf(there.record.JSON)
	if err != nil {
		return err
	}
	now, err := numbersOf(next.JSON)
	if err == nil && !bytes.Equal(frozen, now) {
		err = fmt.Errorf("the baseline at %s is frozen and differs from the one this session has: end the candidate with `refit candidate stop %s --reason TEXT`, a later upgrade freezes a new one", there.url, w.c.ID)
	}
	return err
}

// numbersOf is a baseline's record without its prose and its sources.
func numbersOf(record json.RawMessage) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(record, &all); err != nil {
		return nil, fmt.Errorf("baseline record: %w", err)
	}
	for _, words := range []string{"goal", "status", "prepared-by", "sources"} {
		delete(all, words)
	}
	return json.Marshal(all)
}
