package candidate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

// A process is somebody who moves the candidate: it has its own way to the
// forge and to the ledger, its writes are counted, and it can be killed at one.
type process struct {
	w      *world
	url    string
	faults *local.Faults
	holder workspace.Holder
	token  string // "" is the bot's
	ledger *memory
	aging  *aging // nil unless receipts are comments

	mu     sync.Mutex
	writes []string
	at     int  // number of the write that is struck, from 1; 0 is none
	how    blow // what happens there
	dead   bool
}

// A blow is what happens at a write.
type blow string

const (
	killedBefore blow = "killed-before"
	killedAfter  blow = "killed-after"
	answerLost   blow = "answer-lost"
)

var errDead = errors.New("the process is dead")

// gone is a process of this machine that has ended: its pid lives, its start differs.
func gone(n int) workspace.Holder {
	h := workspace.Process()
	h.Start = fmt.Sprintf("%d%s", n, h.Start)
	return h
}

func (w *world) process(holder workspace.Holder) *process {
	p := &process{w: w, holder: holder, ledger: w.ledger}
	p.faults = &local.Faults{Forge: w.forge.Handler(), Choose: p.choose}
	server := httptest.NewServer(p.faults)
	w.t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// choose lets the dead reach nobody, and strikes at the chosen write.
func (p *process) choose(_ int, r *http.Request) local.Fault {
	if p.over() {
		return local.Refused
	}
	if !local.Writes(r) {
		return local.None
	}
	done, told := p.write(r.Method + " " + plain(r.URL.Path))
	switch {
	case !done:
		return local.Refused
	case !told:
		return local.Lost
	}
	return local.None
}

var number = regexp.MustCompile(`[0-9a-f-]{16,}|[0-9]+`)

func plain(path string) string {
	return number.ReplaceAllString(strings.TrimPrefix(path, "/api/v3/repos/toy/recipes"), "N")
}

func (p *process) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// write counts a write and says whether it is done, and whether its answer comes.
func (p *process) write(name string) (done, told bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false, false
	}
	p.writes = append(p.writes, name)
	if len(p.writes) != p.at {
		return true, true
	}
	p.dead = p.how != answerLost
	return p.how != killedBefore, false
}

// mortal is the ledger of a process.
type mortal struct {
	*memory
	p *process
}

func (m mortal) Receipts(ctx context.Context, id string) ([]Receipt, error) {
	if m.p.over() {
		return nil, errDead
	}
	return m.memory.Receipts(ctx, id)
}

func (m mortal) Append(ctx context.Context, r Receipt) error {
	return m.struck("receipt of "+r.Step, func() error { return m.memory.Append(ctx, r) })
}

func (m mortal) SaveCandidate(ctx context.Context, s Summary) error {
	return m.struck("summary", func() error { return m.memory.SaveCandidate(ctx, s) })
}

func (m mortal) struck(name string, write func() error) error {
	done, told := m.p.write(name)
	if done {
		if err := write(); err != nil {
			return err
		}
	}
	if !told {
		return fmt.Errorf("%s: %w", name, errors.New("no answer"))
	}
	return nil
}

func (p *process) shepherd() *Shepherd {
	s := p.w.shepherd("bot-token")
	s.Forge = p.w.clientAt(p.url, "bot-token")
	if p.token != "" {
		s.Forge = p.w.clientAt(p.url, p.token)
		s.Config.Forge.Login, _, _ = strings.Cut(p.token, "-")
	}
	s.Ledger, s.Holder = mortal{p.ledger, p}, p.holder
	p.aging = p.w.comment(s)
	return s
}

// upgrade goes on until there is an outcome or the process is dead. What goes
// wrong while it lives is met by calling again.
func (p *process) upgrade() (c Candidate, st Status, errs []error) {
	p.w.t.Helper()
	return p.goOn(func(s *Shepherd) (Candidate, error) { return s.Select(p.w.t.Context(), family, "") })
}

// finish goes on with one candidate, also when a later upgrade would begin anew.
func (p *process) finish(c Candidate) (Status, []error) {
	p.w.t.Helper()
	_, st, errs := p.goOn(func(*Shepherd) (Candidate, error) { return c, nil })
	return st, errs
}

func (p *process) goOn(which func(*Shepherd) (Candidate, error)) (c Candidate, st Status, errs []error) {
	p.w.t.Helper()
	s := p.shepherd()
	for range 120 {
		var err error
		if c, err = which(s); err == nil {
			if st, err = s.Advance(p.w.t.Context(), c); err == nil && st.State == Done {
				return c, st, errs
			}
		}
		if p.over() {
			return c, st, errs
		}
		if err != nil {
			errs = append(errs, err)
		}
		p.w.forge.Wait()
		p.ledger.age()
		p.aging.age()
	}
	p.w.t.Fatalf("no outcome after 120 advances: %s, waiting %q, errors %v", st.State, st.Waiting, errs)
	return c, st, errs
}

// standing is what a world holds at the end, without what differs from one
// upgrade to the next: times, run ids, commits.
type standing struct {
	Outcome  Outcome
	Verdicts map[string]string
	Pulls    []string
	Tree     string // of the branch's head
	Refs     []string
	Records  []string
	Runs     []string
	Receipts []string // the steps that have one
	Listed   []string // what the list of candidates says
}

func (w *world) standing(c Candidate, st Status) standing {
	w.t.Helper()
	ctx, bot := w.t.Context(), w.client("bot-token")
	s := standing{Outcome: st.Outcome, Verdicts: st.Verdicts}
	if w.comments {
		w.ledger = w.snapshot(c)
	}
	pulls, err := bot.PullsByHead(ctx, c.Branch("refit"))
	w.must(err)
	for _, p := range pulls {
		s.Pulls = append(s.Pulls, fmt.Sprintf("%d %s, %s, draft %v, labels %v", p.Number, p.Title, p.State, p.Draft, p.Labels))
		comments, err := bot.Comments(ctx, p.Number)
		w.must(err)
		for _, cm := range comments {
			rec, ok, err := report.ParseRecord("refit", cm.Body)
			w.must(err)
			if rec.Kind == report.ReceiptKind {
				continue // receipts are looked at one by one
			}
			name := rec.Kind + "/" + number.ReplaceAllString(rec.Name, "N")
			if !ok {
				name = number.ReplaceAllString(cm.Body, "N")
			}
			s.Records = append(s.Records, cm.Author+": "+name)
		}
		tree, err := w.bare.Git(ctx, "rev-parse", p.HeadSHA+"^{tree}")
		w.must(err)
		s.Tree = strings.TrimSpace(string(tree))
	}
	refs, err := bot.Refs(ctx, "")
	w.must(err)
	for name := range refs {
		s.Refs = append(s.Refs, name)
	}
	slices.Sort(s.Refs)
	for _, r := range w.runs {
		s.Runs = append(s.Runs, r.Event)
	}
	have := w.ledger.have()
	for _, name := range slices.Concat(names(Lifecycle), []string{"dispatch", "round", "verdict", "cleanup", "outcome", "adopt"}) {
		if have[name] {
			s.Receipts = append(s.Receipts, name)
		}
	}
	for _, sum := range w.ledger.candidates {
		s.Listed = append(s.Listed, fmt.Sprintf("%s %s %s", sum.Step, sum.State, sum.Outcome))
	}
	return s
}

func names(steps []Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return out
}

// A story is an upgrade that ends in its own way.
type story struct {
	name string
	set  func(*world)
	want Outcome
}

var stories = []story{
	{"validated", func(*world) {}, Validated},
	{"regressed", func(w *world) { w.slow = 0.8 }, Regressed},
	{"uncertain", func(w *world) {
		w.breaks = func(local.RunRequest) error { return errors.New("engine died") }
	}, Uncertain},
	{"inconclusive", func(w *world) { w.slow = 0.97 }, Validated},
}

// undisturbed is how a story ends when nothing goes wrong, and its writes.
func (s story) undisturbed(t *testing.T) (standing, []string) {
	t.Helper()
	w := newWorld(t)
	s.set(w)
	p := w.process(gone(1))
	c, st, errs := p.upgrade()
	if st.Outcome != s.want || len(errs) > 0 {
		t.Fatalf("undisturbed: got %s (%s), errors %v, want %s", st.Outcome, st.Reason, errs, s.want)
	}
	return w.standing(c, st), p.writes
}

// TestKilledAtEveryWrite kills a process before and after each of its writes,
// and loses each answer. Another process goes on (after a lost answer: the
// same), and the world must end as the undisturbed one.
func TestKilledAtEveryWrite(t *testing.T) {
	_, told := stories[0].undisturbed(t)
	for i, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			want, writes := s.undisturbed(t)
			from := 1 // the other stories begin like the first: what is theirs is struck
			for i > 0 && from < len(told) && told[from-1] == writes[from-1] {
				from++
			}
			step := 1
			if testing.Short() {
				step = 5
			}
			var calls, cases int
			var mu sync.Mutex
			t.Run("at", func(t *testing.T) {
				for at := from; at <= len(writes); at += step {
					for _, how := range []blow{killedBefore, killedAfter, answerLost} {
						if how == killedBefore && at > from && i > 0 {
							continue // to the world it is the same as after the write before
						}
						t.Run(fmt.Sprintf("%d-%s", at, how), func(t *testing.T) {
							t.Parallel()
							n := s.struck(t, at, how, writes[at-1], want)
							mu.Lock()
							defer mu.Unlock()
							calls, cases = calls+n, cases+1
						})
					}
				}
			})
			t.Logf("%s: %d writes of an upgrade, %d blows, %d calls", s.name, len(writes), cases, calls)
		})
	}
}

// struck tells a story with one blow and returns the number of calls.
func (s story) struck(t *testing.T, at int, how blow, write string, want standing) int {
	w := newWorld(t)
	s.set(w)
	first := w.process(gone(1))
	first.at, first.how = at, how
	c, _, errs := first.upgrade()
	second := w.process(workspace.Process())
	if first.over() {
		w.forge.Wait()
		if _, later := second.finish(c); len(later) > 0 {
			t.Errorf("%s, at %s: the second process met %v", how, write, later)
		}
	} else if len(errs) > 0 {
		t.Errorf("%s, at %s: the process met %v, it should have looked twice", how, write, errs)
	}
	// Whoever looks once more finds nothing to do, and leaves nothing behind.
	st, _ := w.process(workspace.Process()).finish(c)
	if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
		t.Errorf("%s, at %s (-undisturbed +got):\n%s\nerrors: %v\nwrites: %v", how, write, diff, errs, second.writes)
	}
	return total(first) + total(second)
}

func total(p *process) (n int) {
	for _, k := range p.faults.Counts() {
		n += k
	}
	return n
}

// TestADeadProposalIsCleared: a process dies inside propose, and for the next
// one the capacity is gone: no claim, branch or open draft may stay.
func TestADeadProposalIsCleared(t *testing.T) {
	_, writes := stories[0].undisturbed(t)
	at := slices.Index(writes, "POST /pulls") + 1
	for _, how := range []blow{killedBefore, killedAfter} {
		w := newWorld(t)
		first := w.process(gone(1))
		first.at, first.how = at, how
		first.upgrade()
		s := w.process(workspace.Process()).shepherd()
		s.Capacity = func(context.Context, string) gate.Verdict { return fail("capacity", "all nodes are busy") }
		c, err := s.Select(t.Context(), family, "")
		w.must(err)
		st, err := s.Advance(t.Context(), c)
		w.must(err)
		refs, err := w.client("bot-token").Refs(t.Context(), "")
		w.must(err)
		open, err := w.client("bot-token").OpenPulls(t.Context())
		w.must(err)
		if st.Outcome != CapacityDeferred || len(refs) != 1 || len(open) != 0 {
			t.Errorf("%s: %s, refs %v, %d open pull requests; want capacity-deferred and only main", how, st.Outcome, refs, len(open))
		}
	}
}
