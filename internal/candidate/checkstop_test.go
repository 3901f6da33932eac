package candidate

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
)

func TestCheckStopHoldsAtMostNTimes(t *testing.T) {
	const id = "0123456789abcdef-0123456789abcdef"
	mark := func(n string) string { return "refit check-stop " + id + " (block " + n + " of 3): go on\n" }
	for name, c := range map[string]struct {
		q          StopQuestion
		transcript string // "-": it cannot be opened
		want       string // the mark, "" lets go
	}{
		"first":             {StopQuestion{}, "-", "(block 1 of 3)"},
		"a-new-question":    {StopQuestion{Transcript: "t"}, mark("3"), "(block 1 of 3)"},
		"held-once":         {StopQuestion{true, "t"}, "text\n" + mark("1"), "(block 2 of 3)"},
		"not-yet-written":   {StopQuestion{true, "t"}, "", "(block 2 of 3)"},
		"held-twice-quoted": {StopQuestion{true, "t"}, mark("1") + mark("2") + mark("1") + mark("2"), "(block 3 of 3)"},
		"held-three-times":  {StopQuestion{true, "t"}, mark("1") + mark("2") + mark("3") + mark("1"), ""},
		"another-candidate": {StopQuestion{true, "t"}, strings.ReplaceAll(mark("3"), "0123", "ffff"), "(block 2 of 3)"},
		"no-transcript":     {StopQuestion{Active: true}, "", ""},
		"unreadable":        {StopQuestion{true, "t"}, "-", ""},
	} {
		got := c.q.Blocked(id, "go on", 3, func(string) (io.ReadCloser, error) {
			if c.transcript == "-" {
				return nil, errors.New("no such file")
			}
			return io.NopCloser(strings.NewReader(c.transcript)), nil
		})
		want := StopAnswer{}
		if c.want != "" {
			want = StopAnswer{"block", "refit check-stop " + id + " " + c.want + ": go on"}
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if got := (StopQuestion{}).Blocked(id, "go on", 0, nil); got != (StopAnswer{}) {
		t.Errorf("at most 0 times: got %+v, want to let go", got)
	}
}

func TestCheckStopReadsTheHooksInput(t *testing.T) {
	q, err := ParseStopQuestion([]byte(`{"session_id": "a", "transcript_path": "/t.jsonl", "stop_hook_active": true, "new": 1}`))
	if err != nil || !q.Active || q.Transcript != "/t.jsonl" {
		t.Errorf("got %+v, %v", q, err)
	}
	if _, err := ParseStopQuestion(nil); err == nil || !strings.HasPrefix(err.Error(), "standard input: want the JSON of a Stop hook: ") {
		t.Errorf("empty input: got %v", err)
	}
}

// held asks check-stop, which must not write.
func (w *world) held(c Candidate) string {
	w.t.Helper()
	p := w.process(gone(7))
	receipts := len(w.ledger.receipts)
	left, err := p.shepherd().CheckStop(w.t.Context(), c)
	w.must(err)
	if n := p.written(); n != 0 || len(w.ledger.receipts) != receipts {
		w.t.Errorf("check-stop wrote %d times", n)
	}
	return left
}

func TestCheckStopOfACandidateWithoutOutcome(t *testing.T) {
	w, c := left(t)
	if got := w.held(c); !strings.HasPrefix(got, "candidate "+c.ID+" has no outcome yet, its next step is ") || !strings.Contains(got, "`refit candidate advance "+c.ID+"`") {
		t.Errorf("got %q, want where it stands and what to do", got)
	}
	w.ledger.receipts = append(w.ledger.receipts, Receipt{Candidate: c.ID, Step: "cleanup", By: "bot", Evidence: mustJSON(End{Failed, Targeted, "x"})})
	const pending = "(failed) is announced and not finished"
	if got := w.held(c); !strings.Contains(got, pending) {
		t.Errorf("announced: got %q, want %q", got, pending)
	}
	closed := "closed"
	w.must(w.client("bot-token").EditPull(t.Context(), 1, forge.PullEdit{State: &closed}))
	if got := w.held(c); !strings.Contains(got, pending) {
		t.Errorf("announced and closed: got %q, want %q", got, pending)
	}
}

func TestCheckStopLetsAMovedHeadGo(t *testing.T) {
	w, c := left(t)
	w.push(c.Branch("refit"), "NOTES.md")
	if got := w.held(c); got != "" {
		t.Errorf("got %q, want nothing: the branch is somebody else's now", got)
	}
}

func TestCheckStopComparesTheReceiptWithTheForge(t *testing.T) {
	ctx := t.Context()
	open, closed := "open", "closed"
	for name, c := range map[string]struct {
		regressed bool
		change    func(w *world, bot *forge.Client, p forge.Pull)
		want      string
	}{
		"validated":       {false, func(*world, *forge.Client, forge.Pull) {}, ""},
		"validated-draft": {false, func(w *world, bot *forge.Client, p forge.Pull) { w.must(bot.MarkDraft(ctx, p)) }, "but #1 is a draft. Say so to a person."},
		"validated-unlabeled": {false, func(w *world, bot *forge.Client, _ forge.Pull) {
			w.must(bot.RemoveLabel(ctx, 1, "full-sweep-fail-fast"))
		}, "but #1 has 0 sweep labels, not one"},
		"validated-closed": {false, func(w *world, bot *forge.Client, _ forge.Pull) {
			w.must(bot.EditPull(ctx, 1, forge.PullEdit{State: &closed}))
		}, ""},
		"regressed": {true, func(*world, *forge.Client, forge.Pull) {}, ""},
		"regressed-reopened": {true, func(w *world, bot *forge.Client, _ forge.Pull) {
			w.must(bot.EditPull(ctx, 1, forge.PullEdit{State: &open}))
		}, "has the receipt of outcome regressed, but #1 is open"},
		"regressed-labeled": {true, func(w *world, bot *forge.Client, _ forge.Pull) { w.must(bot.AddLabel(ctx, 1, "full-sweep-fail-fast")) }, "but #1 has the sweep label full-sweep-fail-fast"},
	} {
		w := newWorld(t)
		if c.regressed {
			w.slow = 0.8
		}
		cand, st := w.upgrade(w.shepherd("bot-token"))
		bot := w.client("bot-token")
		p, err := bot.Pull(ctx, st.Pull)
		w.must(err)
		c.change(w, bot, p)
		got := w.held(cand)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s (%s): got %q, want %q", name, st.Outcome, got, c.want)
		}
	}
}
