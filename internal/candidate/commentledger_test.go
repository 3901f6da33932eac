package candidate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// aging is a comment ledger that can let the receipts of asking for something
// become old enough to ask again.
type aging struct {
	*CommentLedger
	mu     sync.Mutex
	before time.Time
}

// Receipts makes those of earlier rounds older than they are.
func (a *aging) Receipts(ctx context.Context, id string) ([]Receipt, error) {
	rs, err := a.CommentLedger.Receipts(ctx, id)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, r := range rs {
		if (r.Step == "round" || r.Step == "dispatch") && r.At.Before(a.before) {
			rs[i].At = r.At.Add(-2 * labelLag)
		}
	}
	return rs, err
}

func (a *aging) age() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.before = time.Now()
}

// comment lets a session keep its receipts in comments, where this world does.
func (w *world) comment(s *Shepherd) *aging {
	if !w.comments {
		return nil
	}
	a := &aging{CommentLedger: &CommentLedger{Forge: s.Forge, Pages: s.pages()}}
	s.Ledger = a
	return a
}

// snapshot is what somebody without a store reads of a candidate.
func (w *world) snapshot(c Candidate) *memory {
	w.t.Helper()
	s := w.shepherd("bot-token")
	receipts, err := s.Ledger.Receipts(w.t.Context(), c.ID)
	w.must(err)
	all, err := s.Ledger.Candidates(w.t.Context())
	w.must(err)
	return &memory{receipts: receipts, candidates: all}
}

// receiptComments are the comments of a pull request that hold receipts.
func (w *world) receiptComments(pull int) []forge.Comment {
	w.t.Helper()
	all, err := w.client("bot-token").Comments(w.t.Context(), pull)
	w.must(err)
	return slices.DeleteFunc(all, func(c forge.Comment) bool { return !strings.HasPrefix(c.Body, "<!-- refit-receipt:") })
}

// inComments are stories whose receipts are comments.
func inComments(s story) story {
	return story{s.name, func(w *world) { w.comments = true; s.set(w) }, s.want}
}

// remarked is a world whose candidate was left while its sweep ran.
func remarked(t *testing.T) (*world, Candidate) {
	w := newWorld(t)
	w.comments = true
	s := w.process(gone(1)).shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 4 {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
		if w.snapshot(c).have()["smoke"] {
			return w, c
		}
	}
	t.Fatalf("no smoke: receipts %s", w.snapshot(c).steps())
	return w, c
}

// TestReceiptsInCommentsNeedNoStore: after a whole upgrade everything local is
// gone, and a second machine lists, shows, finds and ends the same candidate.
func TestReceiptsInCommentsNeedNoStore(t *testing.T) {
	steps := map[string]string{
		"validated": "[resolve inspect rehearse propose baseline dispatch dispatch smoke enter sweep certify finish]",
		"regressed": "[resolve inspect rehearse propose baseline dispatch dispatch smoke enter sweep verdict cleanup outcome]",
		"uncertain": "[resolve inspect rehearse propose baseline dispatch dispatch cleanup outcome]",
	}
	for _, s := range stories[:3] {
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t)
			inComments(s).set(w)
			c, st, errs := w.machine("aaaaaaaaaaaa").upgrade()
			if st.Outcome != s.want || len(errs) > 0 {
				t.Fatalf("got %s (%s), errors %v, want %s", st.Outcome, st.Reason, errs, s.want)
			}
			if got := w.snapshot(c).steps(); got != steps[s.name] {
				t.Errorf("receipts: got %s, want %s", got, steps[s.name])
			}
			b := w.machine("bbbbbbbbbbbb")
			w.standsElsewhere(b.shepherd(), c, st)
			if len(b.writes) != 0 {
				t.Errorf("who only looks wrote %v", b.writes)
			}
			if n := len(w.receiptComments(1)); n > 6 {
				t.Errorf("%d comments with receipts, want one for each wait and each end, and one before the smoke run is asked for", n)
			}
		})
	}
}

// standsElsewhere looks at a candidate that has ended with a session that has
// nothing but the forge.
func (w *world) standsElsewhere(s *Shepherd, c Candidate, st Status) {
	w.t.Helper()
	ctx := w.t.Context()
	list, err := s.Ledger.Candidates(ctx)
	w.must(err)
	if len(list) != 1 || list[0].Candidate != c || list[0].Outcome != st.Outcome || list[0].State != Done || list[0].Pull != 1 || list[0].Owner != "bot" {
		w.t.Errorf("listed: %+v, want %s of %s by bot", list, st.Outcome, c.ID)
	}
	shown, receipts, err := s.Show(ctx, c)
	w.must(err)
	if shown.Outcome != st.Outcome || shown.State != Done || len(receipts) < 5 {
		w.t.Errorf("shown: %s, %s, %d receipts; want done, %s", shown.State, shown.Outcome, len(receipts), st.Outcome)
	}
	if diff := cmp.Diff(st.Verdicts, shown.Verdicts); diff != "" {
		w.t.Errorf("verdicts (-first +second):\n%s", diff)
	}
	for _, name := range []string{c.ID, c.Family, c.Key()} {
		if found, err := s.Find(ctx, name); err != nil || found != c {
			w.t.Errorf("find %s: got %+v, %v", name, found, err)
		}
	}
	reports, err := s.Ledger.(*aging).Reports(ctx, c.ID)
	w.must(err)
	if len(reports) < 3 || reports[0].Name != "baseline" || reports[len(reports)-1].Name != "outcome" {
		w.t.Errorf("%d reports, want those from the baseline to the outcome: %+v", len(reports), reports)
	}
	again, err := s.Advance(ctx, c)
	w.must(err)
	if !again.Sealed || again.Outcome != st.Outcome {
		w.t.Errorf("advanced elsewhere: sealed %v, %s; want what stands", again.Sealed, again.Outcome)
	}
	if left, err := s.CheckStop(ctx, c); err != nil || left != "" {
		w.t.Errorf("check-stop: got %q, %v; want nothing left", left, err)
	}
}

// TestAnotherMachineGoesOnFromComments: what the first machine found is not
// found again, and one of everything comes out.
func TestAnotherMachineGoesOnFromComments(t *testing.T) {
	s := inComments(stories[0])
	want, _ := s.undisturbed(t)
	w, c := remarked(t)
	b := w.machine("bbbbbbbbbbbb")
	var kept []string
	session := b.shepherd()
	session.Tell = func(e Event) {
		if e.Mark == "kept" {
			kept = append(kept, e.Step)
		}
	}
	st, err := session.Advance(t.Context(), c)
	w.must(err)
	if got := fmt.Sprint(kept); !strings.HasPrefix(got, "[resolve inspect rehearse propose baseline smoke") {
		t.Errorf("kept %s, want what the first machine found", got)
	}
	if st.State != Done {
		var errs []error
		if st, errs = b.finish(c); len(errs) > 0 {
			t.Errorf("the second machine met %v", errs)
		}
	}
	if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
		t.Errorf("(-one machine +two):\n%s", diff)
	}
}

// TestReceiptsInCommentsSurviveEveryBlow kills a process before and after each
// of its writes to the forge, and loses each answer.
func TestReceiptsInCommentsSurviveEveryBlow(t *testing.T) {
	s := inComments(stories[0])
	want, writes := s.undisturbed(t)
	step := 1
	if testing.Short() {
		step = 5
	}
	for at := 1; at <= len(writes); at += step {
		for _, how := range []blow{killedBefore, killedAfter, answerLost} {
			t.Run(fmt.Sprintf("%d-%s", at, how), func(t *testing.T) {
				t.Parallel()
				s.struck(t, at, how, writes[at-1], want)
			})
		}
	}
	t.Logf("%d writes of an upgrade: %v", len(writes), writes)
}

// TestADeadMachinesCommentsAreTakenOver kills a machine around the proposal and
// at its first receipts; another one takes the lease and finishes. Before there
// is a pull request a takeover has no place for its receipt, and needs none.
func TestADeadMachinesCommentsAreTakenOver(t *testing.T) {
	s := inComments(stories[0])
	a := newWorld(t)
	s.set(a)
	alone := a.machine("aaaaaaaaaaaa")
	c, st, _ := alone.upgrade()
	want, writes := alone.standing(c, st), alone.writes
	opened := slices.Index(writes, "POST /pulls") + 1
	said := slices.Index(writes, "POST /issues/N/comments") + 1
	for _, x := range []struct {
		at  int
		how blow
	}{{opened, killedBefore}, {opened, killedAfter}, {said, killedAfter}, {said + 1, killedBefore}, {said + 1, killedAfter}} {
		w := newWorld(t)
		s.set(w)
		first := w.machine("aaaaaaaaaaaa")
		first.at, first.how = x.at, x.how
		c, _, _ := first.upgrade()
		w.forge.Wait()
		b, st := w.succeed(c)
		if diff := cmp.Diff(likeAlone(want), likeAlone(b.standing(c, st))); diff != "" {
			t.Errorf("%s %s (-undisturbed +second machine):\n%s", x.how, writes[x.at-1], diff)
		}
	}
}

// TestForgeCallsAreFewWithReceiptsInComments holds an upgrade to 160 calls.
func TestForgeCallsAreFewWithReceiptsInComments(t *testing.T) {
	w := newWorld(t)
	w.comments = true
	s := w.shepherd("bot-token")
	c, st := w.upgrade(s)
	upgrade := s.Forge.Calls()
	if st.Outcome != Validated || upgrade > 160 {
		t.Errorf("%s with %d calls, want validated with at most 160", st.Outcome, upgrade)
	}
	if _, err := s.Advance(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	idle := s.Forge.Calls() - upgrade
	if idle > idleCalls {
		t.Errorf("a look at what is done made %d calls, at most %d are allowed", idle, idleCalls)
	}
	t.Logf("%d calls of an upgrade, %d of a look at what is done, %d comments with receipts", upgrade, idle, len(w.receiptComments(1)))
}

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

// TestALaterUpgradeBeginsAnewInComments: a further attempt has a pull request
// and receipts of its own, also on a machine that knows nothing of the first.
func TestALaterUpgradeBeginsAnewInComments(t *testing.T) {
	w := newWorld(t)
	inComments(stories[2]).set(w)
	first, st, _ := w.machine("aaaaaaaaaaaa").upgrade()
	if st.Outcome != Uncertain || first.Attempt != 0 {
		t.Fatalf("first attempt: %d, %s; want 0, uncertain", first.Attempt, st.Outcome)
	}
	history := w.snapshot(first).receipts
	w.breaks = nil
	second, st, errs := w.machine("bbbbbbbbbbbb").upgrade()
	if st.Outcome != Validated || len(errs) > 0 || second.Attempt != 1 || second.ID != first.ID || st.Pull != 2 {
		t.Fatalf("second attempt: %d of %s, %s (%s) with #%d, errors %v; want 1 of the same candidate, validated with #2", second.Attempt, second.ID, st.Outcome, st.Reason, st.Pull, errs)
	}
	all := w.snapshot(second)
	if diff := cmp.Diff(history, all.receipts[:len(history)]); diff != "" {
		t.Errorf("the receipts of the first attempt changed (-before +after):\n%s", diff)
	}
	if next := all.receipts[len(history)]; next.Step != "attempt" || next.Subject != "1" {
		t.Errorf("after the history: receipt of %s %s, want the line that begins attempt 1", next.Step, next.Subject)
	}
	if len(all.candidates) != 1 || all.candidates[0].Candidate != second || all.candidates[0].Outcome != Validated {
		t.Errorf("listed: %+v, want the second attempt alone", all.candidates)
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

// TestUpgradeUnderThePublishedPrefix: with the prefix of the reference every
// marker is as it is published there.
func TestUpgradeUnderThePublishedPrefix(t *testing.T) {
	w := newWorld(t)
	w.comments = true
	w.ws.Config.Policy.Prefix = "klaud"
	w.commitOn("main", "Take the published prefix", map[string][]byte{workspace.ConfigName: append(w.file("main", workspace.ConfigName), "  prefix: klaud\n"...)})
	_, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	comments, err := w.client("bot-token").Comments(t.Context(), st.Pull)
	w.must(err)
	kinds := map[string]int{}
	for _, c := range comments {
		rec, ok, err := report.ParseRecord("klaud", c.Body)
		if err != nil || !ok || !strings.HasPrefix(c.Body, "<!-- klaud-"+rec.Kind+":") {
			t.Errorf("%s: found %v, %v: %.60q", c.URL, ok, err, c.Body)
		}
		kinds[rec.Kind]++
	}
	if kinds["report"] != 3 || kinds["outcome"] != 1 || kinds[report.ReceiptKind] < 1 {
		t.Errorf("records by kind: %v, want baseline, smoke, final, one outcome, and receipts", kinds)
	}
}

// TestReceiptsInCommentsNeedOnePrefix: they are found by it, so that of here and
// of the base must be one.
func TestReceiptsInCommentsNeedOnePrefix(t *testing.T) {
	w := newWorld(t)
	w.comments = true
	w.ws.Config.Policy.Prefix = "other"
	p := w.process(gone(1))
	s := p.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), `policy.prefix is "other" here and "refit" at base `) || len(p.writes) != 0 {
		t.Errorf("got %v and writes %v, want both prefixes and none", err, p.writes)
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
