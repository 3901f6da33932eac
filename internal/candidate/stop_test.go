package candidate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/gate"
)

// stopped stops a candidate and walks on until it has ended.
func (w *world) stopped(s *Shepherd, c Candidate, o Outcome, reason string) Status {
	w.t.Helper()
	st, err := s.Stop(w.t.Context(), c, o, reason)
	w.must(err)
	for range 5 {
		if st.State == Done {
			return st
		}
		w.forge.Wait()
		st, err = s.Advance(w.t.Context(), c)
		w.must(err)
	}
	w.t.Fatalf("it does not end: %+v", st)
	return st
}

func TestStopEndsWithItsOutcome(t *testing.T) {
	for _, o := range stoppable {
		w, c := left(t)
		s := w.shepherd("bot-token")
		st := w.stopped(s, c, o, "the recipe is\nbeing rewritten")
		if st.Outcome != o {
			t.Errorf("%s: got outcome %s (%s)", o, st.Outcome, st.Reason)
		}
		again, err := s.Advance(t.Context(), c)
		w.must(err)
		if !again.Sealed || again.Outcome != o || again.Reason != "the recipe is being rewritten" {
			t.Errorf("%s: receipt: got %s (%s), sealed %v", o, again.Outcome, again.Reason, again.Sealed)
		}
		p, err := s.Forge.Pull(t.Context(), 1)
		w.must(err)
		if p.State != "closed" || !p.Draft || len(p.Labels) != 0 {
			t.Errorf("%s: #1 is %s, draft %v, labels %v; want closed, draft, none", o, p.State, p.Draft, p.Labels)
		}
		for what, ref := range map[string]string{"branch": "heads/" + c.Branch("refit"), "claim": ClaimRef("refit", family)} {
			if _, there, err := s.Forge.Ref(t.Context(), ref); err != nil || there != o.KeepsBranch() {
				t.Errorf("%s: %s: there %v, error %v; want %v", o, what, there, err, o.KeepsBranch())
			}
		}
		if left, err := s.CheckStop(t.Context(), c); err != nil || left != "" {
			t.Errorf("%s: check-stop: got %q, error %v; want nothing left", o, left, err)
		}
		if other, err := s.Stop(t.Context(), c, Failed, "later"); err != nil || other.Outcome != o {
			t.Errorf("%s: stopped again: got %s, error %v; want what it was", o, other.Outcome, err)
		}
	}
}

func TestStopIsRefused(t *testing.T) {
	w, c := left(t)
	s := w.shepherd("bot-token")
	if _, err := s.Stop(t.Context(), c, Uncertain, " \n"); err == nil || err.Error() != "stop: no reason given: it goes into the receipt" {
		t.Errorf("without a reason: got %v", err)
	}
	if _, err := w.shepherd("maintainer-token").Stop(t.Context(), c, Uncertain, "mine"); err == nil || !strings.Contains(err.Error(), "Candidate ownership mismatch: #1 is by bot, the credential is maintainer") {
		t.Errorf("another owner: got %v", err)
	}
	for _, o := range []Outcome{Validated, Regressed, Handoff, "done"} {
		if _, err := ParseStop(string(o)); err == nil || !strings.Contains(err.Error(), "a stop ends with one of [uncertain failed") {
			t.Errorf("outcome %s: got %v", o, err)
		}
	}
	if o, err := ParseStop(""); err != nil || o != Uncertain {
		t.Errorf("no outcome: got %s, %v; want uncertain", o, err)
	}
	p, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if p.State != "open" {
		t.Errorf("after what was refused #1 is %s, want open", p.State)
	}
}

func TestStopLeavesAHandoffAlone(t *testing.T) {
	w, c := left(t)
	s := w.shepherd("bot-token")
	w.must(s.Forge.CreateLabel(t.Context(), "handoff", "0e8a16", ""))
	w.must(s.Forge.AddLabel(t.Context(), 1, "handoff"))
	st, err := s.Stop(t.Context(), c, Failed, "enough")
	w.must(err)
	p, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if st.Outcome != Handoff || p.State != "open" {
		t.Errorf("got %s, #1 %s; want handoff, open", st.Outcome, p.State)
	}
	if left, err := s.CheckStop(t.Context(), c); err != nil || left != "" {
		t.Errorf("check-stop: got %q, error %v; want nothing", left, err)
	}
}

func TestStopOfNothingWritten(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	st, err := s.Stop(t.Context(), c, Uncertain, "changed my mind")
	w.must(err)
	if st.Outcome != Uncertain || len(w.ledger.receipts) != 0 {
		t.Errorf("got %s, receipts %s; want uncertain and none", st.Outcome, w.ledger.steps())
	}
	if _, err := s.CheckFinal(t.Context(), c); err == nil || !strings.Contains(err.Error(), "it has no pull request yet: advance it first") {
		t.Errorf("check-final: got %v", err)
	}
}

func TestCheckFinalBeforeAndAfterTheEntry(t *testing.T) {
	w, c := left(t)
	p := w.process(gone(1))
	s := p.shepherd()
	v, err := s.CheckFinal(t.Context(), c)
	w.must(err)
	entered := w.ledger.have()["enter"]
	if want := map[bool]gate.Answer{false: gate.Fail, true: gate.Pass}[entered]; v.Answer != want || v.Gate != "check-final" || v.Reason == "" {
		t.Errorf("entry made %v: got %+v, want %s", entered, v, want)
	}
	if n := p.written(); n != 0 {
		t.Errorf("check-final wrote %d times", n)
	}
	main := w.file("main", "perf-changelog.yaml")
	w.commitOn(c.Branch("refit"), "Take the entry back", map[string][]byte{"perf-changelog.yaml": main})
	v, err = s.CheckFinal(t.Context(), c)
	w.must(err)
	if v.Answer != gate.Fail || !strings.Contains(v.Reason, "perf-changelog.yaml: nothing is added") {
		t.Errorf("without the entry: got %+v, want fail", v)
	}
}

func TestCheckFinalOfAValidatedCandidate(t *testing.T) {
	w := newWorld(t)
	c, _ := w.upgrade(w.shepherd("bot-token"))
	v, err := w.shepherd("bot-token").CheckFinal(t.Context(), c)
	w.must(err)
	if v.Answer != gate.Pass || v.Reason == "" {
		t.Errorf("got %+v, want pass with a reason", v)
	}
}

// ended stops a candidate as a process does it, and goes on until it has ended.
func (p *process) ended(c Candidate) (st Status, errs []error) {
	s := p.shepherd()
	st, err := s.Stop(p.w.t.Context(), c, Failed, "rewritten")
	for range 5 {
		if err != nil {
			return st, append(errs, err)
		}
		if st.State == Done {
			return st, errs
		}
		p.w.forge.Wait()
		st, err = s.Advance(p.w.t.Context(), c)
	}
	return st, append(errs, fmt.Errorf("it does not end: %s", st.Waiting))
}

func TestStopKilledAtEveryWrite(t *testing.T) {
	w, c := left(t)
	p := w.process(gone(2))
	st, errs := p.ended(c)
	want := w.standing(c, st)
	writes := slices.Clone(p.writes)
	if st.Outcome != Failed || len(errs) > 0 || len(writes) < 8 {
		t.Fatalf("undisturbed: %s, errors %v, writes %v", st.Outcome, errs, writes)
	}
	for at := 1; at <= len(writes); at += everyNth() {
		for _, how := range []blow{killedBefore, killedAfter, answerLost} {
			t.Run(fmt.Sprintf("%d-%s", at, how), func(t *testing.T) {
				t.Parallel()
				w, c := left(t)
				first := w.process(gone(2))
				first.at, first.how = at, how
				st, errs := first.ended(c)
				if how == answerLost && len(errs) > 0 {
					t.Errorf("at %s: got %v, it should have looked twice", writes[at-1], errs)
				}
				if how != answerLost {
					if st, errs = w.process(gone(3)).ended(c); len(errs) > 0 {
						t.Errorf("at %s: the next process got %v", writes[at-1], errs)
					}
				}
				if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
					t.Errorf("at %s (-undisturbed +got):\n%s", writes[at-1], diff)
				}
			})
		}
	}
	t.Logf("%d writes of a stop, %d blows", len(writes), 3*len(writes))
}
