package candidate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
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

// Blocked holds an agent that wants to stop, at most limit times in a row. How
// often it was held is read in its own transcript, because a hook that writes
// nothing remembers nothing; where that cannot be read, the agent that was held
// once may go. open opens the transcript.
func (q StopQuestion) Blocked(candidate, reason string, limit int, open func(string) (io.ReadCloser, error)) StopAnswer {
	held := 0
	if q.Active {
		var err error
		if held, err = heldBefore(candidate, q.Transcript, open); err != nil {
			return StopAnswer{}
		}
	}
	if held >= limit {
		return StopAnswer{}
	}
	return StopAnswer{"block", fmt.Sprintf("%s %s", stopMark(candidate, held+1, limit), reason)}
}

func stopMark(candidate string, n, limit int) string {
	return fmt.Sprintf("refit check-stop %s (block %d of %d):", candidate, n, limit)
}

// heldBefore is the highest number of a block that a transcript tells of. A
// block that was quoted again does not count twice.
func heldBefore(candidate, transcript string, open func(string) (io.ReadCloser, error)) (int, error) {
	if transcript == "" {
		return 0, errors.New("no transcript")
	}
	f, err := open(transcript)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	mark := regexp.MustCompile(`refit check-stop ` + regexp.QuoteMeta(candidate) + ` \(block (\d+) of \d+\):`)
	held := 1 // it was held, whether or not that is written down yet
	for lines := bufio.NewReader(f); ; {
		l, err := lines.ReadBytes('\n')
		for _, m := range mark.FindAllSubmatch(l, -1) {
			if n, bad := strconv.Atoi(string(m[1])); bad == nil {
				held = max(held, n)
			}
		}
		if err == io.EOF {
			return held, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// ParseStopQuestion reads what a Stop hook is told.
func ParseStopQuestion(src []byte) (StopQuestion, error) {
	var q StopQuestion
	if err := json.Unmarshal(src, &q); err != nil {
		return StopQuestion{}, fmt.Errorf("standard input: want the JSON of a Stop hook: %w", err)
	}
	return q, nil
}
