package candidate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// TestReceiptsOfOthersNeverCount: neither a forged end nor an adoption by
// somebody who may not write changes anything.
func TestReceiptsOfOthersNeverCount(t *testing.T) {
	w, c := remarked(t)
	before := w.snapshot(c).steps()
	sealed := mustJSON(Sealed{Receipt: report.Receipt{Outcome: string(Validated)}})
	adopted := mustJSON(Adopted{From: "bot", To: "reader", Pull: 1})
	for token, forged := range map[string][]Receipt{
		"maintainer-token": {{Step: "finish", By: "bot", Evidence: sealed}},
		"reader-token":     {{Step: "adopt", By: "reader", Evidence: adopted}, {Step: "finish", By: "reader", Evidence: sealed}},
	} {
		for i := range forged {
			forged[i].Candidate, forged[i].Subject, forged[i].At = c.ID, "x", time.Now()
		}
		l := &CommentLedger{Forge: w.client(token), Pages: w.shepherd(token).pages()}
		w.must(l.AppendAll(t.Context(), c, forged))
	}
	if after := w.snapshot(c).steps(); after != before {
		t.Errorf("receipts: got %s, want %s", after, before)
	}
	_, st, errs := w.process(gone(2)).upgrade()
	if st.Outcome != Validated || st.Sealed || st.Owner != "bot" || len(errs) > 0 || len(w.runs) != 2 {
		t.Errorf("got %s (%s) of %s, sealed %v, errors %v; want the bot to finish", st.Outcome, st.Reason, st.Owner, st.Sealed, errs)
	}
}

// TestAnEditedReceiptBlocks: nobody goes on past a receipt that another login
// edited, everybody is told, and it is over when the owner has put it right.
func TestAnEditedReceiptBlocks(t *testing.T) {
	w, c := remarked(t)
	w.forge.Now = func() time.Time { return time.Now().Add(5 * time.Second) } // forges tell whole seconds
	first := w.receiptComments(1)[0]
	w.must(w.client("maintainer-token").EditComment(t.Context(), first.ID, strings.Replace(first.Body, "smoke", "sweep", 1)))
	p := w.process(gone(2))
	s := p.shepherd()
	const want = " of bot is tampered: maintainer edited it at "
	for verb, do := range map[string]func() error{
		"advance":    func() error { _, err := s.Advance(t.Context(), c); return err },
		"stop":       func() error { _, err := s.Stop(t.Context(), c, Failed, "enough"); return err },
		"check-stop": func() error { _, err := s.CheckStop(t.Context(), c); return err },
		"adopt":      func() error { _, err := s.Adopt(t.Context(), c, "mine"); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", verb, err, want)
		}
	}
	shown, _, err := s.Show(t.Context(), c)
	w.must(err)
	list, err := s.Ledger.Candidates(t.Context())
	w.must(err)
	if !strings.Contains(shown.Reason, want) || shown.State == Done || len(list) != 1 || !strings.Contains(list[0].Next, want) {
		t.Errorf("shown: %s, %q; listed %+v; want what blocks it", shown.State, shown.Reason, list)
	}
	if len(p.writes) != 0 {
		t.Errorf("past an edited receipt it wrote %v", p.writes)
	}
	w.must(w.client("bot-token").EditComment(t.Context(), first.ID, first.Body))
	if _, st, errs := p.upgrade(); st.Outcome != Validated || len(errs) > 0 {
		t.Errorf("put right: %s (%s), errors %v; want validated", st.Outcome, st.Reason, errs)
	}
}

// TestAReceiptThatItsOwnerEditedIsNotBelieved: receipts are appended, never
// edited, by nobody.
func TestAReceiptThatItsOwnerEditedIsNotBelieved(t *testing.T) {
	w, c := remarked(t)
	first := w.receiptComments(1)[0]
	w.must(w.client("bot-token").EditComment(t.Context(), first.ID, strings.Replace(first.Body, newImage, oldImage, 1)))
	s := w.process(gone(2)).shepherd()
	const want = " of bot begins like receipts and is not as it was written (record receipt dispatch-"
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if shown, _, err := s.Show(t.Context(), c); err != nil || !strings.Contains(shown.Reason, want) {
		t.Errorf("shown: %q, %v; want what blocks it", shown.Reason, err)
	}
}

// TestOfTwoEqualReceiptCommentsTheOlderCounts: a write that was done twice is
// read once.
func TestOfTwoEqualReceiptCommentsTheOlderCounts(t *testing.T) {
	w, c := remarked(t)
	before := w.snapshot(c).steps()
	_, err := w.client("bot-token").AddComment(t.Context(), 1, w.receiptComments(1)[0].Body)
	w.must(err)
	if after := w.snapshot(c).steps(); after != before {
		t.Errorf("receipts: got %s, want %s", after, before)
	}
}

// TestReceiptsTooLongForACommentAreSplit: parts first, the comment that makes
// them count last; written again, nothing is added; a part that somebody
// changed blocks.
func TestReceiptsTooLongForACommentAreSplit(t *testing.T) {
	w, c := remarked(t)
	var noise strings.Builder
	for i := range 8000 {
		noise.WriteString(workspace.Identity(i)[:40])
	}
	r := Receipt{Candidate: c.ID, Step: "verdict", Subject: "s", By: "bot", At: w.snapshot(c).receipts[0].At, Evidence: mustJSON(map[string]string{"noise": noise.String()})}
	l := w.shepherd("bot-token").Ledger.(*aging)
	before := len(w.receiptComments(1))
	for range 2 {
		w.must(l.AppendAll(t.Context(), c, []Receipt{r}))
	}
	added := w.receiptComments(1)[before:]
	if len(added) < 3 || !strings.Contains(added[0].Body, ":verdict-part-1-") || strings.Contains(strings.SplitN(added[len(added)-1].Body, "\n", 2)[0], "-part-") {
		t.Fatalf("%d comments were added, want parts and then their index", len(added))
	}
	for _, cm := range added {
		if n := len([]rune(cm.Body)); n >= 60000 {
			t.Errorf("a comment has %d characters, want fewer than 60,000", n)
		}
	}
	all, err := l.Receipts(t.Context(), c.ID)
	w.must(err)
	if last := all[len(all)-1]; !last.same(r) || string(last.Evidence) != string(r.Evidence) {
		t.Errorf("read back: receipt of %s with %d bytes of evidence, want %d", last.Step, len(last.Evidence), len(r.Evidence))
	}
	w.must(w.client("bot-token").EditComment(t.Context(), added[1].ID, strings.Replace(added[1].Body, `"data":"`, `"data":"AAAA`, 1)))
	if _, err := l.Receipts(t.Context(), c.ID); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a changed part: got %v, want that it was changed", err)
	}
}

// TestAdoptionThroughComments: who may write adopts, and is believed from then
// on; the owner before is not.
func TestAdoptionThroughComments(t *testing.T) {
	w, c := remarked(t)
	runs := len(w.runs)
	p := w.maintainer()
	s := p.shepherd()
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), "#1 is by bot, the credential is maintainer; `refit candidate adopt "+c.ID) {
		t.Fatalf("before the adoption: got %v, want the mismatch", err)
	}
	a, err := s.Adopt(t.Context(), c, "handover")
	w.must(err)
	again, err := s.Adopt(t.Context(), c, "again")
	w.must(err)
	if diff := cmp.Diff(a, again); diff != "" || a.From != "bot" || a.To != "maintainer" || a.Records != 2 {
		t.Errorf("adopted %+v, twice (-first +second):\n%s", a, diff)
	}
	late := Receipt{Candidate: c.ID, Step: "certify", Subject: "late", By: "bot", At: time.Now(), Evidence: mustJSON(Certified{})}
	w.must((&CommentLedger{Forge: w.client("bot-token"), Pages: s.pages()}).AppendAll(t.Context(), c, []Receipt{late}))
	if w.snapshot(c).have()["certify"] {
		t.Error("a receipt of the owner before the adoption counts")
	}
	_, st, errs := p.upgrade()
	if st.Outcome != Validated || st.Owner != "maintainer" || len(errs) > 0 || len(w.runs) != max(runs, 2) {
		t.Errorf("after the adoption: %s (%s) of %s, errors %v, %d runs; want validated, nothing measured again", st.Outcome, st.Reason, st.Owner, errs, len(w.runs))
	}
}

// TestATakeoverOfSomebodyWhoMayWriteCounts: it is shown to everybody, and
// nobody else can make one.
func TestATakeoverOfSomebodyWhoMayWriteCounts(t *testing.T) {
	w, c := remarked(t)
	w.hold(c, elsewhere())
	taken, err := w.maintainer().shepherd().Takeover(t.Context(), c, "that machine burned down")
	w.must(err)
	forged := Receipt{Candidate: c.ID, Step: "takeover", Subject: "x", By: "reader", At: time.Now(), Evidence: mustJSON(taken)}
	w.must((&CommentLedger{Forge: w.client("reader-token"), Pages: w.shepherd("reader-token").pages()}).AppendAll(t.Context(), c, []Receipt{forged}))
	all := w.snapshot(c).receipts
	if last := all[len(all)-1]; last.Step != "takeover" || last.By != "maintainer" || strings.Count(w.snapshot(c).steps(), "takeover") != 1 {
		t.Errorf("last receipt: %s by %s of %s; want the maintainer's takeover alone", last.Step, last.By, w.snapshot(c).steps())
	}
	if _, st, errs := w.process(gone(5)).upgrade(); st.Outcome != Validated || st.Owner != "bot" || len(errs) > 0 {
		t.Errorf("after the takeover: %s (%s) of %s, errors %v; want validated", st.Outcome, st.Reason, st.Owner, errs)
	}
}

// TestAPersonsCloseIsListedAsAHandoff: nobody would wait for it.
func TestAPersonsCloseIsListedAsAHandoff(t *testing.T) {
	w, c := remarked(t)
	closed := "closed"
	w.must(w.client("maintainer-token").EditPull(t.Context(), 1, forge.PullEdit{State: &closed}))
	list := w.snapshot(c).candidates
	if len(list) != 1 || list[0].Outcome != Handoff || list[0].State != Done {
		t.Errorf("listed %+v, want a handoff", list)
	}
	st, err := w.process(gone(2)).shepherd().Advance(t.Context(), c)
	w.must(err)
	if st.Outcome != Handoff {
		t.Errorf("advanced: %s, want the same", st.Outcome)
	}
	if again := w.snapshot(c).candidates; len(again) != 1 || again[0].Outcome != Handoff {
		t.Errorf("listed again %+v, want a handoff", again)
	}
}
