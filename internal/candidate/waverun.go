package candidate

import (
	"context"
	"errors"
	"fmt"
)

// RunOptions are what a wave needs beside the Shepherd.
type RunOptions struct {
	// Plan looks which families may move. It is asked after Recover, which may
	// free some.
	Plan func(ctx context.Context) (Wave, error)
	// Review answers for the wave; nil is the built-in reviewer.
	Review func(ctx context.Context, w Wave) ([]Decision, error)
	Select SelectOptions
	// Selected is told of the selection before any candidate moves; nil is nobody.
	Selected func(Selection) error
	// Pause waits between two rounds over the candidates. Without it (nil) there
	// is one round, and what waits then is left for a later wave.
	Pause func(ctx context.Context) error
}

// WaveReport is what a wave did.
type WaveReport struct {
	Recovered []Recovered  `json:"recovered"`
	Left      []LeftOut    `json:"left-out"` // by the plan, then by the selection
	Moved     []Moved      `json:"candidates"`
	Stopped   *WaveStopped `json:"stopped,omitempty"`
}

// Moved is one candidate of a wave and where it stood when the wave ended.
type Moved struct {
	Candidate
	Status *Status `json:"status,omitempty"` // nil when it was not moved once
	Error  string  `json:"error,omitempty"`

	over bool  // the wave does not move it any more
	err  error // what Error tells
}

func (m Moved) String() string {
	switch {
	case m.Error != "":
		return m.Key() + ": error: " + m.Error
	case m.Status == nil:
		return m.Key() + ": claimed, not begun"
	case m.Status.State == Waits:
		return m.Key() + ": waits for " + m.Status.Waiting
	case m.Status.Reason != "":
		return fmt.Sprintf("%s: %s: %s", m.Key(), m.Status.Outcome, m.Status.Reason)
	}
	return m.Key() + ": " + string(m.Status.Outcome)
}

// Waits says whether something of the wave has still to wait.
func (r WaveReport) Waits() bool {
	for _, m := range r.Moved {
		if m.Status != nil && m.Status.State == Waits {
			return true
		}
	}
	return false
}

// RunWave is one wave: it recovers what earlier ones left, plans, selects, and
// moves every selected candidate, together with those that Recover let go on.
// One candidate's own trouble does not touch the others. What no family can be
// blamed for stops the wave when a second candidate meets it, and an issue says
// so. The report holds what was done, also beside an error.
func (s *Shepherd) RunWave(ctx context.Context, o RunOptions) (WaveReport, error) {
	recovered, trouble := s.Recover(ctx)
	r := WaveReport{Recovered: append([]Recovered{}, recovered...), Left: []LeftOut{}, Moved: []Moved{}}
	b := breaker{s: s, met: map[BlockerCode][]string{}}
	if r.Stopped = b.recovered(ctx, recovered); r.Stopped != nil {
		return r, trouble
	}
	w, err := o.Plan(ctx)
	if err != nil {
		return r, errors.Join(trouble, fmt.Errorf("plan: %w", err))
	}
	r.Left = append(r.Left, w.Left...)
	review := o.Review
	if review == nil {
		review = s.Review
	}
	ds, err := review(ctx, w)
	if err != nil {
		return r, errors.Join(trouble, err)
	}
	sel, err := s.SelectWave(ctx, w, ds, o.Select)
	r.Left = append(r.Left, sel.Left...)
	r.begin(sel)
	if err == nil && o.Selected != nil {
		err = o.Selected(sel)
	}
	if err != nil {
		return r, errors.Join(trouble, err)
	}
	err = s.moveAll(ctx, &r, &b, o.Pause)
	return r, errors.Join(trouble, err)
}

// begin lists the candidates that the wave moves: first those that go on.
func (r *WaveReport) begin(sel Selection) {
	for _, x := range r.Recovered {
		if x.Action == RecoveryResumed && x.State == Waits {
			r.Moved = append(r.Moved, Moved{Candidate: x.Candidate})
		}
	}
	for _, x := range sel.Selected {
		r.Moved = append(r.Moved, Moved{Candidate: x.Candidate})
	}
}

// moveAll advances every candidate in turn, round after round, until all have
// ended, nobody may wait, or the breaker opens.
func (s *Shepherd) moveAll(ctx context.Context, r *WaveReport, b *breaker, pause func(context.Context) error) error {
	for {
		left := 0
		for i := range r.Moved {
			m := &r.Moved[i]
			if m.over {
				continue
			}
			s.move(ctx, m)
			if stop, err := b.after(ctx, r.Moved, m); err != nil || stop != nil {
				r.Stopped = stop
				return err
			}
			if !m.over {
				left++
			}
		}
		if left == 0 || pause == nil {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// move is one Advance of a candidate of the wave, told under its name.
func (s *Shepherd) move(ctx context.Context, m *Moved) {
	named := *s
	if s.Tell != nil {
		named.Tell = func(e Event) {
			e.Step = m.Key() + " " + e.Step
			s.Tell(e)
		}
	}
	st, err := named.Advance(ctx, m.Candidate)
	if err != nil {
		m.Error, m.over, m.err = err.Error(), true, err
		named.tell("wave", "error", err.Error())
		return
	}
	m.Status, m.over = &st, st.State.Over()
}
