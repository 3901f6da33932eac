package candidate

import (
	"context"

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
// the numbers may have moved since.
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
	url, err := w.upsert(ctx, p.Number, comments)
	return Published{url}, err
}
