package candidate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// StopAnswer is what a Stop hook of an agent prints; the zero value lets it stop.
// Source: https://code.claude.com/docs/en/hooks
type StopAnswer struct {
	Decision string `json:"decision,omitempty"` // "block"
	Reason   string `json:"reason,omitempty"`
}

// StopQuestion is what a Stop hook is told on its standard input.
type StopQuestion struct {
	Active     bool   `json:"stop_hook_active"` // the agent goes on because it was held before
	Transcript string `json:"transcript_path"`
}

// streaks bounds, as a multiple of the limit of holds in a row, how often an
// agent is held since a person spoke last, whatever it did in between.
const streaks = 10

// Blocked holds an agent that wants to stop, at most limit times in a row: since
// a person said something or a tool was used. How often it was held is read in
// its own transcript, because a hook that writes nothing remembers nothing; where
// that cannot be read, the agent that was held once may go. open opens the
// transcript.
func (q StopQuestion) Blocked(candidate, reason string, limit int, open func(string) (io.ReadCloser, error)) StopAnswer {
	var before holds
	if q.Active {
		var err error
		if before, err = heldBefore(candidate, q.Transcript, open); err != nil {
			return StopAnswer{}
		}
	}
	if before.row >= limit || before.all >= streaks*limit {
		return StopAnswer{}
	}
	return StopAnswer{"block", fmt.Sprintf("%s %s", stopMark(candidate, holds{before.row + 1, before.all + 1}, limit), reason)}
}

// stopMark is what a later hook counts by. A streak that is not the first says
// how many holds there were before it, too.
func stopMark(candidate string, n holds, limit int) string {
	all := ""
	if n.all != n.row {
		all = fmt.Sprintf(", %d in all", n.all)
	}
	return fmt.Sprintf("refit check-stop %s (block %d of %d%s):", candidate, n.row, limit, all)
}

// heldBefore reads how often an agent was held, out of its transcript.
func heldBefore(candidate, transcript string, open func(string) (io.ReadCloser, error)) (holds, error) {
	if transcript == "" {
		return holds{}, errors.New("no transcript")
	}
	f, err := open(transcript)
	if err != nil {
		return holds{}, err
	}
	defer f.Close()
	return countHolds(candidate, f)
}

// ParseStopQuestion reads what a Stop hook is told.
func ParseStopQuestion(src []byte) (StopQuestion, error) {
	var q StopQuestion
	if err := json.Unmarshal(src, &q); err != nil {
		return StopQuestion{}, fmt.Errorf("standard input: want the JSON of a Stop hook: %w", err)
	}
	return q, nil
}
