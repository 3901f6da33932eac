package candidate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/workspace"
)

// machine is a process of another machine, which shares the forge and nothing
// else: its store is empty.
func (w *world) machine(name string) *process {
	h := workspace.Process()
	h.Machine, h.Boot = name, "boot-of-"+name
	p := w.process(h)
	p.ledger = &memory{}
	return p
}

// standing looks at the world with the process's own store.
func (p *process) standing(c Candidate, st Status) standing {
	p.w.ledger = p.ledger
	s := p.w.standing(c, st)
	// Who asked for a run is remembered where it was asked.
	s.Receipts = slices.DeleteFunc(s.Receipts, func(step string) bool { return step == "dispatch" || step == "round" })
	return s
}

// succeed lets a second machine take over from a dead one and finish.
func (w *world) succeed(c Candidate) (*process, Status) {
	w.t.Helper()
	b := w.machine("bbbbbbbbbbbb")
	ctx := w.t.Context()
	if _, held, err := w.client("bot-token").Ref(ctx, c.LeaseRef("refit")); err != nil || held {
		w.must(err)
		st, err := b.shepherd().Advance(ctx, c)
		w.must(err)
		if st.State != Waits || !strings.Contains(st.Waiting, "on another machine") || len(b.ledger.receipts) != 0 {
			w.t.Errorf("before the takeover: %s, waiting %q, receipts %s; want to wait for the other machine", st.State, st.Waiting, b.ledger.steps())
		}
		_, err = b.shepherd().Takeover(ctx, c, "that machine burned down")
		w.must(err)
	}
	st, errs := b.finish(c)
	if len(errs) > 0 {
		w.t.Errorf("the second machine met %v", errs)
	}
	return b, st
}

// TestAnotherMachineGoesOn kills a machine at every write of an upgrade, with
// its store. Another one with an empty store takes over and ends as the
// undisturbed one: one claim, one pull request, one record of each kind, no
// measurement made twice.
func TestAnotherMachineGoesOn(t *testing.T) {
	for i, s := range stories[:3] { // validated, regressed, uncertain
		t.Run(s.name, func(t *testing.T) {
			a := newWorld(t)
			s.set(a)
			alone := a.machine("aaaaaaaaaaaa")
			c, st, _ := alone.upgrade()
			want, writes := alone.standing(c, st), alone.writes
			claimed := slices.Index(writes, "POST /git/refs") + 1 // the lease; the claim comes after it
			step := 3
			if testing.Short() {
				step = 9
			}
			from := claimed + 1
			if i > 0 {
				from = slices.Index(writes, "receipt of cleanup")
			}
			for at := from; at <= len(writes); at += step {
				t.Run(fmt.Sprintf("%d", at), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					s.set(w)
					first := w.machine("aaaaaaaaaaaa")
					first.at, first.how = at, killedAfter
					c, _, _ := first.upgrade()
					w.forge.Wait()
					if w.over(c) {
						return // nothing is left to go on with
					}
					b, st := w.succeed(c)
					if diff := cmp.Diff(likeAlone(want), likeAlone(b.standing(c, st))); diff != "" {
						t.Errorf("A dead after %s (-undisturbed +B):\n%s\nreason %s, B wrote %v", writes[at-1], diff, st.Reason, b.writes)
					}
				})
			}
		})
	}
}

// over says whether the dead machine had already freed the family.
func (w *world) over(c Candidate) bool {
	_, held, err := w.client("bot-token").Ref(w.t.Context(), ClaimRef("refit", c.Family))
	w.must(err)
	return !held && len(w.runs) > 0
}

// likeAlone leaves out what a takeover adds, and what a second store cannot
// know of an end that was decided elsewhere.
func likeAlone(s standing) standing {
	s.Records = slices.DeleteFunc(s.Records, func(r string) bool { return strings.Contains(r, "refit-takeover") })
	if s.Outcome != Validated {
		s.Verdicts, s.Receipts = nil, nil
	}
	return s
}

func TestAdoptionFromAnotherStore(t *testing.T) {
	w, c := left(t)
	b := w.machine("bbbbbbbbbbbb")
	b.token = "maintainer-token"
	s := b.shepherd()
	if _, err := s.Advance(t.Context(), c); err == nil || !strings.Contains(err.Error(), "#1 is by bot, the credential is maintainer; `refit candidate adopt "+c.ID) || len(b.writes) != 0 {
		t.Fatalf("before the adoption: got %v and writes %v, want the mismatch and none", err, b.writes)
	}
	found, err := s.Find(t.Context(), c.ID)
	w.must(err)
	if found != c {
		t.Errorf("found %+v by its claim, want %+v", found, c)
	}
	a, err := s.Adopt(t.Context(), found, "the other machine is gone")
	w.must(err)
	var origins []string
	for _, o := range a.Receipts {
		origins = append(origins, o.Step+" by "+o.By)
	}
	if want := []string{"resolve by bot", "inspect by bot", "rehearse by bot", "propose by bot"}; !slices.Equal(origins, want) || a.Records != 2 {
		t.Errorf("issued again: %v and %d records, want %v and 2", origins, a.Records, want)
	}
	if got := b.ledger.steps(); got != "[resolve inspect rehearse propose adopt]" {
		t.Errorf("receipts of the adopter: %s", got)
	}
	st, errs := b.finish(c)
	if st.Outcome != Validated || len(errs) > 0 || len(w.runs) != 2 {
		t.Errorf("after the adoption: %s (%s), errors %v, %d runs; want validated, one smoke, one sweep", st.Outcome, st.Reason, errs, len(w.runs))
	}
}

func TestAdoptionOfAnUnknownCandidateIsRefused(t *testing.T) {
	w := newWorld(t)
	b := w.machine("bbbbbbbbbbbb")
	s := b.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	if _, err := s.Adopt(t.Context(), c, "mine"); err == nil || !strings.Contains(err.Error(), "there is no pull request of it to adopt") {
		t.Errorf("got %v, want that there is nothing to adopt", err)
	}
	if _, err := s.Find(t.Context(), c.ID); err == nil || !strings.Contains(err.Error(), "neither this workspace nor a claim on the forge knows it") {
		t.Errorf("found: got %v", err)
	}
	if len(b.writes) != 0 {
		t.Errorf("wrote %v", b.writes)
	}
}

// TestATamperedClaimIsRefused changes a claim in every part that is believed.
func TestATamperedClaimIsRefused(t *testing.T) {
	cases := map[string]struct {
		message func(*claim)
		file    func(string) string // bound again to the message, unless loose
		loose   bool
		want    string
	}{
		"receipt-changed": {file: func(s string) string { return strings.Replace(s, newImage, oldImage, 1) }, loose: true, want: "its receipts are tampered: refit-claim.json has SHA-256"},
		"file-gone":       {file: func(string) string { return "" }, loose: true, want: "its receipts are tampered"},
		"not-canonical":   {file: func(s string) string { return s + " " }, want: "its receipts are not as they were written"},
		"unknown-key":     {file: func(s string) string { return strings.Replace(s, `{"candidate"`, `{"also":1,"candidate"`, 1) }, want: `unknown field "also"`},
		"step-missing": {file: edited(func(f *carried) { f.Receipts = f.Receipts[1:] }),
			want: "its receipts are of the steps [inspect rehearse], want [resolve inspect rehearse]"},
		"step-foreign": {file: edited(func(f *carried) { f.Receipts[2].Step = "certify" }), want: "want [resolve inspect rehearse]"},
		"other-candidate": {file: edited(func(f *carried) { f.Receipts[1].Candidate = "0123456789abcdef-0123456789abcdef" }),
			want: "its receipt of inspect is not one of candidate "},
		"wrong-id": {file: edited(func(f *carried) { f.Candidate = "0123456789abcdef-0123456789abcdef" }),
			want: "its receipts are of candidate 0123456789abcdef-0123456789abcdef"},
		"nobody":        {file: edited(func(f *carried) { f.Receipts[0].By = "" }), want: "its receipt of resolve is not one of"},
		"later-version": {message: func(p *claim) { p.Receipts.Version = 2 }, want: "its receipts are of version 2, this refit reads 1"},
		"claim-wrong-id": {message: func(p *claim) { p.Candidates[0].ID = "0123456789abcdef-0123456789abcdef" },
			want: `blocks the family: it names candidate "0123456789abcdef-0123456789abcdef"`},
		"claim-other-image": {message: func(p *claim) { p.Candidates[0].OldImage = "toy/loom:v0.1.0-box" }, want: "blocks the family: it names candidate"},
	}
	w, c := left(t)
	ref := ClaimRef("refit", family)
	bot := w.client("bot-token")
	real, _, err := bot.Ref(t.Context(), ref)
	w.must(err)
	message, err := bot.Message(t.Context(), real)
	w.must(err)
	file, err := w.bare.File(t.Context(), real, claimFile)
	w.must(err)
	for name, x := range cases {
		var p claim
		w.must(json.Unmarshal([]byte(message), &p))
		data := file
		if x.file != nil {
			data = []byte(x.file(string(file)))
		}
		if !x.loose {
			p.Receipts.SHA256 = sum(data)
		}
		if x.message != nil {
			x.message(&p)
		}
		text, err := workspace.Canonical(p)
		w.must(err)
		forged, err := bot.Commit(t.Context(), real, string(text), map[string][]byte{claimFile: data})
		w.must(err)
		w.must(bot.DeleteRef(t.Context(), ref))
		w.must(bot.CreateRef(t.Context(), ref, forged))
		b := w.machine("bbbbbbbbbbbb")
		s := b.shepherd()
		for verb, do := range map[string]func() error{
			"advance": func() error { _, err := s.Advance(t.Context(), c); return err },
			"adopt":   func() error { _, err := s.Adopt(t.Context(), c, "mine"); return err },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s, %s: got %v, want %q", name, verb, err, x.want)
			}
		}
		if len(b.writes) != 0 {
			t.Errorf("%s: wrote %v", name, b.writes)
		}
	}
}

// edited changes what a claim's file says, in its canonical form.
func edited(change func(*carried)) func(string) string {
	return func(s string) string {
		var f carried
		if err := json.Unmarshal([]byte(s), &f); err != nil {
			panic(err)
		}
		change(&f)
		data, err := workspace.Canonical(f)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
}

// TestWhatAClaimCarries: no fact of the machine goes into it, and what is read
// back is what was written.
func TestWhatAClaimCarries(t *testing.T) {
	w, c := left(t)
	s := w.shepherd("bot-token")
	p, _, err := s.claimOf(t.Context(), family)
	w.must(err)
	receipts, err := s.carriedBy(t.Context(), p)
	w.must(err)
	kept, err := w.ledger.Receipts(t.Context(), c.ID)
	w.must(err)
	for i, r := range receipts {
		k := kept[i+1] // after doctor's
		same, err := workspace.Canonical(k.Evidence)
		w.must(err)
		if r.Step != k.Step || r.Subject != k.Subject || r.By != "bot" || !r.At.Equal(k.At) || string(r.Evidence) != string(same) {
			t.Errorf("receipt %d: got %s by %s at %s, want %s of the ledger", i, r.Step, r.By, r.At, k.Step)
		}
	}
	text, err := s.claimBytes(t.Context(), p.commit)
	w.must(err)
	for _, private := range []string{"bot-token", workspace.Process().Machine, w.dir, "doctor"} {
		if strings.Contains(string(text), private) {
			t.Errorf("the claim carries %q", private)
		}
	}
}

// TestALaterUpgradeBeginsAnew: after an end that may be retried a later upgrade
// is a further attempt with everything of its own, and the receipts of the
// earlier one stay as they were.
func TestALaterUpgradeBeginsAnew(t *testing.T) {
	w := newWorld(t)
	dies := func(local.RunRequest) error { return errors.New("engine died") }
	w.breaks = dies
	first, st, _ := w.process(gone(1)).upgrade()
	if st.Outcome != Uncertain || first.Attempt != 0 {
		t.Fatalf("first attempt: %d, %s; want 0, uncertain", first.Attempt, st.Outcome)
	}
	history := slices.Clone(w.ledger.receipts)
	w.breaks = nil
	second, st, errs := w.process(gone(1)).upgrade() // by the same process, so the parent is equal
	if st.Outcome != Validated || len(errs) > 0 || second.Attempt != 1 || second.ID != first.ID || second.Parent != first.Parent {
		t.Fatalf("second attempt: %d of %s, %s (%s), errors %v; want 1 of the same candidate, validated", second.Attempt, second.ID, st.Outcome, st.Reason, errs)
	}
	for i := range history { // asking is aged by the test itself
		if history[i].Step == "dispatch" {
			history[i].At = w.ledger.receipts[i].At
		}
	}
	if diff := cmp.Diff(history, w.ledger.receipts[:len(history)]); diff != "" {
		t.Errorf("the receipts of the first attempt changed (-before +after):\n%s", diff)
	}
	if next := w.ledger.receipts[len(history)]; next.Step != "attempt" || next.Subject != "1" {
		t.Errorf("after the history: receipt of %s %s, want the line that begins attempt 1", next.Step, next.Subject)
	}
	bot := w.client("bot-token")
	pulls, err := bot.PullsByHead(t.Context(), second.Branch("refit"))
	w.must(err)
	var states []string
	for _, p := range pulls {
		states = append(states, fmt.Sprintf("#%d %s", p.Number, p.State))
	}
	if !slices.Equal(states, []string{"#2 open", "#1 closed"}) || st.Pull != 2 {
		t.Errorf("pull requests %v, the attempt's is #%d; want one new and open", states, st.Pull)
	}
	if held, ok, err := w.shepherd("bot-token").Claimed(t.Context(), family); err != nil || !ok || held != second {
		t.Errorf("claim: %+v, %v, %v; want the second attempt's", held, ok, err)
	}
	if len(w.runs) != 3 {
		t.Errorf("%d runs, want the smoke that died, a smoke and a sweep", len(w.runs))
	}
	if _, again, _ := w.process(gone(1)).upgrade(); !again.Sealed || again.Outcome != Validated {
		t.Errorf("asked again: sealed %v, %s; want what stands", again.Sealed, again.Outcome)
	}
}

// TestAnotherMachineGoesOnWithAFurtherAttempt: the attempt is part of the claim.
func TestAnotherMachineGoesOnWithAFurtherAttempt(t *testing.T) {
	w := newWorld(t)
	w.breaks = func(local.RunRequest) error { return errors.New("engine died") }
	w.process(gone(1)).upgrade()
	w.breaks = nil
	a := w.process(gone(1))
	s := a.shepherd()
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Advance(t.Context(), c)
	w.must(err)
	w.forge.Wait()
	b := w.machine("bbbbbbbbbbbb")
	got, st, errs := b.upgrade()
	if got != c || st.Outcome != Validated || st.Pull != 2 || len(errs) > 0 || len(w.runs) != 3 {
		t.Errorf("attempt %d: %s (%s) with #%d after %d runs, errors %v; want attempt 1 validated with #2 after 3", got.Attempt, st.Outcome, st.Reason, st.Pull, len(w.runs), errs)
	}
}
