package candidate

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
)

// A weather makes requests go wrong: at each call site every fault in turn, so
// that after enough upgrades each site has met each fault. The same seed makes
// the same weather.
type weather struct {
	dice *rand.Rand
	met  map[string]int // faults that a call site has met
}

// state is how many call sites were seen, and how many pairs (site, fault) were not met.
func (x *weather) state() (sites, missing int) {
	for _, n := range x.met {
		missing += max(0, len(local.Misfortunes)-n)
	}
	return len(x.met), missing
}

func (x *weather) choose(_ int, r *http.Request) local.Fault {
	site := r.Method + " " + plain(r.URL.Path)
	n := x.met[site]
	x.met[site] = n
	share := 0.9
	if n >= len(local.Misfortunes) { // it has met everything
		share = 0.03
	}
	if x.dice.Float64() >= share {
		return local.None
	}
	x.met[site] = n + 1
	return local.Misfortunes[n%len(local.Misfortunes)]
}

// TestEveryCallMeetsEveryFault upgrades in bad weather until every call site
// has met every fault. Each upgrade must end as the undisturbed one.
func TestEveryCallMeetsEveryFault(t *testing.T) {
	most := 200
	if testing.Short() {
		most = 8
	}
	x := &weather{dice: rand.New(rand.NewPCG(3318, 1)), met: map[string]int{}}
	want := map[string]standing{}
	upgrades, errors, calls, faults := 0, 0, 0, map[local.Fault]int{}
	for upgrades < most {
		s := stories[upgrades%len(stories)]
		if _, ok := want[s.name]; !ok {
			want[s.name], _ = s.undisturbed(t)
		}
		w := newWorld(t)
		s.set(w)
		p := w.process(gone(1))
		p.faults.Choose = x.choose
		c, st, errs := p.upgrade()
		if diff := cmp.Diff(want[s.name], w.standing(c, st)); diff != "" {
			t.Fatalf("upgrade %d (%s, reason %s) (-undisturbed +got):\n%s\nerrors: %v", upgrades, s.name, st.Reason, diff, errs)
		}
		for f, n := range p.faults.Counts() {
			faults[f] += n
			calls += n
		}
		upgrades, errors = upgrades+1, errors+len(errs)
		if _, missing := x.state(); missing == 0 && upgrades >= 3*len(stories) {
			break
		}
	}
	sites, missing := x.state()
	t.Logf("%d upgrades, %d calls, %d call sites, %d pairs (site, fault) of %d met; %d errors came through; faults %v",
		upgrades, calls, sites, sites*len(local.Misfortunes)-missing, sites*len(local.Misfortunes), errors, faults)
	if missing > 0 && !testing.Short() {
		t.Errorf("%d pairs (site, fault) were not met in %d upgrades: %v", missing, upgrades, x.met)
	}
}

// push lands somebody else's commit on a branch, past the process under test.
func (w *world) push(branch, file string) string {
	w.t.Helper()
	other := w.client("maintainer-token")
	at, _, err := other.Ref(w.t.Context(), "heads/"+branch)
	w.must(err)
	head, err := other.Commit(w.t.Context(), at, "Something else", map[string][]byte{file: []byte(at + "\n")})
	w.must(err)
	w.must(other.MoveRef(w.t.Context(), "heads/"+branch, at, head))
	return head
}

// TestMovedHeads moves a head just before each write of an upgrade: main, which
// must change nothing, and the candidate's own branch, which from then on
// belongs to whoever pushed.
func TestMovedHeads(t *testing.T) {
	s := stories[0]
	want, writes := s.undisturbed(t)
	step := 1
	if testing.Short() {
		step = 6
	}
	opened := slices.Index(writes, "POST /pulls") + 1
	ready := 0 // the last graphql mutation: from draft to ready
	for i, name := range writes {
		if strings.Contains(name, "graphql") {
			ready = i + 1
		}
	}
	if opened == 0 || ready == 0 {
		t.Fatalf("no pull request opened or marked ready among %v", writes)
	}
	for at := 1; at <= len(writes); at += step {
		t.Run(fmt.Sprintf("main-before-%d", at), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.process(gone(1))
			p.moveAt(at, func(Candidate) { w.push("main", "NOTES.md") })
			c, st, errs := p.upgrade()
			if diff := cmp.Diff(want, w.standing(c, st)); diff != "" || len(errs) > 0 {
				t.Errorf("main moved before %s: errors %v (-undisturbed +got):\n%s", writes[at-1], errs, diff)
			}
		})
	}
	for at := opened + 1; at <= len(writes); at += step {
		t.Run(fmt.Sprintf("branch-before-%d", at), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.process(gone(1))
			var foreign string
			p.moveAt(at, func(c Candidate) { foreign = w.push(c.Branch("refit"), "NOTES.md") })
			c, st, _ := p.upgrade()
			if foreign == "" {
				return // this write goes to the ledger
			}
			head, _, err := w.client("bot-token").Ref(t.Context(), "heads/"+c.Branch("refit"))
			w.must(err)
			if head != foreign {
				t.Errorf("branch moved before %s: its head is %.12s, want the foreign %.12s intact", writes[at-1], head, foreign)
			}
			finishing := at > ready // the last look was before
			if st.Outcome != Handoff && !(finishing && st.Outcome == Validated) {
				t.Errorf("branch moved before %s: got %s (%s), want handoff", writes[at-1], st.Outcome, st.Reason)
			}
		})
	}
}

// moveAt does something just before the process's nth write, when that goes to the forge.
func (p *process) moveAt(n int, move func(Candidate)) {
	choose := p.faults.Choose
	p.faults.Choose = func(i int, r *http.Request) local.Fault {
		if local.Writes(r) && p.written() == n-1 && move != nil {
			c, _, err := p.w.shepherd("bot-token").Claimed(r.Context(), family)
			if err == nil || strings.Contains(err.Error(), "no such") {
				move(c)
			}
			move = nil
		}
		return choose(i, r)
	}
}

func (p *process) written() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.writes)
}

// TestAPushBeforeMarkingReadyIsNotValidated moves the head right before the
// mutation: what is ready then is not what was proved.
func TestAPushBeforeMarkingReadyIsNotValidated(t *testing.T) {
	w := newWorld(t)
	p := w.process(gone(1))
	choose, foreign := p.faults.Choose, ""
	p.faults.Choose = func(n int, r *http.Request) local.Fault {
		if foreign == "" && strings.Contains(r.URL.Path, "graphql") && local.Writes(r) {
			c, _, err := w.shepherd("bot-token").Claimed(r.Context(), family)
			if err == nil {
				foreign = w.push(c.Branch("refit"), "NOTES.md")
			}
		}
		return choose(n, r)
	}
	c, st, errs := p.upgrade()
	if foreign == "" || st.Outcome != Handoff || len(errs) > 0 || !strings.Contains(st.Reason, "and not by us") {
		t.Errorf("pushed %.12s: got %s (%s), errors %v; want handoff, because the branch moved", foreign, st.Outcome, st.Reason, errs)
	}
	if w.ledger.have()["finish"] {
		t.Error("finish left a receipt for a head that was not proved")
	}
	records := strings.Join(w.standing(c, st).Records, " ")
	if strings.Contains(records, "outcome/") {
		t.Errorf("records %s: want no outcome", records)
	}
}
