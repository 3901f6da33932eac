package sim

import (
	"slices"
	"testing"
	"time"
)

// fakeClock moves only when somebody sleeps; every sleep ends late by the same
// amount.
type fakeClock struct {
	time int64
	late int64
}

func (c *fakeClock) clock() clock {
	return clock{
		now:        func() int64 { return c.time },
		sleepUntil: func(deadline int64) { c.time = max(c.time, deadline) + c.late },
	}
}

// recorder notes when its tokens came.
type recorder struct {
	clock  *fakeClock
	times  []int64
	finish string
	cuts   int
}

func (r *recorder) token(n int, text, finish string) {
	r.times = append(r.times, r.clock.time)
	r.finish = finish
}

func (r *recorder) cut() { r.cuts++ }

func testProfile() Profile {
	return Profile{
		Version: "1",
		Time:    TimeModel{StepBase: 1000, StepPerSequence: 10, PrefillPerToken: 1, MaxBatch: 2, EagerFactor: 2},
	}
}

func arrive(t *testing.T, s *scheduler, c *fakeClock, at int64, prompt, limit int) *recorder {
	t.Helper()
	r := &recorder{clock: c}
	c.time = at
	if !s.enqueue(&sequence{promptTokens: prompt, limit: limit, sink: r}) {
		t.Fatalf("enqueue at %d: refused", at)
	}
	return r
}

func TestStepsFollowEachOther(t *testing.T) {
	c := &fakeClock{}
	s := newScheduler(testProfile(), Settings{MaxRunning: 64, GraphMaxBatch: 64}, c.clock())
	a := arrive(t, s, c, 100, 50, 3)
	b := arrive(t, s, c, 200, 30, 2) // during a's first step: joins the second
	d := arrive(t, s, c, 300, 20, 1) // the batch holds two: waits for the first to leave
	late := arrive(t, s, c, 900000, 40, 1)
	c.time = 0
	s.busy(100, nil)

	// a alone, with its prompt: 1000+10+50. a and b: 1000+20+30. Both decode:
	// 1000+20. Then d alone; then idle until the last arrival.
	for _, want := range []struct {
		name  string
		got   *recorder
		times []int64
	}{
		{"a", a, []int64{1160, 2210, 3230}},
		{"b", b, []int64{2210, 3230}},
		{"d", d, []int64{4260}},
		{"late", late, []int64{901050}},
	} {
		if !slices.Equal(want.got.times, want.times) {
			t.Errorf("%s: tokens at %v, want %v", want.name, want.got.times, want.times)
		}
		if want.got.finish != "length" {
			t.Errorf("%s: finish %q, want length", want.name, want.got.finish)
		}
	}
	if got := s.counters.generated.Load(); got != 7 {
		t.Errorf("generated %d tokens, want 7", got)
	}
	if got := s.counters.prompt.Load(); got != 140 {
		t.Errorf("took %d prompt tokens, want 140", got)
	}
}

func TestLatenessDoesNotAccumulate(t *testing.T) {
	c := &fakeClock{late: 400}
	s := newScheduler(testProfile(), Settings{MaxRunning: 64, GraphMaxBatch: 64}, c.clock())
	a := arrive(t, s, c, 0, 0, 100)
	s.busy(0, nil)
	if got, want := a.times[99], int64(100*1010+400); got != want {
		t.Errorf("token 100 at %d, want %d", got, want)
	}
	if got := s.counters.lateWorst.Load(); got != 400 {
		t.Errorf("worst lateness %d, want 400", got)
	}
}

func TestOverloadedStepIsCaughtUp(t *testing.T) {
	c := &fakeClock{}
	s := newScheduler(testProfile(), Settings{MaxRunning: 64, GraphMaxBatch: 64}, c.clock())
	a := arrive(t, s, c, 0, 0, 5)
	c.time = 3500 // the thread was away for three steps
	s.busy(0, nil)
	if want := []int64{3500, 3500, 3500, 4040, 5050}; !slices.Equal(a.times, want) {
		t.Errorf("tokens at %v, want %v", a.times, want)
	}
}

func TestBatchBeyondTheGraphIsSlower(t *testing.T) {
	cost := newStepCost(testProfile(), Settings{GraphMaxBatch: 1})
	if got := cost.of(1, 0); got != 1010 {
		t.Errorf("batch in the graph: %d, want 1010", got)
	}
	if got := cost.of(2, 0); got != 2020 {
		t.Errorf("batch beyond the graph: %d, want 2020", got)
	}
}

func TestSlowDecodeLeavesPromptsAlone(t *testing.T) {
	p := testProfile()
	p.Faults.SlowDecode = 1.25
	cost := newStepCost(p, Settings{GraphMaxBatch: 64})
	if got, want := cost.of(4, 100), int64(1250+50+100); got != want {
		t.Errorf("step of 4 with 100 prompt tokens: %d, want %d", got, want)
	}
}

func TestGoneClientsLeaveTheBatch(t *testing.T) {
	c := &fakeClock{}
	s := newScheduler(testProfile(), Settings{MaxRunning: 64, GraphMaxBatch: 64}, c.clock())
	a := arrive(t, s, c, 0, 0, 5)
	s.waiting[0].gone.Store(true)
	b := arrive(t, s, c, 0, 0, 2)
	s.busy(0, nil)
	if len(a.times) != 0 || a.cuts != 1 {
		t.Errorf("gone client: %d tokens and %d cuts, want none and one", len(a.times), a.cuts)
	}
	if want := []int64{1010, 2020}; !slices.Equal(b.times, want) {
		t.Errorf("the other client: tokens at %v, want %v", b.times, want)
	}
}

func TestAbortCutsEverything(t *testing.T) {
	c := &fakeClock{}
	s := newScheduler(testProfile(), Settings{MaxRunning: 1, GraphMaxBatch: 64}, c.clock())
	a, b := arrive(t, s, c, 0, 0, 5), arrive(t, s, c, 0, 0, 5)
	s.admit(0)
	s.abort()
	s.busy(0, nil)
	if a.cuts != 1 || b.cuts != 1 {
		t.Errorf("cuts: running %d, waiting %d; want 1 and 1", a.cuts, b.cuts)
	}
	if s.enqueue(&sequence{sink: &recorder{}}) {
		t.Error("an aborted engine took another request")
	}
}

func TestPrefixCache(t *testing.T) {
	text := "one two six ten one two six ten one two six ten one two six ten tail"
	blocks, tokens := promptBlocks(text)
	if tokens != 17 || len(blocks) != 1 {
		t.Fatalf("promptBlocks: %d tokens in %d blocks, want 17 in 1", tokens, len(blocks))
	}
	cache := newPrefixCache(2)
	for i, want := range []int{0, 16} {
		if got := cache.take(blocks, tokens); got != want {
			t.Errorf("take %d: %d cached tokens, want %d", i, got, want)
		}
	}
	cache.take([]uint64{1, 2}, 40) // pushes the first block out
	if got := cache.take(blocks, tokens); got != 0 {
		t.Errorf("after eviction: %d cached tokens, want 0", got)
	}
	if got := cache.take(blocks, 16); got != 15 {
		t.Errorf("a prompt of whole blocks: %d cached tokens, want 15 (the last is computed)", got)
	}
	other, _ := promptBlocks("x" + text)
	if other[0] == blocks[0] {
		t.Error("prompts with different beginnings share a block")
	}
}

func TestDurationsAreReal(t *testing.T) {
	p, err := ParseProfile([]byte(`{"version":"1","time":{"step-base":"1.6ms","max-batch":8}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(p.Time.StepBase); got != 1600*time.Microsecond {
		t.Errorf("step-base %v, want 1.6ms", got)
	}
}
