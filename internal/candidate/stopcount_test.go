package candidate

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// A hold counts while nothing happens between it and the next: what a person
// says and what a tool does begin a new row. What was said in between, and marks
// that are quoted, do not count; over all rows there is a limit, too.
func TestCheckStopCountsHoldsInARow(t *testing.T) {
	const id = "0123456789abcdef-0123456789abcdef"
	const (
		prompt = `{"type":"user","message":{"role":"user","content":"Go on."}}`
		image  = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image"}]}}`
		uses   = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Bash"}]}}`
		noted  = `{"type":"system","subtype":"stop_hook_summary"}`
	)
	text := func(block string) string { return "refit check-stop " + id + " (block " + block + "): go on" }
	hook := func(block string) string {
		return fmt.Sprintf(`{"type":"user","isMeta":true,"message":{"role":"user","content":"Stop hook feedback: %s"}}`, text(block))
	}
	says := func(block string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"It says: %s"}]}}`, text(block))
	}
	result := func(block string) string {
		return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]}}`, text(block))
	}
	for name, c := range map[string]struct {
		lines []string
		want  string // the block, "" lets go
	}{
		"held-once":                {[]string{prompt, hook("1 of 3")}, "2 of 3"},
		"three-in-a-row":           {[]string{prompt, hook("1 of 3"), noted, hook("2 of 3"), hook("3 of 3")}, ""},
		"a-tool-was-used":          {[]string{prompt, hook("1 of 3"), hook("2 of 3"), hook("3 of 3"), uses}, "1 of 3, 4 in all"},
		"and-then-held-again":      {[]string{prompt, hook("1 of 3"), hook("2 of 3"), uses, hook("1 of 3, 3 in all")}, "2 of 3, 4 in all"},
		"a-person-spoke":           {[]string{prompt, hook("1 of 3"), hook("2 of 3"), hook("3 of 3"), prompt, hook("1 of 3")}, "2 of 3"},
		"a-person-showed":          {[]string{hook("3 of 3"), image, hook("1 of 3")}, "2 of 3"},
		"not-written-yet":          {[]string{prompt, hook("1 of 3"), prompt}, "2 of 3"},
		"quoted-by-the-agent":      {[]string{prompt, hook("1 of 3"), says("3 of 3")}, "2 of 3"},
		"quoted-by-a-tool":         {[]string{prompt, hook("1 of 3"), result("3 of 3")}, "1 of 3, 2 in all"},
		"a-tool-each-time":         {[]string{prompt, hook("1 of 3, 29 in all"), uses}, "1 of 3, 30 in all"},
		"a-tool-each-time-at-last": {[]string{prompt, hook("1 of 3, 30 in all"), uses}, ""},
		"a-person-after-all-that":  {[]string{prompt, hook("1 of 3, 30 in all"), uses, prompt, hook("1 of 3")}, "2 of 3"},
	} {
		q := StopQuestion{Active: true, Transcript: "t"}
		got := q.Blocked(id, "go on", 3, func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Join(c.lines, "\n"))), nil
		})
		want := StopAnswer{}
		if c.want != "" {
			want = StopAnswer{"block", text(c.want)}
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// A transcript that breaks off in its middle is read as one that cannot be read.
func TestCheckStopLetsGoWhenTheTranscriptBreaksOff(t *testing.T) {
	cut := io.MultiReader(strings.NewReader("{}\n"), broken{})
	q := StopQuestion{Active: true, Transcript: "t"}
	if got := q.Blocked("id", "go on", 3, func(string) (io.ReadCloser, error) { return io.NopCloser(cut), nil }); got != (StopAnswer{}) {
		t.Errorf("got %+v, want to let go", got)
	}
}

// broken fails at once.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
