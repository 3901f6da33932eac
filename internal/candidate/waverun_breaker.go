package candidate

import (
	"context"
	"fmt"
	"html"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

// enough is how many candidates must end by the same blocker for a wave to stop.
const enough = 2

// WaveStopped says why a wave stopped itself, and where that is written down.
type WaveStopped struct {
	Code       BlockerCode `json:"code"`
	Reason     string      `json:"reason"`
	Candidates []string    `json:"candidates"`      // that it has ended
	Issue      int         `json:"issue,omitempty"` // 0 when none could be opened
	IssueURL   string      `json:"issue-url,omitempty"`
	Warning    string      `json:"warning,omitempty"` // why none could be opened
}

// A breaker counts what candidates of one wave are ended by.
type breaker struct {
	s   *Shepherd
	met map[BlockerCode][]string // the candidates that met it
}

// after looks at a candidate that was just moved, and says whether the wave
// stops: its blocker, which says nothing about the family, was met before.
func (b *breaker) after(ctx context.Context, all []Moved, m *Moved) (*WaveStopped, error) {
	code, reason := b.blocker(m)
	if code == "" || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !b.count(code, m.ID) {
		return nil, nil
	}
	if code == BlockedCapacity {
		full, err := b.everythingFull(ctx, all)
		if err != nil || !full {
			return nil, err
		}
	}
	return b.stop(ctx, code, reason), nil
}

// recovered looks at what Recover met, before anything is planned.
func (b *breaker) recovered(ctx context.Context, all []Recovered) *WaveStopped {
	for _, r := range all {
		if code := BlockerOf(r.err); code != "" && b.count(code, r.ID) {
			return b.stop(ctx, code, line(r.Reason))
		}
	}
	return nil
}

// count says whether enough candidates have met a blocker.
func (b *breaker) count(code BlockerCode, id string) bool {
	b.met[code] = append(b.met[code], id)
	return len(b.met[code]) >= enough
}

func (b *breaker) stop(ctx context.Context, code BlockerCode, reason string) *WaveStopped {
	stop := &WaveStopped{Code: code, Reason: reason, Candidates: b.met[code]}
	b.s.report(ctx, stop)
	return stop
}

// blocker is what has ended a candidate, "" when that is its own affair or it
// has not ended.
func (b *breaker) blocker(m *Moved) (BlockerCode, string) {
	switch {
	case m.err != nil:
		return BlockerOf(m.err), line(m.Error)
	case m.Status != nil && m.Status.Outcome == CapacityDeferred:
		return BlockedCapacity, line(m.Status.Reason)
	}
	return "", ""
}

// everythingFull asks for the runners of the candidates that the wave has still
// to move: while one has room, the others' being full stops nobody.
func (b *breaker) everythingFull(ctx context.Context, all []Moved) (bool, error) {
	asked := 0
	for _, m := range all {
		if m.over {
			continue
		}
		runner, err := b.s.runnerOf(ctx, m.Candidate)
		if err != nil {
			return false, fmt.Errorf("capacity: %w", err)
		}
		if b.s.Capacity(ctx, runner).Answer == gate.Pass {
			return false, nil
		}
		asked++
	}
	return asked > 0, nil
}

// remedies say what a person does about a blocker.
var remedies = map[BlockerCode]string{
	BlockedCredential: "`refit doctor` names the login and the right that is missing.",
	BlockedRepository: "`refit doctor` names the label or the workflow that is missing.",
	BlockedMachine:    "`refit doctor` on the machine that runs waves names what is wrong with it.",
	BlockedForge:      "Look whether the forge answers and whether its rate limit is used up.",
	BlockedRegistry:   "Look whether the registry of the images answers.",
	BlockedFeed:       "Look whether the results API answers.",
	BlockedCapacity:   "Nothing to do but wait, or take work off the clusters.",
}

// report opens the one issue about a blocker, or finds the one that is open. A
// forge that is itself the blocker may refuse: then the report says so.
func (s *Shepherd) report(ctx context.Context, stop *WaveStopped) {
	issue, err := s.ensureIssue(ctx, stop)
	if forge.Unanswered(err) && ctx.Err() == nil {
		issue, err = s.ensureIssue(ctx, stop)
	}
	if err != nil {
		stop.Warning = "no issue was opened: " + err.Error()
		return
	}
	stop.Issue, stop.IssueURL = issue.Number, issue.URL
}

func (s *Shepherd) ensureIssue(ctx context.Context, stop *WaveStopped) (forge.Issue, error) {
	login, err := s.Forge.Login(ctx)
	if err != nil {
		return forge.Issue{}, fmt.Errorf("who am I: %w", err)
	}
	open, err := s.Forge.OpenIssues(ctx, login)
	if err != nil {
		return forge.Issue{}, err
	}
	marker := fmt.Sprintf("<!-- %s-blocker:%s -->", s.prefix(), stop.Code)
	for i := len(open) - 1; i >= 0; i-- { // of two the older stays
		if strings.HasPrefix(open[i].Body, marker+"\n") {
			return open[i], nil
		}
	}
	title := s.Config.Policy.Title + "waves stop: " + string(stop.Code)
	return s.Forge.OpenIssue(ctx, title, marker+"\n"+stop.text())
}

// text is the issue's body. What a server said is data: nothing of it is markup
// or notifies anybody.
func (stop *WaveStopped) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A wave stopped itself: `%s` ended %d candidates, and would end every other.\n\n", stop.Code, len(stop.Candidates))
	fmt.Fprintf(&b, "> %s\n\n%s\n\nCandidates:\n\n", html.EscapeString(word(stop.Reason)), remedies[stop.Code])
	for _, id := range stop.Candidates {
		fmt.Fprintf(&b, "* `%s`\n", id)
	}
	b.WriteString("\nClose this issue when it is done: the next wave goes on from where this one stopped, and opens another if it meets the same again.\n")
	return b.String()
}
