package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/workspace"
)

const (
	waveMaster  = "configs/toy-master.yaml"
	waveRunners = "configs/runners.yaml"
	waveLibrary = "benchmarks/benchmark_lib.sh"
)

// waveOf gives the main branch n families, of which the first is the world's
// own, and returns a wave over all of them in this order.
func (w *world) waveOf(n int) Wave {
	w.t.Helper()
	src := string(w.file("main", waveMaster))
	_, entry, ok := strings.Cut(src, "toy-fp8-box-loom:")
	if !ok {
		w.t.Fatal("no family in the master")
	}
	files := map[string][]byte{}
	for i := 1; i < n; i++ { // each with a recipe of its own
		own := strings.Replace(entry, "model-prefix: toy", fmt.Sprint("model-prefix: toy", i), 1)
		src += fmt.Sprintf("toy-fp8-box-loom-%d:%s", i, own)
		files[recipeOf(i)] = w.file("main", script)
	}
	files[waveMaster] = []byte(src)
	base := w.commitOn("main", "More families", files)
	w.forge.Wait()
	w.mu.Lock()
	w.runs = slices.DeleteFunc(w.runs, func(r local.RunRequest) bool { return r.Event == "push" })
	w.mu.Unlock()
	wave := Wave{Base: base, Pulls: []OpenPull{}}
	for i := range n {
		name := family
		if i > 0 {
			name = fmt.Sprintf("%s-%d", family, i)
		}
		c := Candidate{Family: name, Base: base, OldImage: oldImage, NewImage: newImage, Parent: "p000000000000"}
		c.ID = c.identity()
		wave.Candidates = append(wave.Candidates, Proposal{Candidate: c, Files: []string{waveLibrary, recipeOf(i), waveMaster}})
	}
	return wave
}

// recipeOf is the recipe of the nth family.
func recipeOf(n int) string {
	if n == 0 {
		return script
	}
	return strings.Replace(script, "/toy_", fmt.Sprintf("/toy%d_", n), 1)
}

// proceeding lets every family of a wave move.
func proceeding(w Wave) []Decision {
	var ds []Decision
	for _, p := range w.Candidates {
		ds = append(ds, Decision{ID: p.ID, Family: p.Family, Decision: DecisionProceed, Clusters: p.Clusters, Reason: "nothing is in the way"})
	}
	return ds
}

// claims are the families that have a claim, by config key.
func (w *world) claims(wave Wave) []string {
	w.t.Helper()
	held := []string{}
	for _, p := range wave.Candidates {
		_, ok, err := w.shepherd("bot-token").Claimed(w.t.Context(), p.Family)
		w.must(err)
		if ok {
			held = append(held, p.Key())
		}
	}
	return held
}

// Each mistake in a review defers the whole wave.
func TestDecisionsThatDoNotFitDeferTheWholeWave(t *testing.T) {
	c := Candidate{Family: family, OldImage: oldImage, NewImage: newImage}
	c.ID = c.identity()
	wave := Wave{Candidates: []Proposal{{Candidate: c, Clusters: []string{"a", "b"}}}}
	decision := func(more string) string {
		return fmt.Sprintf(`{"decisions": [{"id": %q, "family": %q, "reason": "r", %s}]}`, c.ID, family, more)
	}
	for want, src := range map[string]string{
		"":                          decision(`"decision": "proceed", "clusters": ["b"]`),
		"decisions: ":               "not JSON",
		"unknown field":             decision(`"decision": "uncertain", "note": "x"`),
		"has no decision":           `{"decisions": []}`,
		"no such candidate":         strings.Replace(decision(`"decision": "uncertain"`), c.ID, "0000000000000000-0000000000000000", 1),
		"decided twice":             strings.Replace(decision(`"decision": "uncertain"`), "]}", ", "+strings.TrimSuffix(strings.TrimPrefix(decision(`"decision": "uncertain"`), `{"decisions": [`), "]}")+"]}", 1),
		"its family is " + family:   strings.Replace(decision(`"decision": "uncertain"`), family, "configs/other-master.yaml:x", 1),
		"no reason is given":        strings.Replace(decision(`"decision": "uncertain"`), `"reason": "r"`, `"reason": " "`, 1),
		"proceed names pull":        decision(`"decision": "proceed", "clusters": ["a"], "pull-requests": [1]`),
		"proceed names no cluster":  decision(`"decision": "proceed"`),
		"none of those that the":    decision(`"decision": "proceed", "clusters": ["c"]`),
		"is named twice":            decision(`"decision": "proceed", "clusters": ["a", "a"]`),
		"names no pull request":     decision(`"decision": "duplicate"`),
		"uncertain names clusters":  decision(`"decision": "uncertain", "clusters": ["a"]`),
		"pull request -1 is no":     decision(`"decision": "duplicate", "pull-requests": [-1]`),
		"want proceed, duplicate o": decision(`"decision": "Proceed", "clusters": ["a"]`),
	} {
		ds, err := ParseDecisions([]byte(src), wave)
		var deferred *Deferred
		switch {
		case want == "" && (err != nil || len(ds) != 1 || ds[0].Clusters[0] != "b"):
			t.Errorf("a review that fits: got %+v, %v", ds, err)
		case want != "" && (!errors.As(err, &deferred) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want the wave deferred: %q", src, err, want)
		}
	}
}

func TestADeferredWaveClaimsNothing(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(2)
	p := w.process(gone(1))
	_, err := p.shepherd().SelectWave(t.Context(), wave, proceeding(wave)[:1], SelectOptions{})
	var deferred *Deferred
	if !errors.As(err, &deferred) || len(p.writes) != 0 || len(w.claims(wave)) != 0 {
		t.Errorf("got %v, writes %v, claims %v; want it deferred, and none", err, p.writes, w.claims(wave))
	}
}

// Select claims in the wave's order up to the cap; later families fill the
// places of those that the review, the capacity or another owner takes out.
func TestSelectFillsPlacesUpToTheCap(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(6)
	for i := range wave.Candidates {
		wave.Candidates[i].Clusters = []string{fmt.Sprint("cluster-", i)}
	}
	ds := proceeding(wave)
	ds[0].Decision, ds[0].Clusters, ds[0].Pulls = DecisionDuplicate, nil, []int{7}
	other := wave.Candidates[2].Candidate
	_, err := w.shepherd("bot-token").stake(t.Context(), other)
	w.must(err)
	s := w.process(gone(1)).shepherd()
	var asked []string
	o := SelectOptions{Cap: 2, Clusters: func(_ context.Context, ids []string) ([]gate.Verdict, error) {
		asked = append(asked, ids...)
		if ids[0] == "cluster-1" {
			return []gate.Verdict{fail(ids[0], "it has no room now")}, nil
		}
		return []gate.Verdict{pass(ids[0], "eligible")}, nil
	}}
	sel, err := s.SelectWave(t.Context(), wave, ds, o)
	w.must(err)
	var got []string
	for _, c := range sel.Selected {
		got = append(got, c.Key())
		at, _, err := s.Forge.Ref(t.Context(), ClaimRef("refit", c.Family))
		w.must(err)
		want := Ownership{Candidate: c.ID, Family: c.Family, Claim: ClaimRef("refit", c.Family), Commit: at, Parent: gone(1).ID(), Holder: gone(1).String(), At: sel.At}
		if c.Ownership != want || c.Parent != gone(1).ID() {
			t.Errorf("%s: got %+v of %s, want %+v", c.Key(), c.Ownership, c.Parent, want)
		}
	}
	if want := []string{"toy-fp8-box-loom-3", "toy-fp8-box-loom-4"}; !slices.Equal(got, want) {
		t.Errorf("selected %v, want %v", got, want)
	}
	var left []string
	for _, l := range sel.Left {
		left = append(left, l.Reason)
	}
	if want := []string{SkippedDecision, SkippedCapacity, SkippedClaimed, SkippedCap}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", sel.Left, want)
	}
	if want := []string{"cluster-1", "cluster-2", "cluster-3", "cluster-4"}; !slices.Equal(asked, want) {
		t.Errorf("capacity was asked of %v, want %v", asked, want)
	}
	if held := w.claims(wave); !slices.Equal(held, []string{"toy-fp8-box-loom-2", "toy-fp8-box-loom-3", "toy-fp8-box-loom-4"}) {
		t.Errorf("claims %v", held)
	}
}

// Every target must be eligible.
func TestSelectNeedsEveryTarget(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(1)
	wave.Candidates[0].Clusters = []string{"a", "b"}
	sel, err := w.process(gone(1)).shepherd().SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{Clusters: func(context.Context, []string) ([]gate.Verdict, error) {
		return []gate.Verdict{pass("a", "eligible"), fail("b", "it has no room now")}, nil
	}})
	w.must(err)
	if len(sel.Selected) != 0 || len(sel.Left) != 1 || sel.Left[0].Detail != "b: it has no room now" {
		t.Errorf("got %+v, want it left for b", sel)
	}
}

// Without clusters to ask, the capacity of the family's runner counts.
func TestSelectAsksForTheRunner(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(1)
	s := w.process(gone(1)).shepherd()
	var asked string
	s.Capacity = func(_ context.Context, runner string) gate.Verdict {
		asked = runner
		return fail("capacity", "all nodes are busy")
	}
	sel, err := s.SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{})
	w.must(err)
	if asked != "box" || len(sel.Selected) != 0 || sel.Left[0].Detail != "all nodes are busy" {
		t.Errorf("asked %q, got %+v; want box asked and the family left", asked, sel)
	}
}

// A family that any decision takes out stays out.
func TestAFamilyThatOneDecisionTakesOutStaysOut(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(1)
	second := wave.Candidates[0]
	second.NewImage = "toy/loom:v3.0.0-box"
	second.ID = second.identity()
	wave.Candidates = append(wave.Candidates, second)
	ds := proceeding(wave)
	ds[1].Decision = DecisionUncertain
	sel, err := w.process(gone(1)).shepherd().SelectWave(t.Context(), wave, ds, SelectOptions{})
	w.must(err)
	if len(sel.Selected) != 0 || len(sel.Left) != 2 {
		t.Errorf("got %+v, want both left", sel)
	}
}

// What ended and stands is not claimed again; what may be retried is, as a
// further attempt.
func TestSelectKnowsWhatHasEnded(t *testing.T) {
	for outcome, want := range map[Outcome]int{Validated: -1, Failed: 1} {
		w := newWorld(t)
		wave := w.waveOf(1)
		c := wave.Candidates[0].Candidate
		w.ledger.receipts = []Receipt{{Candidate: c.ID, Step: "finish", Evidence: mustJSON(map[string]any{"receipt": map[string]any{"outcome": outcome}})}}
		w.ledger.candidates = []Summary{{Candidate: c, State: Done, Outcome: outcome}}
		sel, err := w.process(gone(1)).shepherd().SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{})
		w.must(err)
		got := -1
		if len(sel.Selected) == 1 {
			got = sel.Selected[0].Attempt
		}
		if got != want {
			t.Errorf("%s: attempt %d (%+v), want %d", outcome, got, sel.Left, want)
		}
	}
}

// A claim of a wave carries no receipts; propose adds them, so that another
// machine can go on.
func TestASelectedCandidateIsMoved(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(1)
	sel, err := w.process(gone(1)).shepherd().SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{})
	w.must(err)
	c := sel.Selected[0].Candidate
	s := w.shepherd("bot-token")
	p, _, err := s.claimOf(t.Context(), family)
	w.must(err)
	if p.Receipts != nil || p.Holder != gone(1).String() {
		t.Errorf("after select: receipts %v, holder %s; want none, and the process", p.Receipts, p.Holder)
	}
	_, err = w.process(gone(2)).shepherd().Advance(t.Context(), c)
	w.must(err)
	w.forge.Wait()
	p, _, err = s.claimOf(t.Context(), family)
	w.must(err)
	carried, err := s.carriedBy(t.Context(), p)
	w.must(err)
	if len(carried) != len(carriedSteps) || p.Holder != gone(1).String() {
		t.Errorf("after propose: %d receipts, holder %s; want %v of the same claim", len(carried), p.Holder, carriedSteps)
	}
	b := w.machine("bbbbbbbbbbbb")
	if st, errs := b.finish(c); st.Outcome != Validated || len(errs) > 0 || len(w.runs) != 2 {
		t.Errorf("another machine: %s (%s), errors %v, %d runs; want validated after one smoke and one sweep", st.Outcome, st.Reason, errs, len(w.runs))
	}
}

func TestSelectKilledAtEveryWrite(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(3)
	p := w.process(gone(1))
	_, err := p.shepherd().SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{Cap: 2})
	w.must(err)
	want, writes := w.claims(wave), slices.Clone(p.writes)
	if len(want) != 2 || len(writes) != 4 {
		t.Fatalf("undisturbed: claims %v, writes %v", want, writes)
	}
	for at := 1; at <= len(writes); at++ {
		for _, how := range []blow{killedBefore, killedAfter, answerLost} {
			t.Run(fmt.Sprintf("%d-%s", at, how), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				wave := w.waveOf(3)
				first := w.process(gone(1))
				first.at, first.how = at, how
				sel, err := first.shepherd().SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{Cap: 2})
				if how == answerLost {
					if err != nil || len(sel.Selected) != 2 {
						t.Errorf("at %s: got %d selected, %v; it should have looked twice", writes[at-1], len(sel.Selected), err)
					}
					return
				}
				held := len(w.claims(wave))
				if held != len(sel.Selected) && held != len(sel.Selected)+1 {
					t.Errorf("at %s: %d claims for %d selected", writes[at-1], held, len(sel.Selected))
				}
				// Another wave claims what is left, and never what is held.
				second := w.process(gone(2))
				sel, err = second.shepherd().SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{Cap: 2 - held})
				if held == 2 {
					return
				}
				w.must(err)
				if len(sel.Selected) != 2-held || len(w.claims(wave)) != 2 {
					t.Errorf("at %s: %d held, then %d selected, claims %v; want two claims", writes[at-1], held, len(sel.Selected), w.claims(wave))
				}
				for _, c := range sel.Selected {
					if c.Parent != gone(2).ID() {
						t.Errorf("at %s: %s is of %s", writes[at-1], c.Key(), c.Parent)
					}
				}
			})
		}
	}
}

func TestWaveFiles(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(2)
	dir := filepath.Join(t.TempDir(), "wave")
	if _, err := ReadWave(dir); err == nil || !strings.Contains(err.Error(), "refit wave plan --out "+dir+" writes it") {
		t.Errorf("no plan: got %v", err)
	}
	w.must(os.MkdirAll(dir, 0o755))
	pulls := []OpenPull{{Number: 7, Title: "x", Files: []string{script}}}
	wave.Pulls, wave.At = pulls, time.Date(2026, 11, 4, 6, 0, 0, 0, time.UTC)
	for i := range wave.Candidates {
		wave.Candidates[i].Clusters = []string{"box"}
	}
	w.must(writeWaveFile(filepath.Join(dir, "candidates.json"), wave))
	if _, err := ReadWave(dir); err == nil {
		t.Error("a plan without its pull requests was read")
	}
	w.must(writeWaveFile(filepath.Join(dir, "open-prs.json"), pulls))
	got, err := ReadWave(dir)
	w.must(err)
	if diff := cmp.Diff(wave, got); diff != "" {
		t.Errorf("read (-written +got):\n%s", diff)
	}
	s := w.process(gone(1)).shepherd()
	sel, err := s.SelectWave(t.Context(), got, proceeding(got), SelectOptions{Cap: 1})
	w.must(err)
	w.must(sel.Write(dir))
	var c Candidate
	var own Ownership
	var whole Selection
	for name, v := range map[string]any{"selection.json": &whole, sel.Selected[0].ID + "/candidate.json": &c, sel.Selected[0].ID + "/ownership.json": &own} {
		src, err := os.ReadFile(filepath.Join(dir, name))
		w.must(err)
		w.must(json.Unmarshal(src, v))
	}
	if c != sel.Selected[0].Candidate || own != sel.Selected[0].Ownership || len(whole.Selected) != 1 || len(whole.Left) != 1 {
		t.Errorf("written: %+v, %+v, %+v", c, own, whole)
	}
	w.must(workspace.WriteFile(filepath.Join(dir, "candidates.json"), []byte(`{"base": "x", "more": 1}`), 0o644))
	if _, err := ReadWave(dir); err == nil || !strings.Contains(err.Error(), "more") {
		t.Errorf("an unknown field: got %v", err)
	}
}

// Inside a workflow run that run makes the claims, not a process that nobody
// elsewhere can see.
func TestAWorkflowRunMakesItsOwnClaims(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(1)
	s := w.process(gone(1)).shepherd()
	s.Parent = "4711"
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	sel, err := s.SelectWave(t.Context(), wave, proceeding(wave), SelectOptions{})
	w.must(err)
	if got := sel.Selected[0]; c.Parent != "4711" || sel.Parent != "4711" || got.Parent != "4711" || got.Ownership.Parent != "4711" || got.Ownership.Holder != "" {
		t.Errorf("got %s, then %+v; want all of run 4711", c.Parent, sel)
	}
}
