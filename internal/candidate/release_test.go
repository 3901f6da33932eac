package candidate

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
)

// keptBranch is a world whose candidate ended regressed, by a process that is gone;
// head is where its branch is.
func keptBranch(t *testing.T) (w *world, c Candidate, head string) {
	t.Helper()
	w = newWorld(t)
	w.slow = 0.8
	c, st, _ := w.process(gone(1)).upgrade()
	if st.Outcome != Regressed {
		t.Fatalf("got %s (%s), want regressed", st.Outcome, st.Reason)
	}
	return w, c, w.headOf(1)
}

func (w *world) headOf(pull int) string {
	w.t.Helper()
	p, err := w.client("bot-token").Pull(w.t.Context(), pull)
	w.must(err)
	return p.HeadSHA
}

func TestRelease(t *testing.T) {
	w, c, head := keptBranch(t)
	ctx, bot := t.Context(), w.client("bot-token")
	w.must(bot.CreateRef(ctx, "heads/refit/auto-another", head))
	p := w.maintainer()
	r, err := p.shepherd().Release(ctx, c, head, "the recipe\nis <fixed>")
	w.must(err)
	want := Released{Outcome: Regressed, Owner: "bot", By: "maintainer", Reason: "the recipe is <fixed>", Pull: 1, Head: head, Branch: c.Branch("refit"), At: r.At}
	if r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	refs, err := bot.Refs(ctx, "")
	w.must(err)
	if names := slices.Sorted(maps.Keys(refs)); !slices.Equal(names, []string{"heads/main", "heads/refit/auto-another"}) {
		t.Errorf("refs %v: want only that branch, the claim and the lease gone", names)
	}
	comments, err := bot.Comments(ctx, 1)
	w.must(err)
	if last := comments[len(comments)-1]; last.Author != "maintainer" || !strings.Contains(last.Body, "**Released** by maintainer: the branch is deleted, a later upgrade of the family begins anew. Reason: the recipe is &lt;fixed&gt;") {
		t.Errorf("audit line: %s", last.Body)
	}
	if i := slices.Index(p.writes, "receipt of release"); i < 0 || slices.IndexFunc(p.writes[i:], func(s string) bool { return strings.HasPrefix(s, "DELETE /git/refs/heads/") }) < 0 {
		t.Errorf("writes %v: want the approval recorded before the branch is deleted", p.writes)
	}
	again, err := w.maintainer().shepherd().Release(ctx, c, head, "again")
	w.must(err)
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("released twice (-first +second):\n%s", diff)
	}
}

// After a release an upgrade begins a new attempt.
func TestAReleasedCandidateBeginsAnew(t *testing.T) {
	w, first, head := keptBranch(t)
	if next, err := w.process(gone(3)).shepherd().Select(t.Context(), family, ""); err != nil || next != first {
		t.Errorf("before the release: got %+v, %v; want the one that ended", next, err)
	}
	_, err := w.maintainer().shepherd().Release(t.Context(), first, head, "")
	w.must(err)
	w.slow = 1
	second, st, errs := w.process(gone(4)).upgrade()
	if second.ID != first.ID || second.Attempt != 1 || st.Outcome != Validated || st.Pull != 2 || len(errs) > 0 {
		t.Errorf("got attempt %d of %s: %s with #%d (%s), errors %v; want attempt 1 validated with #2", second.Attempt, second.ID, st.Outcome, st.Pull, st.Reason, errs)
	}
}

// A maintainer's machine has a store of its own, and so has the bot's: each
// knows of the other by the forge alone.
func TestReleaseFromAnotherStore(t *testing.T) {
	w, c, head := keptBranch(t)
	m := w.machine("bbbbbbbbbbbb")
	m.token = "maintainer-token"
	found, err := m.shepherd().Find(t.Context(), c.ID)
	w.must(err)
	r, err := m.shepherd().Release(t.Context(), found, head, "fixed")
	w.must(err)
	if r.Outcome != Regressed || r.Owner != "bot" || m.ledger.steps() != "[release]" || w.ledger.have()["release"] {
		t.Errorf("got %+v, receipts %s; want the approval alone, in the maintainer's store", r, m.ledger.steps())
	}
	w.slow = 1
	second, st, _ := w.process(gone(4)).upgrade()
	if second.Attempt != 1 || st.Outcome != Validated {
		t.Errorf("the bot's next upgrade: attempt %d, %s (%s); want attempt 1 validated", second.Attempt, st.Outcome, st.Reason)
	}
}

func TestReleaseIsRefused(t *testing.T) {
	ctx, open := t.Context(), "open"
	nothing := func(*world, Candidate) {}
	for name, c := range map[string]struct {
		token string
		head  func(string) string
		act   func(*world, Candidate)
		want  string
	}{
		"the-bot-itself":     {"bot-token", nil, nothing, "#1 is by bot, and so is this credential: a release is somebody else's decision"},
		"without-permission": {"reader-token", nil, nothing, `reader has permission "read"`},
		"another-head":       {"", func(string) string { return strings.Repeat("1", 40) }, nothing, "#1 is at "},
		"a-short-head":       {"", func(h string) string { return h[:12] }, nothing, "want the 40 digits of the commit"},
		"an-open-pull-request": {"", nil, func(w *world, _ Candidate) {
			w.must(w.client("bot-token").EditPull(ctx, 1, forge.PullEdit{State: &open}))
		}, "#1 is open: a release is of what has ended"},
		"a-pushed-branch": {"", nil, func(w *world, c Candidate) { w.push(c.Branch("refit"), "NOTES.md") }, "somebody has pushed since it ended"},
		"an-edited-receipt": {"", nil, func(w *world, _ Candidate) {
			comments, err := w.client("bot-token").Comments(ctx, 1)
			w.must(err)
			for _, x := range comments {
				if strings.HasPrefix(x.Body, "<!-- refit-outcome:") {
					w.must(w.client("maintainer-token").EditComment(ctx, x.ID, x.Body+" "))
				}
			}
		}, "is tampered: maintainer edited it"},
		"no-claim": {"", nil, func(w *world, _ Candidate) {
			w.must(w.client("bot-token").DeleteRef(ctx, ClaimRef("refit", family)))
		}, "is not claimed: there is nothing to release"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cand, head := keptBranch(t)
			c.act(w, cand)
			if c.head != nil {
				head = c.head(head)
			}
			p := w.maintainer()
			if c.token != "" {
				p.token = c.token
			}
			_, err := p.shepherd().Release(ctx, cand, head, "please")
			var refused *Refused
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it refused: %q", err, c.want)
			}
			w.nothingChanged(p, cand)
		})
	}
}

// nothingChanged wants no write but taking and giving back the lease.
func (w *world) nothingChanged(p *process, c Candidate) {
	w.t.Helper()
	for _, write := range p.writes {
		if !strings.HasPrefix(write, "POST /git/commits") && !strings.Contains(write, "refs") || strings.Contains(write, "heads") {
			w.t.Errorf("it wrote: %s", write)
		}
	}
	if w.ledger.have()["release"] {
		w.t.Error("a refused release left a receipt")
	}
	if _, there, err := w.client("bot-token").Ref(w.t.Context(), "heads/"+c.Branch("refit")); err != nil || !there {
		w.t.Errorf("branch: there %v, %v; want it as it was", there, err)
	}
}

// What has not ended, or ended well, is nothing to release; nor is what runs,
// or whose process is alive.
func TestReleaseNeedsTheEnd(t *testing.T) {
	for want, begin := range map[string]func(t *testing.T) (*world, Candidate, string){
		"it has not ended: its next step is ": func(t *testing.T) (*world, Candidate, string) {
			w, c := left(t)
			return w, c, w.headOf(1)
		},
		"#1 is open": func(t *testing.T) (*world, Candidate, string) {
			w := newWorld(t)
			c, _, _ := w.process(gone(1)).upgrade()
			return w, c, w.headOf(1)
		},
		"#1 is validated: its family is freed when refit candidate recover sees it merged or closed": func(t *testing.T) (*world, Candidate, string) {
			w := newWorld(t)
			c, _, _ := w.process(gone(1)).upgrade()
			closed := "closed"
			w.must(w.client("maintainer-token").EditPull(t.Context(), 1, forge.PullEdit{State: &closed}))
			return w, c, w.headOf(1)
		},
		", which claimed the family, is alive": func(t *testing.T) (*world, Candidate, string) {
			w := newWorld(t)
			w.slow = 0.8
			c, _ := w.upgrade(w.shepherd("bot-token"))
			return w, c, w.headOf(1)
		},
	} {
		w, c, head := begin(t)
		p := w.maintainer()
		_, err := p.shepherd().Release(t.Context(), c, head, "")
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it refused: %q", err, want)
		}
		w.nothingChanged(p, c)
	}
}

func TestReleaseNeedsTerminalRuns(t *testing.T) {
	w, c, head := keptBranch(t)
	let := make(chan struct{})
	w.breaks = func(local.RunRequest) error { <-let; return nil }
	_, err := w.client("bot-token").Dispatch(t.Context(), "e2e-tests.yml", "main", map[string]string{"test-name": c.TestName("refit")})
	w.must(err)
	p := w.maintainer()
	_, err = p.shepherd().Release(t.Context(), c, head, "")
	var refused *Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), ": wait for its end, or cancel it") {
		t.Errorf("got %v, want it refused for its run", err)
	}
	w.nothingChanged(p, c)
	close(let)
	w.forge.Wait()
	_, err = w.maintainer().shepherd().Release(t.Context(), c, head, "")
	w.must(err)
}

func TestReleaseKilledAtEveryWrite(t *testing.T) {
	w, c, head := keptBranch(t)
	p := w.maintainer()
	_, err := p.shepherd().Release(t.Context(), c, head, "fixed")
	w.must(err)
	want, writes := w.standing(c, Status{}), slices.Clone(p.writes)
	if len(writes) < 7 {
		t.Fatalf("undisturbed: writes %v", writes)
	}
	for at := 1; at <= len(writes); at += everyNth() {
		for _, how := range blowsAt(at) {
			t.Run(fmt.Sprintf("%d-%s", at, how), func(t *testing.T) {
				t.Parallel()
				w, c, head := keptBranch(t)
				first := w.maintainer()
				first.holder, first.at, first.how = gone(4), at, how
				_, err := first.shepherd().Release(t.Context(), c, head, "fixed")
				if how == answerLost && err != nil {
					t.Errorf("at %s: got %v, it should have looked twice", writes[at-1], err)
				}
				_, err = w.maintainer().shepherd().Release(t.Context(), c, head, "fixed")
				w.must(err)
				if diff := cmp.Diff(want, w.standing(c, Status{})); diff != "" {
					t.Errorf("at %s (-undisturbed +got):\n%s", writes[at-1], diff)
				}
				w.slow = 1
				if next, err := w.process(gone(8)).shepherd().Select(t.Context(), family, ""); err != nil || next.Attempt != 1 {
					t.Errorf("at %s: next upgrade: attempt %d, %v; want 1", writes[at-1], next.Attempt, err)
				}
			})
		}
	}
	t.Logf("%d writes of a release", len(writes))
}

// releaseVariable tells TestReleasingProcess the head.
const releaseVariable = "REFIT_TEST_RELEASE"

// TestTwoProcessesReleaseOneCandidate lets two real processes release the same
// candidate: one approval comes out, and nobody writes without the lease.
func TestTwoProcessesReleaseOneCandidate(t *testing.T) {
	w, c, head := keptBranch(t)
	r := &referee{
		w: w, lease: filepath.Join(w.bare.Dir, "refs", c.LeaseRef("refit")),
		leases: map[int]int{}, writes: map[int]int{}, calls: map[int]int{}, ledger: serveLedger(w.ledger),
	}
	var both sync.WaitGroup
	for process := 1; process <= 2; process++ {
		both.Go(func() { w.releaser(r.door(process), head) })
	}
	both.Wait()
	for _, o := range r.offences {
		t.Error(o)
	}
	approvals, audits := 0, 0
	for _, x := range w.ledger.receipts {
		if x.Step == "release" {
			approvals++
		}
	}
	comments, err := w.client("bot-token").Comments(t.Context(), 1)
	w.must(err)
	for _, x := range comments {
		if strings.HasPrefix(x.Body, "<!-- refit-release:") {
			audits++
		}
	}
	refs, err := w.client("bot-token").Refs(t.Context(), "refit/")
	w.must(err)
	if approvals != 1 || audits != 1 || len(refs) != 0 {
		t.Errorf("%d approvals, %d audit lines, refs %v; want one of each and none", approvals, audits, refs)
	}
	t.Logf("leases %v, writes %v, calls %v", r.leases, r.writes, r.calls)
}

func (w *world) releaser(door http.Handler, head string) {
	server := httptest.NewServer(door)
	defer server.Close()
	cmd := exec.CommandContext(w.t.Context(), os.Args[0], "-test.run=^TestReleasingProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), groundVariable+"="+w.ground, worldVariable+"="+w.dir, forgeVariable+"="+server.URL, releaseVariable+"="+head)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("releasing process: %v\n%s", err, out)
	}
}

// TestReleasingProcess is what the other process does: it does nothing on its own.
func TestReleasingProcess(t *testing.T) {
	head := os.Getenv(releaseVariable)
	if head == "" {
		return
	}
	w := standOn(t, os.Getenv(worldVariable))
	w.url = os.Getenv(forgeVariable)
	s := w.shepherd("maintainer-token")
	s.Ledger = remote{w.url}
	c, err := s.Find(t.Context(), family)
	w.must(err)
	for range 5000 {
		_, err = s.Release(t.Context(), c, head, "fixed")
		var wait Waiting
		if !errors.As(err, &wait) {
			break
		}
	}
	if err != nil && !strings.Contains(err.Error(), "is not claimed") {
		t.Error(err)
	}
}
