package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Trace is a recording of conversations that is replayed instead of drawn
// requests. Its file has one session a line:
//
//	{"session": "a1", "turns": [
//	  {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
//	   "output_tokens": 12, "assistant": "Hello. What can I do?"},
//	  {"delay_ms": 2500, "messages": [{"role": "user", "content": "Sum up the file"}], "output_tokens": 80}]}
//
// Each turn is one request: all messages and recorded answers of the turns
// before it, then its own messages. The live answer is measured and thrown away;
// the recorded one takes its place in the next turn, so that every replay sends
// the same prompts. delay_ms is the time from the end of the previous turn's
// answer to this turn, of a first turn it is none. Roles are system, user and
// assistant; what a tool said is recorded as a message of the user. Every turn
// but the last needs "assistant". Unknown keys are errors.
type Trace struct {
	Sessions []Session
	MaxIdle  time.Duration // longest time in which no session has a request under way: then all pauses are cut; 0 = any
}

// Session is one conversation.
type Session struct {
	ID    string `json:"session"`
	Turns []Turn `json:"turns"`
}

// Turn is one request of a conversation.
type Turn struct {
	DelayMS      float64       `json:"delay_ms"`
	Messages     []chatMessage `json:"messages"`
	OutputTokens int           `json:"output_tokens"`
	Assistant    string        `json:"assistant"`
}

// Limits of a trace.
const (
	maxTraceLine = 64 << 20 // bytes
	maxTraceWire = 1 << 30  // bytes of all requests, which are written before the clock starts
	maxTurnDelay = 24 * time.Hour
)

// ParseTrace reads a trace; name stands in its errors, which say the line.
func ParseTrace(name string, r io.Reader) (*Trace, error) {
	t := &Trace{}
	seen := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTraceLine)
	row := 0
	for lines.Scan() {
		row++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		s, err := parseSession(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, row, err)
		}
		if before := seen[s.ID]; before > 0 {
			return nil, fmt.Errorf("%s:%d: session %q is on line %d already: give each session its own name", name, row, s.ID, before)
		}
		seen[s.ID] = row
		t.Sessions = append(t.Sessions, s)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("%s:%d: line longer than %d bytes", name, row+1, maxTraceLine)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(t.Sessions) == 0 {
		return nil, fmt.Errorf("%s: no session: want one JSON object a line", name)
	}
	return t, nil
}

// parseSession reads one line.
func parseSession(line []byte) (Session, error) {
	var s Session
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(&s); err != nil {
		return s, fmt.Errorf("want a session as a JSON object: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := in.Token(); err != io.EOF {
		return s, errors.New("more behind the session: want one JSON object a line")
	}
	if s.ID == "" {
		return s, errors.New(`no "session": every session needs a name`)
	}
	if len(s.Turns) == 0 {
		return s, fmt.Errorf("session %q has no turns", s.ID)
	}
	for i, turn := range s.Turns {
		if err := turn.check(i == 0, i == len(s.Turns)-1); err != nil {
			return s, fmt.Errorf("session %q, turn %d: %w", s.ID, i+1, err)
		}
	}
	return s, nil
}

func (t Turn) check(first, last bool) error {
	switch {
	case !(t.DelayMS >= 0 && t.DelayMS <= float64(maxTurnDelay.Milliseconds())):
		return fmt.Errorf("delay_ms %v: want 0 to %d", t.DelayMS, maxTurnDelay.Milliseconds())
	case first && t.DelayMS != 0:
		return fmt.Errorf("delay_ms %v: a first turn has no answer to wait behind", t.DelayMS)
	case len(t.Messages) == 0:
		return errors.New("no messages: a turn adds at least one")
	case t.OutputTokens < 1:
		return fmt.Errorf("output_tokens %d: must be positive", t.OutputTokens)
	case !last && t.Assistant == "":
		return errors.New(`no "assistant": the next turn replays the recorded answer`)
	}
	for _, m := range t.Messages {
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) {
			return fmt.Errorf("role %q is none of system, user, assistant", m.Role)
		}
	}
	return nil
}

// capped is the trace with no delay longer than most.
func (t Trace) capped(most time.Duration) *Trace {
	c := &Trace{MaxIdle: t.MaxIdle}
	for _, s := range t.Sessions {
		s.Turns = slices.Clone(s.Turns)
		for i := range s.Turns {
			s.Turns[i].DelayMS = min(s.Turns[i].DelayMS, most.Seconds()*1000)
		}
		c.Sessions = append(c.Sessions, s)
	}
	return c
}

// requests is the number of turns of all sessions.
func (t Trace) requests() int {
	n := 0
	for _, s := range t.Sessions {
		n += len(s.Turns)
	}
	return n
}

// tracePlans writes the requests of a trace. The server's own count of a
// prompt's tokens takes the place of its words.
func tracePlans(t Target, w Workload) ([]plan, error) {
	var ps []plan
	size := 0
	for number, s := range w.Trace.Sessions {
		var history []chatMessage
		for i, turn := range s.Turns {
			history = append(history, turn.Messages...)
			wire, err := wireRequest(t, w, ask{turns: history, input: wordsOf(history), most: turn.OutputTokens})
			if err != nil {
				return nil, fmt.Errorf("session %q, turn %d: %w", s.ID, i+1, err)
			}
			if size += len(wire); size > maxTraceWire {
				return nil, fmt.Errorf("session %q: the requests of the trace are longer than %d bytes together: replay a part of it", s.ID, maxTraceWire)
			}
			p := plan{wire: wire, input: wordsOf(history), output: turn.OutputTokens, measured: true, session: number, turn: i}
			if i > 0 {
				p.wait, p.paced = time.Duration(turn.DelayMS*float64(time.Millisecond)), true
			}
			ps = append(ps, p)
			history = append(history, chatMessage{"assistant", turn.Assistant})
		}
	}
	pace(ps, NewTwister(uint32(w.Seed)), w)
	return ps, nil
}

func wordsOf(messages []chatMessage) int {
	n := 0
	for _, m := range messages {
		n += len(strings.Fields(m.Content))
	}
	return n
}
