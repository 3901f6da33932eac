package candidate

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The decisions.
const (
	proceed      = "proceed"
	unsure       = "uncertain"
	incompatible = "incompatible"
	onceMore     = "again"
	giveUp       = "give-up"
	waitOn       = "wait"
	stopWaiting  = "stop"
)

// askTurns is how often one question is asked: an answer that cannot be used
// is asked for once more.
const askTurns = 2

// ask asks until there is an answer that try takes, at most askTurns times.
// false: there is none, and why says what was wrong with the last one. The
// error says that nobody could be asked.
func (s *Shepherd) ask(ctx context.Context, q Question, try func(Answer) error) (a Answer, ok bool, why string, err error) {
	q = q.asked()
	for range askTurns {
		s.tell("judge", "start", string(q.Kind))
		a, err := s.Judge(ctx, q)
		if err == nil && a.Question != q.ID {
			err = fmt.Errorf("%w: it answers another question", ErrNoAnswer)
		}
		if err == nil {
			if bad := q.fits(a); bad != nil {
				err = fmt.Errorf("%w: %w", ErrNoAnswer, bad)
			} else if bad := try(a); bad != nil {
				err = fmt.Errorf("%w: %w", ErrNoAnswer, bad)
			}
		}
		switch {
		case err == nil:
			s.tell("judge", "done", string(q.Kind)+": "+a.Decision)
			return a, true, "", nil
		case ctx.Err() != nil:
			return Answer{}, false, "", context.Cause(ctx)
		case errors.Is(err, ErrNoTurns):
			return Answer{}, false, strings.TrimPrefix(why+"; "+err.Error(), "; "), nil
		case !errors.Is(err, ErrNoAnswer):
			return Answer{}, false, "", fmt.Errorf("judgement %s: %w", q.Kind, err)
		}
		s.tell("judge", "refused", err.Error())
		q.Wrong, why = err.Error(), err.Error()
	}
	return Answer{}, false, why, nil
}
