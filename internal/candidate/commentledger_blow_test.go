package candidate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
)

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
			if how == killedBefore && at > 1 && step == 1 {
				continue // to the world it is the same as after the write before
			}
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

// TestReceiptsInCommentsInBadWeather: each call site meets one fault after the
// other, and every upgrade ends as the undisturbed one.
func TestReceiptsInCommentsInBadWeather(t *testing.T) {
	most := 12
	if testing.Short() {
		most = 2
	}
	x := &weather{dice: rand.New(rand.NewPCG(11, 1)), met: map[string]int{}}
	want := map[string]standing{}
	faults := map[local.Fault]int{}
	for n := range most {
		s := inComments(stories[n%2])
		if _, ok := want[s.name]; !ok {
			want[s.name], _ = s.undisturbed(t)
		}
		w := newWorld(t)
		s.set(w)
		p := w.process(gone(1))
		p.faults.Choose = x.choose
		c, st, errs := p.upgrade()
		if diff := cmp.Diff(want[s.name], w.standing(c, st)); diff != "" {
			t.Fatalf("upgrade %d (%s, reason %s) (-undisturbed +got):\n%s\nerrors: %v", n, s.name, st.Reason, diff, errs)
		}
		for f, k := range p.faults.Counts() {
			faults[f] += k
		}
	}
	if met := len(faults) - 1; met < 5 {
		t.Errorf("%d kinds of faults were met: this test tests nothing", met)
	}
	t.Logf("%d upgrades, faults %v", most, faults)
}
