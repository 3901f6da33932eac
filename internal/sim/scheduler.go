package sim

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// maxWaiting bounds the queue before the engine.
const maxWaiting = 8192

// scheduler batches continuously. One goroutine, run, owns the running batch,
// the prefix cache and the deadline of the current step; everyone else only
// enqueues and reads counters.
//
// A step ends exactly its cost after the step before it, or after the arrival
// that ended an idle spell. A request takes part in the first step that starts
// after its arrival. So what is measured depends on arrivals and costs alone,
// never on how late the thread woke up.
type scheduler struct {
	cost  stepCost
	limit int // running requests
	clock clock

	mu      sync.Mutex
	waiting []*sequence // in order of arrival
	closed  bool
	wake    chan struct{}
	aborted atomic.Bool

	running []*sequence
	cache   *prefixCache // nil when it is switched off

	counters counters
}

// counters are read by /metrics while the engine runs.
type counters struct {
	running, waiting            atomic.Int64
	prompt, generated           atomic.Int64
	prefixQueries, prefixHits   atomic.Int64
	steps, lateTotal, lateWorst atomic.Int64 // lateness of step ends in nanoseconds
}

// stepCost is the profile's time model in nanoseconds, faults and flags
// applied.
type stepCost struct {
	base, eagerBase, perSequence, perPromptToken float64
	graph                                        int // largest batch the decode graph holds
}

func newStepCost(p Profile, s Settings) stepCost {
	slow, eager := max(p.Faults.SlowDecode, 0), max(p.Time.EagerFactor, 0)
	if slow == 0 {
		slow = 1
	}
	if eager == 0 {
		eager = 1
	}
	return stepCost{
		base:           float64(p.Time.StepBase) * slow,
		eagerBase:      float64(p.Time.StepBase) * slow * eager,
		perSequence:    float64(p.Time.StepPerSequence) * slow,
		perPromptToken: float64(p.Time.PrefillPerToken),
		graph:          s.GraphMaxBatch,
	}
}

// of is the duration of one step in nanoseconds.
func (c stepCost) of(batch, promptTokens int) int64 {
	base := c.base
	if batch > c.graph {
		base = c.eagerBase
	}
	return int64(base + c.perSequence*float64(batch) + c.perPromptToken*float64(promptTokens))
}

func newScheduler(p Profile, s Settings, c clock) *scheduler {
	out := &scheduler{
		cost:  newStepCost(p, s),
		limit: min(s.MaxRunning, p.Time.MaxBatch),
		clock: c,
		wake:  make(chan struct{}, 1),
	}
	if !s.NoPrefixCache {
		out.cache = newPrefixCache(cachedBlocks)
	}
	return out
}

// enqueue adds a request at the end of the queue and stamps its arrival. It
// returns false when the engine has stopped or the queue is full.
func (s *scheduler) enqueue(q *sequence) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.aborted.Load() || len(s.waiting) >= maxWaiting {
		return false
	}
	q.arrived = s.clock.now()
	s.waiting = append(s.waiting, q)
	s.counters.waiting.Add(1)
	s.signal()
	return true
}

func (s *scheduler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// abort cuts every request off at the end of the current step.
func (s *scheduler) abort() {
	s.aborted.Store(true)
	s.signal()
}

// run batches until stop is closed; then it cuts off whatever is left.
func (s *scheduler) run(stop <-chan struct{}) {
	runtime.LockOSThread() // for good: a thread with other habits is not given back
	punctual()
	defer s.close()
	for {
		if arrived, ok := s.firstArrival(); ok {
			s.busy(arrived, stop)
		}
		select {
		case <-stop:
			return
		case <-s.wake:
		}
	}
}

// punctual makes the calling thread wake up on time, as far as this process may
// have that: without the usual timer slack of 50 us, and before other work.
func punctual() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	fifo := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, &fifo, 0) != nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -15)
	}
}

func (s *scheduler) firstArrival() (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return 0, false
	}
	return s.waiting[0].arrived, true
}

// busy runs steps from the moment given until nothing is left to run.
func (s *scheduler) busy(moment int64, stop <-chan struct{}) {
	for {
		if s.stopping(stop) {
			s.cutAll()
			return
		}
		promptTokens := s.admit(moment)
		if len(s.running) == 0 {
			next, ok := s.firstArrival()
			if !ok {
				return
			}
			moment = next
			continue
		}
		moment += s.cost.of(len(s.running), promptTokens)
		s.clock.sleepUntil(moment)
		s.noteLateness(s.clock.now() - moment)
		s.emit()
	}
}

func (s *scheduler) stopping(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return s.aborted.Load()
	}
}

// admit moves requests that arrived by the given moment into the batch, first
// come first served, and returns how many prompt tokens they bring.
func (s *scheduler) admit(moment int64) (promptTokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.waiting) && s.waiting[n].arrived <= moment && len(s.running) < s.limit {
		q := s.waiting[n]
		n++
		if q.gone.Load() {
			q.sink.cut()
			continue
		}
		cached := s.cached(q)
		promptTokens += q.promptTokens - cached
		s.counters.prompt.Add(int64(q.promptTokens))
		s.counters.prefixQueries.Add(int64(q.promptTokens))
		s.counters.prefixHits.Add(int64(cached))
		s.running = append(s.running, q)
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
	s.counters.waiting.Store(int64(len(s.waiting)))
	s.counters.running.Store(int64(len(s.running)))
	return promptTokens
}

// cached is how many tokens of the prompt need no computing.
func (s *scheduler) cached(q *sequence) int {
	if s.cache == nil {
		return 0
	}
	return s.cache.take(q.blocks, q.promptTokens)
}

// emit gives every running request its token and lets the finished ones go.
func (s *scheduler) emit() {
	made := 0
	s.running = slices.DeleteFunc(s.running, func(q *sequence) bool {
		if q.gone.Load() {
			q.sink.cut()
			return true
		}
		made++
		return q.step()
	})
	s.counters.generated.Add(int64(made))
	s.counters.steps.Add(1)
	s.counters.running.Store(int64(len(s.running)))
}

func (s *scheduler) noteLateness(late int64) {
	late = max(late, 0)
	s.counters.lateTotal.Add(late)
	if late > s.counters.lateWorst.Load() {
		s.counters.lateWorst.Store(late)
	}
}

// cutAll ends every request without an answer.
func (s *scheduler) cutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range append(s.waiting, s.running...) {
		q.sink.cut()
	}
	s.waiting, s.running = nil, nil
	s.counters.waiting.Store(0)
	s.counters.running.Store(0)
}

func (s *scheduler) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cutAll()
}
