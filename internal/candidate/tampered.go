package candidate

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Tampered is the receipt of a record that somebody else has edited. It blocks
// the candidate until the record is as its owner wrote it, or gone: then it is
// published again.
type Tampered struct {
	Record string    `json:"record"` // its address
	Owner  string    `json:"owner"`
	Editor string    `json:"editor"`
	At     time.Time `json:"at"`
}

func (t Tampered) String() string {
	return fmt.Sprintf("record %s of %s is tampered: %s edited it at %s", t.Record, t.Owner, t.Editor, t.At.UTC().Format(time.DateTime))
}

func (t Tampered) Error() string { return t.String() + "; delete it, and it is published again" }

// untampered looks at the candidate's records before anything is done, and
// keeps a receipt of what blocks it, so that it is shown.
func (w *work) untampered(ctx context.Context) error {
	if !w.claimed {
		return nil
	}
	t, found, err := w.editedRecord(ctx)
	if err != nil {
		return err
	}
	last, blocked := w.blocked()
	switch {
	case found && (!blocked || last != t):
		if err := w.takeLease(ctx); ignoreWaiting(err) != nil {
			return err
		} else if err == nil {
			if err := w.keep(ctx, "tampered", t.Record, t); err != nil {
				return err
			}
		}
		return t
	case found:
		return t
	case blocked:
		if err := w.takeLease(ctx); err != nil {
			return ignoreWaiting(err)
		}
		return w.keep(ctx, "intact", w.receipts["tampered"].Subject, last)
	}
	return nil
}

// blocked is the last record that was found tampered and not found intact since.
func (w *work) blocked() (Tampered, bool) {
	t, err := evidence[Tampered](w, "tampered")
	if err != nil {
		return t, false
	}
	intact, err := evidence[Tampered](w, "intact")
	return t, err != nil || intact != t
}

// editedRecord is the first comment of the owner that carries a marker of this
// prefix and that another login edited. Forges count in whole seconds: a
// comment that is as old as it was never is not asked about.
func (w *work) editedRecord(ctx context.Context) (Tampered, bool, error) {
	p, err := w.ownPull(ctx)
	if err != nil {
		return Tampered{}, false, err
	}
	there, err := w.Forge.Comments(ctx, p.Number)
	if err != nil {
		return Tampered{}, false, fmt.Errorf("comments of #%d: %w", p.Number, err)
	}
	owner := w.owner(p)
	for _, c := range there {
		if c.Author != owner || c.Updated.Equal(c.Created) || !strings.HasPrefix(c.Body, "<!-- "+w.prefix()+"-") {
			continue
		}
		editor, at, err := w.Forge.Editor(ctx, c)
		if err != nil {
			return Tampered{}, false, err
		}
		if editor != "" && editor != owner {
			return Tampered{Record: c.URL, Owner: owner, Editor: editor, At: at}, true, nil
		}
	}
	return Tampered{}, false, nil
}
