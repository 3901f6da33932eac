package candidate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// recovered is what one recover did with the only candidate of a world.
func (p *process) recovered() Recovered {
	p.w.t.Helper()
	all, err := p.shepherd().Recover(p.w.t.Context())
	p.w.must(err)
	if len(all) != 1 {
		p.w.t.Fatalf("recovered %v, want one candidate", all)
	}
	return all[0]
}

// stands is where a candidate stands by its receipts.
func (w *world) stands(c Candidate) Status {
	w.t.Helper()
	st, _, err := w.shepherd("bot-token").Show(w.t.Context(), c)
	w.must(err)
	return st
}

// claimed says whether the family has a claim.
func (w *world) claimed() bool {
	w.t.Helper()
	_, there, err := w.client("bot-token").Ref(w.t.Context(), ClaimRef("refit", family))
	w.must(err)
	return there
}

func TestRecoverCertifiesAndPublishesAFinishedSweep(t *testing.T) {
	w, c := left(t)
	r := w.process(gone(5)).recovered()
	if r.Action != RecoveryResumed || r.Ended != Validated || r.Candidate != c || r.Pull != 1 {
		t.Errorf("got %+v, want it resumed and validated", r)
	}
	p, err := w.client("bot-token").Pull(t.Context(), 1)
	w.must(err)
	if p.Draft || p.State != "open" || len(w.runs) != 2 {
		t.Errorf("#1 is %s, draft %v, after %d runs; want open and ready, nothing measured again", p.State, p.Draft, len(w.runs))
	}
	again := w.process(gone(6)).recovered()
	if again.Action != RecoveryFollowed || again.State != Done || again.Reason != "#1 is open: a maintainer reviews and merges it" || !w.claimed() {
		t.Errorf("again: got %+v, claim there %v; want it followed, claimed", again, w.claimed())
	}
}

func TestRecoverLeavesHealthyChildrenAlone(t *testing.T) {
	w := newWorld(t)
	let := make(chan struct{})
	w.breaks = func(local.RunRequest) error { <-let; return nil }
	s := w.process(gone(1)).shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Advance(t.Context(), c)
	w.must(err)
	p := w.process(gone(5))
	r := p.recovered()
	if r.Action != RecoveryLeft || !strings.HasPrefix(r.Reason, "run ") || !strings.HasSuffix(r.Reason, ": a later wave looks again") || len(p.writes) != 0 {
		t.Errorf("got %s: %s, writes %v; want its run left alone", r.Action, r.Reason, p.writes)
	}
	close(let)
	w.forge.Wait()
	if r := w.process(gone(6)).recovered(); r.Action != RecoveryResumed {
		t.Errorf("after the run: got %s: %s, want it resumed", r.Action, r.Reason)
	}
	w.forge.Wait()
}

// What is somebody else's is never touched: no write at all.
func TestRecoverNeverTouches(t *testing.T) {
	ctx, closed := t.Context(), "closed"
	for name, c := range map[string]struct {
		act   func(w *world, person *forge.Client, p forge.Pull)
		token string
		want  string
	}{
		"a-handoff": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.CreateLabel(ctx, "handoff", "0e8a16", ""))
			w.must(person.AddLabel(ctx, p.Number, "handoff"))
		}, "", "a maintainer has taken over"},
		"a-merged-pull-request": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.MarkReady(ctx, p))
			w.mergeByHand("1")
		}, "", "#1 is merged"},
		"a-closed-one": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.EditPull(ctx, p.Number, forge.PullEdit{State: &closed}))
		}, "", "#1 was closed by somebody else"},
		"a-moved-head": {func(w *world, _ *forge.Client, p forge.Pull) { w.push(p.HeadRef, "NOTES.md") }, "", "and not by us"},
		"two-pull-requests": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.CreateRef(ctx, "heads/next", p.BaseSHA))
			_, err := person.OpenPull(ctx, "Another", "", p.HeadRef, "next", true)
			w.must(err)
		}, "", "ambiguous: 2 pull requests of refit/auto-"},
		"another-owner": {func(*world, *forge.Client, forge.Pull) {}, "maintainer-token", "Candidate ownership mismatch: #1 is by bot"},
		"a-lease-of-another-machine": {func(w *world, _ *forge.Client, p forge.Pull) {
			c, _, err := w.shepherd("bot-token").Claimed(ctx, family)
			w.must(err)
			w.hold(c, elsewhere())
		}, "", "on another machine"},
		"a-maintainers-later-run": {func(w *world, person *forge.Client, p forge.Pull) {
			w.must(person.RemoveLabel(ctx, p.Number, "full-sweep-fail-fast"))
			w.must(person.AddLabel(ctx, p.Number, "full-sweep-fail-fast"))
			w.forge.Wait()
		}, "", "was started by maintainer after its session had ended: the label handoff hands the candidate over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := left(t)
			pull, err := w.client("bot-token").Pull(ctx, 1)
			w.must(err)
			c.act(w, w.client("maintainer-token"), pull)
			p := w.process(gone(5))
			p.token = c.token
			if r := p.recovered(); r.Action != RecoveryLeft || !strings.Contains(r.Reason, c.want) {
				t.Errorf("got %s: %s, want it left: %q", r.Action, r.Reason, c.want)
			}
			if len(p.writes) != 0 {
				t.Errorf("it wrote %v", p.writes)
			}
		})
	}
}

// Whose parent has not ended, or cannot be seen to have ended, is left alone.
func TestRecoverNeedsAFinishedParent(t *testing.T) {
	for name, c := range map[string]struct {
		parent workspace.Holder
		want   string
	}{
		"alive":           {workspace.Process(), ", which claimed the family, is alive"},
		"another-machine": {elsewhere(), "is a process of another machine; if it is dead: refit candidate advance "},
	} {
		w := newWorld(t)
		s := w.process(c.parent).shepherd()
		cand, err := s.Select(t.Context(), family, "")
		w.must(err)
		_, err = s.Advance(t.Context(), cand)
		w.must(err)
		w.forge.Wait()
		p := w.process(gone(5))
		if r := p.recovered(); r.Action != RecoveryLeft || !strings.Contains(r.Reason, c.want) || len(p.writes) != 0 {
			t.Errorf("%s: got %s: %s, writes %v; want it left: %q", name, r.Action, r.Reason, p.writes, c.want)
		}
	}
}

// A wave that is a workflow run has ended when the forge says so.
func TestRecoverOfARunsCandidate(t *testing.T) {
	w := newWorld(t)
	let := make(chan struct{})
	w.breaks = func(r local.RunRequest) error {
		if strings.HasSuffix(r.Title, "a wave") {
			<-let
		}
		return nil
	}
	bot := w.client("bot-token")
	parent, err := bot.Dispatch(t.Context(), "e2e-tests.yml", "main", map[string]string{"test-name": "a wave"})
	w.must(err)
	s := w.process(gone(1)).shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	c.Parent = fmt.Sprint(parent)
	_, err = s.stake(t.Context(), c)
	w.must(err)
	if r := w.process(gone(5)).recovered(); r.Action != RecoveryLeft || !strings.Contains(r.Reason, fmt.Sprintf("run %d, which claimed the family, is ", parent)) {
		t.Errorf("while the wave runs: got %s: %s", r.Action, r.Reason)
	}
	close(let)
	w.forge.Wait()
	if r := w.process(gone(5)).recovered(); r.Action != RecoveryResumed || r.Pull != 1 {
		t.Errorf("after the wave: got %s: %s, want its candidate resumed", r.Action, r.Reason)
	}
	w.forge.Wait()
	c.Parent = "999999999999"
	w.must(bot.DeleteRef(t.Context(), ClaimRef("refit", family)))
	_, err = s.stake(t.Context(), c)
	w.must(err)
	if r := w.process(gone(5)).recovered(); r.Action != RecoveryLeft || !strings.Contains(r.Reason, "is not on the forge any more") {
		t.Errorf("a run that is gone: got %s: %s, want it left", r.Action, r.Reason)
	}
}

// An unreadable claim blocks its family and is reported; the others go on.
func TestRecoverReportsAnUnreadableClaim(t *testing.T) {
	w, c := left(t)
	bot := w.client("bot-token")
	odd, err := bot.Commit(t.Context(), c.Base, "no claim at all", nil)
	w.must(err)
	w.must(bot.CreateRef(t.Context(), "refit/claim-0000000000000000", odd))
	all, err := w.process(gone(5)).shepherd().Recover(t.Context())
	w.must(err)
	if len(all) != 2 || all[0].Action != RecoveryBlocked || !strings.Contains(all[0].Reason, "claim refit/claim-0000000000000000 is unreadable and blocks the family") {
		t.Fatalf("got %v, want the unreadable claim blocked and another", all)
	}
	if all[1].Action != RecoveryResumed || all[1].ID != c.ID {
		t.Errorf("the other: got %+v, want it resumed", all[1])
	}
	if at, _, err := bot.Ref(t.Context(), "refit/claim-0000000000000000"); err != nil || at != odd {
		t.Errorf("the unreadable claim: at %.12s, %v; want it untouched", at, err)
	}
}

// What is wrong with one candidate does not keep recover from the others.
func TestRecoverGoesOnAfterAnError(t *testing.T) {
	w, c := left(t)
	s := w.process(gone(5)).shepherd()
	bad := Candidate{Family: "configs/toy-master.yaml:aa", Base: strings.Repeat("1", 40), OldImage: oldImage, NewImage: newImage, Parent: "p000000000000"}
	bad.ID = bad.identity()
	message, err := workspace.Canonical(claim{Candidates: []Candidate{bad}, RunID: bad.Parent})
	w.must(err)
	commit, err := s.Forge.Commit(t.Context(), c.Base, string(message), nil)
	w.must(err)
	w.must(s.Forge.CreateRef(t.Context(), ClaimRef("refit", bad.Family), commit))
	all, err := s.Recover(t.Context())
	if err == nil || !strings.Contains(err.Error(), "candidate "+bad.ID+": ") {
		t.Errorf("got error %v, want that of the broken candidate", err)
	}
	actions := map[string]Recovery{}
	for _, r := range all {
		actions[r.ID] = r.Action
	}
	if actions[bad.ID] != RecoveryFailed || actions[c.ID] != RecoveryResumed {
		t.Errorf("got %v, want one error and one resumed", actions)
	}
}

// A regressed or incompatible candidate is kept until a maintainer releases it.
func TestRecoverKeepsWhatIsKept(t *testing.T) {
	w := newWorld(t)
	w.slow = 0.8
	c, _, _ := w.process(gone(1)).upgrade()
	p := w.process(gone(5))
	r := p.recovered()
	if r.Action != RecoveryLeft || r.Ended != Regressed || !strings.Contains(r.Reason, "refit candidate release "+c.ID) || len(p.writes) != 0 {
		t.Errorf("got %+v, writes %v; want it left", r, p.writes)
	}
}

// cleanupPending is a world whose candidate's end was announced by a process that
// died right after it.
func cleanupPending(t *testing.T) (*world, Candidate) {
	t.Helper()
	w, c := left(t)
	p := w.process(gone(2))
	p.how = killedAfter
	p.at = 3 // the commit and the ref of the lease, then the receipt of the end
	_, errs := p.ended(c)
	if last := p.writes[len(p.writes)-1]; last != "receipt of cleanup" || len(errs) == 0 {
		t.Fatalf("the process died after %s (%v), want after the receipt of cleanup", last, errs)
	}
	return w, c
}

func TestRecoverResumesAPendingCleanup(t *testing.T) {
	w, c := cleanupPending(t)
	r := w.process(gone(5)).recovered()
	if r.Action != RecoveryResumed || r.Ended != Failed || w.claimed() {
		t.Errorf("got %+v, claim there %v; want its end carried out", r, w.claimed())
	}
	if left := w.held(c); left != "" {
		t.Errorf("check-stop: got %q, want nothing left", left)
	}
}

// A pending cleanup does not close, and does not delete, what a person has
// taken since it was announced.
func TestAPendingCleanupLeavesWhatAPersonTook(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		act  func(w *world, person *forge.Client, c Candidate)
		want string
	}{
		"moved-head": {func(w *world, _ *forge.Client, c Candidate) { w.push(c.Branch("refit"), "NOTES.md") }, "and not by us"},
		"handoff": {func(w *world, person *forge.Client, _ Candidate) {
			w.must(person.CreateLabel(ctx, "handoff", "0e8a16", ""))
			w.must(person.AddLabel(ctx, 1, "handoff"))
		}, "a maintainer has taken over"},
	} {
		w, cand := cleanupPending(t)
		c.act(w, w.client("maintainer-token"), cand)
		head, _, err := w.client("bot-token").Ref(ctx, "heads/"+cand.Branch("refit"))
		w.must(err)
		if r := w.process(gone(5)).recovered(); r.Action != RecoveryLeft || !strings.Contains(r.Reason, c.want) {
			t.Errorf("%s: recover: got %s: %s, want it left: %q", name, r.Action, r.Reason, c.want)
		}
		st, err := w.process(gone(6)).shepherd().Advance(ctx, cand)
		w.must(err)
		pull, err := w.client("bot-token").Pull(ctx, 1)
		w.must(err)
		at, there, err := w.client("bot-token").Ref(ctx, "heads/"+cand.Branch("refit"))
		w.must(err)
		if st.Outcome != Handoff || !strings.Contains(st.Reason, c.want) || pull.State != "open" || !there || at != head {
			t.Errorf("%s: advance: got %s (%s), #1 %s, branch there %v; want a handoff, open, there", name, st.Outcome, st.Reason, pull.State, there)
		}
	}
}

// A scene is something for recover to do.
type scene struct {
	name string
	make func(*testing.T) (*world, Candidate)
}

var scenes = []scene{
	{"pending-cleanup", cleanupPending},
	{"finished-sweep", left},
	{"merged", func(t *testing.T) (*world, Candidate) {
		w := newWorld(t)
		c, _, _ := w.process(gone(1)).upgrade()
		w.mergeByHand("1")
		return w, c
	}},
}

func TestRecoverKilledAtEveryWrite(t *testing.T) {
	for _, x := range scenes {
		w, c := x.make(t)
		p := w.process(gone(5))
		p.recovered()
		want, writes := w.standing(c, w.stands(c)), slices.Clone(p.writes)
		if len(writes) < 4 {
			t.Fatalf("%s, undisturbed: writes %v", x.name, writes)
		}
		for at := 1; at <= len(writes); at += everyNth() {
			for _, how := range blowsAt(at) {
				t.Run(fmt.Sprintf("%s-%d-%s", x.name, at, how), func(t *testing.T) {
					t.Parallel()
					w, c := x.make(t)
					first := w.process(gone(5))
					first.at, first.how = at, how
					_, err := first.shepherd().Recover(t.Context())
					if how == answerLost && err != nil {
						t.Errorf("at %s: got %v, it should have looked twice", writes[at-1], err)
					}
					_, err = w.process(gone(6)).shepherd().Recover(t.Context())
					w.must(err)
					if diff := cmp.Diff(want, w.standing(c, w.stands(c))); diff != "" {
						t.Errorf("at %s (-undisturbed +got):\n%s", writes[at-1], diff)
					}
				})
			}
		}
		t.Logf("%s: %d writes of a recover", x.name, len(writes))
	}
}

// After the merge the board follows: the family is free, and the results come
// to the current curve.
func TestAfterTheMergeTheBoardFollows(t *testing.T) {
	w := newWorld(t)
	c, _, _ := w.process(gone(1)).upgrade()
	w.mergeByHand("1")
	look := func(rows []result.Row) []Recovered {
		s := w.process(gone(5)).shepherd()
		s.History = func(context.Context, string, string) ([]result.Row, []result.EvalRow, error) { return rows, nil, nil }
		all, err := s.Recover(t.Context())
		w.must(err)
		return all
	}
	first := look(nil)
	if len(first) != 1 || first[0].Action != RecoveryReleased || first[0].State != Merged || w.claimed() {
		t.Fatalf("got %+v, claim there %v; want the family free, merged", first, w.claimed())
	}
	if at := w.stands(c); at.State != Merged || at.Outcome != Validated {
		t.Errorf("it stands at %s, %s; want merged, validated", at.State, at.Outcome)
	}
	if sum := w.ledger.candidates[0]; sum.State != Merged || sum.Next != "#1 is merged; its results are not on the current curve yet: a run of the main branch publishes them" {
		t.Errorf("listed: %s, next %q", sum.State, sum.Next)
	}
	if again := look(nil); len(again) != 0 {
		t.Errorf("nothing has changed: got %v", again)
	}
	for event, want := range map[string]string{
		"push":         "#1 is merged; the current curve shows its image, measured again by run 7",
		"pull_request": "#1 is merged; the current curve shows its image, reused from run 7",
	} {
		row := result.Row{Provenance: result.Provenance{RunID: 7, Event: event}}
		if all := look([]result.Row{row}); len(all) != 1 || all[0].Action != RecoveryFollowed || all[0].Reason != want || w.ledger.candidates[0].Next != want {
			t.Errorf("published by %s: got %v, listed %q; want %q", event, all, w.ledger.candidates[0].Next, want)
		}
	}
	st, err := w.process(gone(6)).shepherd().Advance(t.Context(), c)
	w.must(err)
	if st.State != Merged || !st.State.Over() || w.ledger.candidates[0].State != Merged {
		t.Errorf("advanced: %s, listed %s; want merged", st.State, w.ledger.candidates[0].State)
	}
}

func TestAClosedValidatedPullRequestFreesItsFamily(t *testing.T) {
	w := newWorld(t)
	c, _, _ := w.process(gone(1)).upgrade()
	closed := "closed"
	w.must(w.client("maintainer-token").EditPull(t.Context(), 1, forge.PullEdit{State: &closed}))
	r := w.process(gone(5)).recovered()
	if r.Action != RecoveryReleased || r.State != Closed || w.claimed() || w.stands(c).State != Closed {
		t.Errorf("got %+v, claim there %v; want its family free, closed", r, w.claimed())
	}
	if _, there, err := w.client("bot-token").Ref(t.Context(), "heads/"+c.Branch("refit")); err != nil || !there {
		t.Errorf("branch: there %v, %v; want it as it was", there, err)
	}
}

// A machine whose store knows nothing frees the family as well: the owner's
// receipt on the pull request says that it was validated, and nobody else's does.
func TestAMergedCandidateOfAnotherStore(t *testing.T) {
	w := newWorld(t)
	c, _, _ := w.process(gone(1)).upgrade()
	w.mergeByHand("1")
	b := w.machine("bbbbbbbbbbbb")
	r := b.recovered()
	if r.Action != RecoveryReleased || r.State != Merged || w.claimed() {
		t.Errorf("got %+v, claim there %v; want its family free, merged", r, w.claimed())
	}
	if got := b.ledger.steps(); !strings.HasSuffix(got, " finish merged]") {
		t.Errorf("its store has %s, want the inherited receipt and that of the merge", got)
	}
	if all, err := b.shepherd().Recover(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("again: got %v, %v; want nothing to do", all, err)
	}
	if all, err := w.process(gone(7)).shepherd().Recover(t.Context()); err != nil || len(all) != 1 || all[0].State != Merged || all[0].ID != c.ID {
		t.Errorf("the first store: got %v, %v; want it to see the merge", all, err)
	}
}

// blowsAt are the blows at a write. To the world, a process that dies before a
// write is one that died after the write before.
func blowsAt(at int) []blow {
	if at == 1 {
		return []blow{killedBefore, killedAfter, answerLost}
	}
	return []blow{killedAfter, answerLost}
}

// everyNth is how many writes a test goes on by.
func everyNth() int {
	if testing.Short() {
		return 4
	}
	return 1
}
