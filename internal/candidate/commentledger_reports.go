package candidate

import (
	"cmp"
	"context"

	"github.com/refit-bench/refit/internal/report"
)

// Reports are the records that a candidate's owner published on its newest pull
// request, for a machine that has not published them itself. Receipts are not
// among them. A Tampered says that somebody else has edited one.
func (l *CommentLedger) Reports(ctx context.Context, id string) ([]report.NamedComment, error) {
	k, err := l.kept(ctx, id)
	if err != nil {
		return nil, err
	}
	r := reading{CommentLedger: l, seen: map[string]bool{}}
	var out []report.NamedComment
	for _, c := range k.comments {
		rec, ok, err := report.ParseRecord(l.Pages.Prefix, c.Body)
		name := cmp.Or(rec.Name, rec.Kind)
		if c.Author != k.owner || err != nil || !ok || rec.ID != id || rec.Kind == report.ReceiptKind || r.seen[name] {
			continue
		}
		if err := r.unedited(ctx, c); err != nil {
			return nil, err
		}
		r.seen[name] = true
		out = append(out, report.NamedComment{Name: name, Body: c.Body})
	}
	return out, nil
}
