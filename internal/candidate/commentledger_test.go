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
