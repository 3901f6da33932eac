package candidate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/workspace"
)

// left is a world whose candidate the bot left while its sweep ran.
func left(t *testing.T) (*world, Candidate) {
	w := newWorld(t)
	s := w.process(gone(1)).shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for range 4 {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
		if w.ledger.have()["smoke"] {
			return w, c
		}
	}
	t.Fatalf("no smoke: receipts %s", w.ledger.steps())
	return w, c
}

func (w *world) maintainer() *process {
	p := w.process(workspace.Process())
	p.token = "maintainer-token"
	return p
}

func TestAdoption(t *testing.T) {
	w, c := left(t)
	before, err := w.ledger.Receipts(t.Context(), c.ID)
	w.must(err)
	runs := len(w.runs)
	p := w.maintainer()
	s := p.shepherd()
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), "#1 is by bot, the credential is maintainer; `refit candidate adopt "+c.ID) {
		t.Fatalf("before the adoption: got %v, want the mismatch and what to do", err)
	}
	a, err := s.Adopt(t.Context(), c, "the session ran under\nthe wrong <login>")
	w.must(err)
	if a.From != "bot" || a.To != "maintainer" || a.Records != 2 || len(a.Receipts) != 8 {
		t.Errorf("got %+v, want 2 records and 8 receipts from bot to maintainer", a)
	}
	w.sameEvidence(c, before)
	comments, err := s.Forge.Comments(t.Context(), 1)
	w.must(err)
	audit := comments[len(comments)-1]
	if len(comments) != 5 || comments[2].Body != comments[0].Body || comments[3].Body != comments[1].Body || comments[2].Author != "maintainer" {
		t.Errorf("%d comments, want the bot's two records, the same of the maintainer, the audit line", len(comments))
	}
	if !strings.Contains(audit.Body, "**Adopted** from bot by maintainer. 2 records and 8 receipts") || !strings.Contains(audit.Body, "Reason: the session ran under the wrong &lt;login&gt;") {
		t.Errorf("audit line: %s", audit.Body)
	}
	again, err := s.Adopt(t.Context(), c, "again")
	w.must(err)
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("adopted twice (-first +second):\n%s", diff)
	}
	if len(w.runs) != runs {
		t.Errorf("the adoption started %d runs", len(w.runs)-runs)
	}
	_, st, errs := p.upgrade()
	if st.Outcome != Validated || len(errs) > 0 || st.Owner != "maintainer" || len(w.runs) != 2 {
		t.Errorf("after the adoption: %s (%s), owner %s, errors %v, %d runs; want validated, one smoke, one sweep", st.Outcome, st.Reason, st.Owner, errs, len(w.runs))
	}
	if _, err := w.process(gone(1)).shepherd().Adopt(t.Context(), c, "back"); err == nil || !strings.Contains(err.Error(), "it has ended: validated") {
		t.Errorf("adoption after the end: got %v", err)
	}
}

// sameEvidence holds the receipts issued again against the original ones, the
// newest of each step.
func (w *world) sameEvidence(c Candidate, before []Receipt) {
	w.t.Helper()
	after, err := w.ledger.Receipts(w.t.Context(), c.ID)
	w.must(err)
	for n, old := range before {
		later := func(r Receipt) bool { return r.Step == old.Step }
		if old.Step == "doctor" || slices.ContainsFunc(before[n+1:], later) {
			continue
		}
		i := slices.IndexFunc(after, func(r Receipt) bool { return r.Step == old.Step && r.By == "maintainer" })
		if i < 0 || string(after[i].Evidence) != string(old.Evidence) || after[i].Subject != old.Subject {
			w.t.Errorf("receipt of %s was not issued again with the same subject and evidence", old.Step)
		}
	}
	var a Adopted
	if last := after[len(after)-1]; last.Step != "adopt" || json.Unmarshal(last.Evidence, &a) != nil || a.Receipts[0].By != "bot" {
		w.t.Errorf("last receipt: %s %s, want the adoption with the original issuers", last.Step, last.Evidence)
	}
}

func TestAdoptionIsRefused(t *testing.T) {
	w, c := left(t)
	reader := w.process(gone(2))
	reader.token = "reader-token"
	for name, try := range map[string]struct {
		p      *process
		reason string
		want   string
	}{
		"no-reason":        {w.maintainer(), " ", "no reason given"},
		"no-right":         {reader, "please", `reader has permission "read"`},
		"already-the-bots": {w.process(gone(3)), "mine", "#1 is by bot already"},
	} {
		if _, err := try.p.shepherd().Adopt(t.Context(), c, try.reason); err == nil || !strings.Contains(err.Error(), try.want) {
			t.Errorf("%s: got %v, want %q", name, err, try.want)
		}
		if len(try.p.writes) != 0 {
			t.Errorf("%s: wrote %v", name, try.p.writes)
		}
	}
	comments, err := w.client("bot-token").Comments(t.Context(), 1)
	w.must(err)
	w.must(w.client("maintainer-token").EditComment(t.Context(), comments[0].ID, comments[0].Body+" "))
	if _, err := w.maintainer().shepherd().Adopt(t.Context(), c, "edited"); err == nil || !strings.Contains(err.Error(), "is tampered: maintainer edited it") {
		t.Errorf("edited record: got %v, want tampered", err)
	}
	if w.ledger.have()["adopt"] {
		t.Error("a refused adoption left a receipt")
	}
}

func TestAdoptionKilledAtEveryWrite(t *testing.T) {
	w, c := left(t)
	p := w.maintainer()
	_, err := p.shepherd().Adopt(t.Context(), c, "wrong login")
	w.must(err)
	writes := slices.Clone(p.writes)
	c, st, _ := p.upgrade()
	want := w.standing(c, st)
	for at := 1; at <= len(writes); at += everyNth() {
		for _, how := range []blow{killedBefore, killedAfter, answerLost} {
			t.Run(fmt.Sprintf("%d-%s", at, how), func(t *testing.T) {
				t.Parallel()
				w, c := left(t)
				first := w.maintainer()
				first.holder, first.at, first.how = gone(4), at, how
				_, err := first.shepherd().Adopt(t.Context(), c, "wrong login")
				if how == answerLost && err != nil {
					t.Errorf("at %s: got %v, it should have looked twice", writes[at-1], err)
				}
				second := w.maintainer()
				_, err = second.shepherd().Adopt(t.Context(), c, "wrong login")
				w.must(err)
				c, st, errs := second.upgrade()
				if diff := cmp.Diff(want, w.standing(c, st)); diff != "" || len(errs) > 0 {
					t.Errorf("at %s: errors %v (-undisturbed +got):\n%s", writes[at-1], errs, diff)
				}
			})
		}
	}
	t.Logf("%d writes of an adoption, %d blows", len(writes), 3*len(writes))
}

func TestTakeover(t *testing.T) {
	w, c := left(t)
	lease := w.hold(c, elsewhere())
	p := w.maintainer()
	s := p.shepherd()
	got, err := s.Takeover(t.Context(), c, "that machine burned down")
	w.must(err)
	want := TakenOver{Holder: elsewhere().String(), Lease: lease, By: "maintainer", Reason: "that machine burned down"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	comments, err := s.Forge.Comments(t.Context(), 1)
	w.must(err)
	if last := comments[len(comments)-1].Body; !strings.Contains(last, "**Lease taken over** from "+elsewhere().String()+" by maintainer. Reason: that machine burned down") {
		t.Errorf("audit line: %s", last)
	}
	if !w.ledger.have()["takeover"] {
		t.Error("no receipt of the takeover")
	}
	_, st, errs := w.process(gone(5)).upgrade()
	if st.Outcome != Validated || len(errs) > 0 {
		t.Errorf("after the takeover: %s (%s), errors %v; want validated", st.Outcome, st.Reason, errs)
	}
}

func TestTakeoverIsRefused(t *testing.T) {
	w, c := left(t)
	check := func(name string, p *process, reason, want string) {
		t.Helper()
		if _, err := p.shepherd().Takeover(t.Context(), c, reason); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		if len(p.writes) != 0 {
			t.Errorf("%s: wrote %v", name, p.writes)
		}
	}
	check("free", w.maintainer(), "why not", "nobody holds its lease")
	w.hold(c, workspace.Process())
	reader := w.process(gone(2))
	reader.token = "reader-token"
	check("no-reason", w.maintainer(), "", "no reason given")
	check("no-right", reader, "please", `permission "read"`)
	alive := w.maintainer()
	alive.holder = gone(6)
	check("alive-here", alive, "slow", "is alive on this machine: end process")
}

// TestWhoWasTakenOverStops: the old holder finds at its next step that the
// lease is not its own any more, and writes nothing further.
func TestWhoWasTakenOverStops(t *testing.T) {
	w := newWorld(t)
	first := w.process(elsewhere())
	taken := false
	s := first.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	s.Tell = func(e Event) {
		if e.Step != "baseline" || e.Mark != "done" || taken {
			return
		}
		taken = true
		_, err := w.maintainer().shepherd().Takeover(t.Context(), c, "it hangs")
		w.must(err)
	}
	st, err := s.Advance(t.Context(), c)
	w.must(err)
	if last := first.writes[len(first.writes)-1]; !taken || st.Waiting != "whoever took this candidate over" || last != "receipt of baseline" {
		t.Errorf("taken %v, waiting %q, last write %q; want it to stop after baseline", taken, st.Waiting, last)
	}
	if len(w.runs) != 0 {
		t.Errorf("%d runs: it went on writing", len(w.runs))
	}
}
