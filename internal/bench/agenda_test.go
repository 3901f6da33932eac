package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

// order takes from an agenda at a time until it gives nothing.
func order(a *agenda, now int64) []int {
	var taken []int
	for {
		r, ok := a.take(now)
		if !ok {
			return taken
		}
		taken = append(taken, r.index)
	}
}

func TestAgendaCapIsFirstComeFirstServed(t *testing.T) {
	a := newAgenda(make([]plan, 4), 2, 100)
	if got := order(a, 100); !slices.Equal(got, []int{0, 1}) {
		t.Fatalf("at the start: got %v, want the first two", got)
	}
	if at := a.wake(); at != math.MaxInt64 {
		t.Errorf("woken at %d with all places taken", at)
	}
	a.ended(1, 130)
	r, ok := a.take(135)
	if !ok || r.index != 2 || r.released != 100 || r.granted != 130 || r.intended() != 130 {
		t.Errorf("got %+v, %v; want request 2, which waited from 100 to 130", r, ok)
	}
	a.ended(0, 140)
	a.ended(2, 150)
	if r, _ := a.take(200); r.index != 3 || r.granted != 140 {
		t.Errorf("got %+v, want request 3 in the place that was free first", r)
	}
	if a.waiting() {
		t.Error("requests are left")
	}
}

// A schedule is kept by a request that has to wait for a place: it is late.
func TestAgendaSchedule(t *testing.T) {
	plans := []plan{{paced: true}, {wait: 10, paced: true}, {wait: 20, paced: true}}
	free := newAgenda(plans, 0, 100)
	if got := order(free, 109); !slices.Equal(got, []int{0}) || free.wake() != 110 {
		t.Errorf("before its time: got %v, woken at %d", got, free.wake())
	}
	if got := order(free, 125); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("without a cap: got %v", got)
	}
	one := newAgenda(plans, 1, 100)
	one.take(100)
	one.ended(0, 140)
	r, ok := one.take(141)
	if !ok || r.released != 110 || r.granted != 140 || r.intended() != 110 {
		t.Errorf("got %+v, %v; want a request intended at 110 that had a place at 140", r, ok)
	}
}

// A session keeps its user through its pauses, and a due turn goes before a new
// session that became possible later.
func TestAgendaSessions(t *testing.T) {
	plans := []plan{{session: 0}, {session: 0, turn: 1, wait: 50, paced: true}, {session: 1}, {session: 2}}
	a := newAgenda(plans, 2, 0)
	if got := order(a, 0); !slices.Equal(got, []int{0, 2}) {
		t.Fatalf("at the start: got %v, want the first turns of two sessions", got)
	}
	a.ended(0, 10)
	if got := order(a, 59); got != nil || a.wake() != 60 {
		t.Errorf("in the pause: got %v, woken at %d, want nothing until 60", got, a.wake())
	}
	a.ended(2, 70)
	if got := order(a, 80); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("behind the pause: got %v, want the turn, then the next session", got)
	}
}

// When nothing is under way all pauses are cut by as much, and no more than
// the first of them allows.
func TestAgendaCutsIdleTime(t *testing.T) {
	plans := []plan{{session: 0}, {session: 0, turn: 1, wait: 500, paced: true}, {session: 1}, {session: 1, turn: 1, wait: 700, paced: true}, {session: 2}}
	a := newAgenda(plans, 2, 0)
	a.idle = 100
	order(a, 0)
	a.ended(0, 10)
	a.ended(2, 20)
	a.hurry(30)
	if got := a.wake(); got != 130 {
		t.Errorf("woken at %d, want 100 behind 30", got)
	}
	a.hurry(60)
	if got := a.wake(); got != 130 {
		t.Errorf("woken at %d after another look, want the 130 of before", got)
	}
	if got := order(a, 130); !slices.Equal(got, []int{1}) || a.wake() != 340 {
		t.Errorf("took %v, then woken at %d; want the other turn 210 later", got, a.wake())
	}
	a.ended(1, 140)
	a.hurry(140) // a user is free and a session waits
	if got := order(a, 140); !slices.Equal(got, []int{4}) || a.wake() != 340 {
		t.Errorf("took %v, then woken at %d; want the session, and its pause left alone", got, a.wake())
	}
}

func TestAlarmRingsOnce(t *testing.T) {
	l, err := newLoop(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	const wait = 3 * time.Millisecond
	start := l.clock.now()
	for range 3 { // set again to the same time: no second ring
		if err := l.alarm.set(start + int64(wait)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.wait(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Duration(l.clock.now() - start); took < wait || took > 5*time.Second {
		t.Errorf("woken after %v, want %v", took, wait)
	}
}
