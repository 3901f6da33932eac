package candidate

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// holds is how often an agent was held: in a row, and since a person spoke last.
type holds struct{ row, all int }

// countHolds reads the marks of a transcript, one JSON object a line. What a
// person says begins both counts anew, the use of a tool the row; marks that the
// agent or a tool quotes are none. An agent that was held, though no mark tells
// of it yet, was held once.
func countHolds(candidate string, transcript io.Reader) (holds, error) {
	mark := regexp.MustCompile(`refit check-stop ` + regexp.QuoteMeta(candidate) + ` \(block (\d+) of \d+(?:, (\d+) in all)?\):`)
	var n holds
	seen := false
	for lines := bufio.NewReader(transcript); ; {
		l, err := lines.ReadBytes('\n')
		found := mark.FindAllSubmatch(l, -1)
		switch saidBy(l, len(found) > 0) {
		case aPerson:
			n, seen = holds{}, false
		case aTool:
			n.row = 0
		case theAgent:
		default:
			for _, m := range found {
				row, all := atoi(m[1]), atoi(m[2])
				n.row, n.all = max(n.row, row), max(n.all, row, all)
				seen = true
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return holds{}, err
		}
	}
	if !seen {
		return holds{1, 1}, nil
	}
	return n, nil
}

func atoi(digits []byte) int {
	n, _ := strconv.Atoi(string(digits)) // "" and what no hook wrote count nothing
	return n
}

// speaker is who a line of a transcript is from.
type speaker int

const (
	nobody   speaker = iota // the hook's own answer, and whatever else is noted
	aPerson                 // a prompt
	aTool                   // the agent uses one, or gets its result
	theAgent                // what it says
)

// saidBy reads who a line is from. A user's message that carries a mark of ours
// is the hook's answer, as the agent is told it.
// Source: https://code.claude.com/docs/en/hooks, transcript_path
func saidBy(line []byte, marked bool) speaker {
	var entry struct {
		Type    string
		Meta    bool `json:"isMeta"`
		Message struct{ Content json.RawMessage }
	}
	if json.Unmarshal(line, &entry) != nil || entry.Type != "user" && entry.Type != "assistant" {
		return nobody
	}
	var parts []struct{ Type string }
	if json.Unmarshal(entry.Message.Content, &parts) != nil { // text alone
		parts = nil
	}
	has := func(kind string) bool {
		return slices.ContainsFunc(parts, func(p struct{ Type string }) bool { return p.Type == kind })
	}
	switch {
	case has("tool_use"), has("tool_result"):
		return aTool
	case entry.Type == "assistant":
		return theAgent
	case marked, entry.Meta:
		return nobody
	}
	return aPerson
}
