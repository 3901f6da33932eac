package bench

import (
	"container/heap"
	"math"
)

// agenda says which request is sent next and when. A session's requests follow
// each other, each a while after the end of the one before; a session of one
// request is the plain case. Sessions begin in their order, by the schedule or
// as soon as a user is free for them, and a user stays with a session until its
// last request has ended. The loop's thread owns it.
type agenda struct {
	plans  []plan
	origin int64   // what the plans' times are counted from, loop clock
	users  int     // sessions at a time, 0 = as many as come
	free   []int64 // since when each idle user is free, the longest idle one first
	next   int     // the first request of the session that begins next
	turns  turns   // further requests of the sessions that have begun
	idle   int64   // longest time, ns, in which nothing at all is under way; 0 = any
}

// release is one request's way to the wire, in times of the loop's clock.
type release struct {
	index    int
	released int64 // by the schedule; the start of the run without one
	granted  int64 // when a user was there for it
	paced    bool  // there is a schedule
}

// intended is when the request should have been sent.
func (r release) intended() int64 {
	if r.paced {
		return r.released
	}
	return r.granted
}

func newAgenda(plans []plan, users int, origin int64) *agenda {
	a := &agenda{plans: plans, origin: origin, users: users}
	for range min(users, len(plans)) {
		a.free = append(a.free, origin)
	}
	return a
}

// session is the release of the session that begins next, false when none is
// left or no user is free.
func (a *agenda) session() (release, bool) {
	if a.next == len(a.plans) || a.users > 0 && len(a.free) == 0 {
		return release{}, false
	}
	p := a.plans[a.next]
	r := release{index: a.next, released: a.origin + int64(p.wait), paced: p.paced}
	r.granted = r.released
	if a.users > 0 {
		r.granted = max(r.released, a.free[0])
	}
	return r, true
}

// wake is when the next request is to be sent, the end of time when that
// depends on the end of one that is under way.
func (a *agenda) wake() int64 {
	at := int64(math.MaxInt64)
	if r, ok := a.session(); ok {
		at = r.granted
	}
	if len(a.turns) > 0 {
		at = min(at, a.turns[0].released)
	}
	return at
}

// take hands out the request that is to be sent now, the one that has waited
// longest first.
func (a *agenda) take(now int64) (release, bool) {
	s, begins := a.session()
	if len(a.turns) > 0 && (!begins || a.turns[0].released <= s.granted) {
		if a.turns[0].released > now {
			return release{}, false
		}
		return heap.Pop(&a.turns).(release), true
	}
	if !begins || s.granted > now {
		return release{}, false
	}
	if a.users > 0 {
		a.free = a.free[1:]
	}
	for a.next++; a.next < len(a.plans) && a.plans[a.next].turn > 0; a.next++ {
	}
	return s, true
}

// hurry is told that nothing is under way. When that would last for longer than
// it may, all pauses end as much earlier.
func (a *agenda) hurry(now int64) {
	if _, begins := a.session(); begins || a.idle == 0 || len(a.turns) == 0 {
		return
	}
	early := a.turns[0].released - now - a.idle
	if early <= 0 {
		return
	}
	for i := range a.turns {
		a.turns[i].released -= early
		a.turns[i].granted -= early
	}
}

// ended is told that a request has ended: its session goes on, or its user is
// free.
func (a *agenda) ended(index int, now int64) {
	if follow := index + 1; follow < len(a.plans) && a.plans[follow].turn > 0 {
		at := now + int64(a.plans[follow].wait)
		heap.Push(&a.turns, release{index: follow, released: at, granted: at, paced: true})
		return
	}
	if a.users > 0 {
		a.free = append(a.free, now)
	}
}

// waiting says whether requests are left that nobody has sent.
func (a *agenda) waiting() bool { return a.next < len(a.plans) || len(a.turns) > 0 }

// turns is a heap by time.
type turns []release

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].released < t[j].released }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(v any)        { *t = append(*t, v.(release)) }
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
