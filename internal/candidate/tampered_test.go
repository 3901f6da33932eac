package candidate

import (
	"strings"
	"testing"
	"time"
)

// TestATamperedRecordBlocks: nobody goes on past a record that another login
// edited, it is shown, and it is over when the record is gone.
func TestATamperedRecordBlocks(t *testing.T) {
	w, c := left(t)
	bot, other := w.client("bot-token"), w.client("maintainer-token")
	comments, err := bot.Comments(t.Context(), 1)
	w.must(err)
	w.forge.Now = func() time.Time { return time.Now().Add(5 * time.Second) } // forges tell whole seconds
	w.must(other.EditComment(t.Context(), comments[0].ID, strings.Replace(comments[0].Body, "100", "900", 1)))
	_, where, _ := strings.Cut(comments[0].URL, "/toy/recipes/")
	p := w.process(gone(2))
	for range 2 {
		if _, err := p.shepherd().Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), where+" of bot is tampered: maintainer edited it at ") {
			t.Fatalf("got %v, want the record, its owner and its editor", err)
		}
	}
	if n := strings.Count(w.ledger.steps(), "tampered"); n != 1 {
		t.Errorf("receipts %s: want that it is noted once", w.ledger.steps())
	}
	shown, _, err := p.shepherd().Show(t.Context(), c)
	w.must(err)
	if !strings.Contains(shown.Reason, "is tampered: maintainer edited it") || shown.State == Done {
		t.Errorf("shown: %s, reason %q; want what blocks it", shown.State, shown.Reason)
	}
	now, err := bot.Comments(t.Context(), 1)
	w.must(err)
	if len(now) != len(comments) || now[0].Body == comments[0].Body {
		t.Error("the tampered record was written over")
	}
	// The owner puts it right: the last editor is the owner again.
	w.must(bot.EditComment(t.Context(), comments[0].ID, comments[0].Body))
	_, st, errs := p.upgrade()
	shown, _, err = p.shepherd().Show(t.Context(), c)
	w.must(err)
	if st.Outcome != Validated || len(errs) > 0 || shown.Reason != "" {
		t.Errorf("put right: %s (%s), errors %v, shown %q; want validated", st.Outcome, st.Reason, errs, shown.Reason)
	}
}
