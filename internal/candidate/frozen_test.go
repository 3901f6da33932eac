package candidate

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/gate"
)

func decode(src []byte, into any) error { return json.Unmarshal(src, into) }

// rewrite changes the newest receipt of a step, as a store does that lost it
// and made it again on another day.
func rewrite[T any](w *world, step string, change func(*T)) {
	w.t.Helper()
	for i := range w.ledger.receipts {
		if w.ledger.receipts[i].Step != step {
			continue
		}
		var v T
		w.must(decode(w.ledger.receipts[i].Evidence, &v))
		change(&v)
		w.ledger.receipts[i].Evidence = mustJSON(v)
	}
}

// A different record for a frozen baseline is refused: the one that stands is kept.
func TestAFrozenBaselineIsNotReplaced(t *testing.T) {
	w, c := left(t)
	bot := w.client("bot-token")
	before, err := bot.Comments(t.Context(), 1)
	w.must(err)
	rewrite(w, "rehearse", func(r *Rehearsed) {
		faster := *r.Baseline.Points[0].Values.OutputTPSGPU + 1
		r.Baseline.Points[0].Values.OutputTPSGPU = &faster
	})
	_, err = w.shepherd("bot-token").Advance(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "the baseline at "+before[0].URL+" is frozen and differs") || !strings.Contains(err.Error(), "`refit candidate stop "+c.ID) {
		t.Errorf("got %v, want that the baseline is frozen, and what to do", err)
	}
	after, err := bot.Comments(t.Context(), 1)
	w.must(err)
	if len(after) != len(before) || after[0].Body != before[0].Body {
		t.Error("the frozen record was written over")
	}
}

// A comparison of sources that is too long for a description is left out of it:
// the forge would refuse the pull request after everything else was written.
func TestTheDescriptionStaysWithinItsLimit(t *testing.T) {
	w, c := left(t)
	for long, want := range map[bool]string{false: "was read from nowhere", true: "too long for this page; `refit inspect` prints it."} {
		rewrite(w, "inspect", func(i *Inspected) {
			i.Comparison.NotRead = []string{"was read from nowhere"}
			if long {
				i.Comparison.NotRead = []string{strings.Repeat("was read from nowhere ", 3000)}
			}
		})
		work, err := w.shepherd("bot-token").open(t.Context(), c)
		w.must(err)
		body, err := work.body()
		w.must(err)
		if !strings.Contains(body, want) || len(body) >= longestBody {
			t.Errorf("long %v: description of %d bytes, want %q in it and under %d", long, len(body), want, longestBody)
		}
	}
}

// Other words about the same numbers are no other baseline.
func TestAFrozenBaselineMayBeSaidInOtherWords(t *testing.T) {
	w, c := left(t)
	rewrite(w, "rehearse", func(r *Rehearsed) { r.Baseline.Sources = []string{"http://results.invalid/api/v1/benchmarks"} })
	if _, st := w.upgrade(w.shepherd("bot-token")); st.Outcome != Validated {
		t.Errorf("%s: got %s (%s), want validated", c.ID, st.Outcome, st.Reason)
	}
}

// That today's family covers the baseline is proved again when it is certified
// and finished.
func TestTheRosterIsProvedAtTheEnd(t *testing.T) {
	w := newWorld(t)
	c, _ := w.upgrade(w.shepherd("bot-token"))
	cert, ok, err := w.shepherd("bot-token").Certificate(t.Context(), c)
	w.must(err)
	var roster gate.Verdict
	for _, v := range cert.Gates {
		if v.Gate == "roster" {
			roster = v
		}
	}
	if !ok || roster.Answer != gate.Pass {
		t.Errorf("gates %v: want that the roster passed", cert.Gates)
	}
}

// A receipt that stands is not edited, whatever runs have skipped since.
func TestAReceiptIsNotEdited(t *testing.T) {
	w := newWorld(t)
	_, first := w.upgrade(w.shepherd("bot-token"))
	before := w.outcomeOf(first.Pull)
	w.ledger.lose("finish")
	w.must(w.client("maintainer-token").AddLabel(t.Context(), first.Pull, "documentation"))
	w.forge.Wait() // the label's event has started a run that skips
	w.forge.Now = func() time.Time { return time.Now().Add(5 * time.Second) }
	_, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Validated || !w.ledger.have()["finish"] {
		t.Errorf("got %s (%s), receipts %s; want validated again", st.Outcome, st.Reason, w.ledger.steps())
	}
	comments, err := w.client("bot-token").Comments(t.Context(), first.Pull)
	w.must(err)
	last := comments[len(comments)-1]
	if diff := cmp.Diff(before, w.outcomeOf(first.Pull)); diff != "" || len(comments) != 4 || !last.Updated.Equal(last.Created) {
		t.Errorf("%d comments, the receipt of %s was changed at %s (-before +after):\n%s", len(comments), last.Created, last.Updated, diff)
	}
}
