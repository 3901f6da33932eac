package candidate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
)

// planned is a plan that was made before.
func planned(w Wave) func(context.Context) (Wave, error) {
	return func(context.Context) (Wave, error) { return w, nil }
}

// pause lets the forge finish what it runs.
func (w *world) pause(context.Context) error {
	w.forge.Wait()
	return nil
}

// One wave moves its families in turns, and one's own trouble does not touch
// the others.
func TestAWaveMovesWhatItSelected(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(3)
	for i := 1; i < 3; i++ { // images that do not exist
		p := &wave.Candidates[i]
		p.NewImage = fmt.Sprintf("toy/loom:v9.%d.0-box", i)
		p.ID = p.identity()
	}
	var told Selection
	r, err := w.process(gone(1)).shepherd().RunWave(t.Context(), RunOptions{
		Plan: planned(wave), Pause: w.pause, Selected: func(sel Selection) error { told = sel; return nil },
	})
	w.must(err)
	if len(told.Selected) != 3 || len(r.Moved) != 3 || r.Stopped != nil || r.Waits() {
		t.Fatalf("got %+v after the selection of %d, want three moved and no stop", r, len(told.Selected))
	}
	if st := r.Moved[0].Status; st == nil || st.Outcome != Validated || r.Moved[0].Error != "" {
		t.Errorf("the first: got %s, want validated", r.Moved[0])
	}
	for _, m := range r.Moved[1:] {
		if !strings.Contains(m.Error, "not found") {
			t.Errorf("%s: want its own error, that the image is not found", m)
		}
	}
}

// Without a pause there is one round, and what waits is left for a later wave,
// which goes on with it.
func TestALaterWaveGoesOn(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(1)
	nothing := planned(Wave{Base: wave.Base})
	r, err := w.process(gone(1)).shepherd().RunWave(t.Context(), RunOptions{Plan: planned(wave)})
	w.must(err)
	if !r.Waits() || len(r.Moved) != 1 {
		t.Fatalf("got %+v, want one that waits", r)
	}
	w.forge.Wait()
	r, err = w.process(gone(2)).shepherd().RunWave(t.Context(), RunOptions{Plan: nothing, Pause: w.pause})
	w.must(err)
	if len(r.Recovered) != 1 || r.Recovered[0].Action != RecoveryResumed || len(r.Moved) != 1 || r.Moved[0].Status.Outcome != Validated {
		t.Errorf("the later wave: got %+v, want the candidate resumed and validated", r)
	}
}

// The same blocker ending two candidates stops the wave, with one issue.
func TestTheSameBlockerStopsTheWave(t *testing.T) {
	for code, set := range map[BlockerCode]func(*world, *Shepherd){
		BlockedCredential: func(_ *world, s *Shepherd) { s.Config.Forge.Login = "somebody-else" },
		BlockedRepository: func(_ *world, s *Shepherd) { s.Config.Executor.Targeted = "gone.yml" },
		BlockedMachine: func(_ *world, s *Shepherd) {
			s.Local = func(context.Context) []gate.Verdict { return []gate.Verdict{fail("disk", "free at least 1 GiB")} }
		},
		BlockedFeed: func(w *world, s *Shepherd) { s.Feeds = brokenFeeds{feeds{w}} },
	} {
		w := newWorld(t)
		wave := w.waveOf(4)
		s := w.process(gone(1)).shepherd()
		set(w, s)
		r, err := s.RunWave(t.Context(), RunOptions{Plan: planned(wave), Pause: w.pause})
		w.must(err)
		if r.Stopped == nil || r.Stopped.Code != code || r.Stopped.Issue == 0 || len(r.Stopped.Candidates) != 2 {
			t.Errorf("%s: got %+v, want the wave stopped by two, and an issue", code, r.Stopped)
			continue
		}
		if r.Moved[2].Status != nil || r.Moved[2].Error != "" || !strings.HasSuffix(r.Moved[2].String(), "claimed, not begun") {
			t.Errorf("%s: the third: got %s, want it untouched", code, r.Moved[2])
		}
		again := *r.Stopped
		s.report(t.Context(), &again)
		open, err := w.client("bot-token").OpenIssues(t.Context(), "bot")
		w.must(err)
		if len(open) != 1 || again.Issue != r.Stopped.Issue || open[0].Title != "[refit] waves stop: "+string(code) {
			t.Errorf("%s: reported twice: #%d and #%d, open %+v; want one issue", code, r.Stopped.Issue, again.Issue, open)
		}
		if len(open) == 1 && (!strings.HasPrefix(open[0].Body, "<!-- refit-blocker:"+string(code)+" -->\nA wave stopped itself: ") || !strings.Contains(open[0].Body, wave.Candidates[0].ID)) {
			t.Errorf("%s: the issue says\n%s", code, open[0].Body)
		}
	}
}

// brokenFeeds do not answer.
type brokenFeeds struct{ feeds }

func (brokenFeeds) ImageFeed(context.Context) (api.ImageFeed, error) {
	return api.ImageFeed{}, errors.New("503 Service Unavailable")
}

// Capacity stops a wave when everything is full, and not while something has room.
func TestOnlyTheCapacityOfEverythingStopsTheWave(t *testing.T) {
	for name, c := range map[string]struct {
		room string // the runner that still has some
		stop bool
	}{
		"everything-full":  {"", true},
		"another-has-room": {"crate", false},
	} {
		w := newWorld(t)
		wave := w.waveOf(3)
		src := string(w.file("main", waveMaster))
		at := strings.LastIndex(src, "runner: box")
		wave.Base = w.commitOn("main", "Another runner", map[string][]byte{
			waveMaster:  []byte(src[:at] + "runner: crate" + src[at+len("runner: box"):]),
			waveRunners: []byte("labels:\n  box:\n  - box_00\n  crate:\n  - crate_00\n"),
		})
		for i := range wave.Candidates {
			wave.Candidates[i].Base = wave.Base
		}
		w.forge.Wait()
		s := w.process(gone(1)).shepherd()
		s.Capacity = func(_ context.Context, runner string) gate.Verdict {
			if runner == c.room {
				return pass("capacity", "idle")
			}
			return fail("capacity", "it has no room now")
		}
		var all []Moved
		for i, p := range wave.Candidates {
			m := Moved{Candidate: p.Candidate}
			if i < 2 {
				m.Status, m.over = &Status{Summary: Summary{Outcome: CapacityDeferred}, Reason: "it has no room now"}, true
			}
			all = append(all, m)
		}
		b := breaker{s: s, met: map[BlockerCode][]string{}}
		first, err := b.after(t.Context(), all, &all[0])
		w.must(err)
		second, err := b.after(t.Context(), all, &all[1])
		w.must(err)
		if first != nil || (second != nil) != c.stop || c.stop && (second.Code != BlockedCapacity || second.Issue == 0) {
			t.Errorf("%s: got %+v, then %+v; want stopped by the second %v", name, first, second, c.stop)
		}
	}
}

// An issue about a credential that may not open one is told as a warning.
func TestAWaveThatCannotOpenItsIssueSaysSo(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	s.Forge = w.client("unknown-token")
	stop := WaveStopped{Code: BlockedCredential, Reason: "401"}
	s.report(t.Context(), &stop)
	if stop.Issue != 0 || !strings.HasPrefix(stop.Warning, "no issue was opened: who am I: ") {
		t.Errorf("got %+v, want a warning", stop)
	}
}

// What a server said is quoted: it is no markup and notifies nobody.
func TestAnIssueQuotesWhatAServerSaid(t *testing.T) {
	stop := WaveStopped{Code: BlockedForge, Reason: "<script>`x` @everybody", Candidates: []string{"a"}}
	text := stop.text()
	for _, no := range []string{"<script>", "`x`", "@everybody"} {
		if strings.Contains(text, no) {
			t.Errorf("the issue holds %q:\n%s", no, text)
		}
	}
}

func TestBlockerOf(t *testing.T) {
	w := newWorld(t)
	main, _, err := w.client("bot-token").Ref(t.Context(), "heads/main")
	w.must(err)
	down := w.process(gone(1))
	down.dead = true
	_, silent := down.shepherd().Forge.Login(t.Context())
	_, unknown := w.client("unknown-token").Login(t.Context())
	_, missing := w.client("bot-token").Pull(t.Context(), 99)
	for name, c := range map[string]struct {
		err  error
		want BlockerCode
	}{
		"none":         {nil, ""},
		"own":          {errors.New("lane x is not lane y"), ""},
		"marked":       {fmt.Errorf("rehearse: %w", blockedBy(BlockedFeed, errors.New("x"))), BlockedFeed},
		"no-right":     {w.client("reader-token").CreateRef(t.Context(), "heads/x", main), BlockedCredential},
		"unknown":      {unknown, BlockedCredential},
		"silent":       {silent, BlockedForge},
		"missing":      {missing, ""},
		"rate-limited": {&forge.Error{Op: "x", Status: http.StatusTooManyRequests}, BlockedForge},
		"cancelled":    {blockedBy(BlockedFeed, context.Canceled), ""},
	} {
		if got := BlockerOf(c.err); got != c.want {
			t.Errorf("%s (%v): got %q, want %q", name, c.err, got, c.want)
		}
	}
	if blockedBy(BlockedFeed, nil) != nil {
		t.Error("no error is a blocker")
	}
}

// What Recover meets counts as well: a wave does not begin anything when two
// earlier candidates are kept from going on by the same.
func TestABlockerOfEarlierCandidatesStopsTheWave(t *testing.T) {
	w := newWorld(t)
	wave := w.waveOf(4)
	first := wave
	first.Candidates = wave.Candidates[:2]
	_, err := w.process(gone(1)).shepherd().SelectWave(t.Context(), first, proceeding(first), SelectOptions{})
	w.must(err)
	s := w.process(gone(2)).shepherd()
	s.Config.Forge.Login = "somebody-else"
	r, err := s.RunWave(t.Context(), RunOptions{Plan: planned(wave), Pause: w.pause})
	if err == nil || r.Stopped == nil || r.Stopped.Code != BlockedCredential || len(r.Moved) != 0 || len(w.claims(wave)) != 2 {
		t.Errorf("got %+v, error %v, claims %v; want the wave stopped before it claims", r.Stopped, err, w.claims(wave))
	}
}
