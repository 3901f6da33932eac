package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// transcript is what the README shows of a lab. The conversation goes to
// standard error and the answer to standard output; "..." stands for lines
// that are left out.
type transcript struct{ Conversation, Answer []string }

const gap = "..."

// readTranscript reads the first fenced block under "## Try it".
func readTranscript(readme string) (transcript, error) {
	_, section, ok := strings.Cut(readme, "\n## Try it\n")
	_, block, opened := strings.Cut(section, "\n```\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !ok || !opened || !closed {
		return transcript{}, errors.New("no fenced block under ## Try it")
	}
	lines := slices.DeleteFunc(strings.Split(block, "\n"), func(l string) bool { return strings.HasPrefix(l, "$ ") })
	end := 0
	for i, l := range lines {
		if strings.HasPrefix(l, "[") || strings.HasPrefix(l, "  run ") {
			end = i + 1
		}
	}
	for end < len(lines) && strings.TrimSpace(lines[end]) == gap {
		end++
	}
	if end == 0 || end == len(lines) {
		return transcript{}, errors.New("the block under ## Try it lacks the conversation or the answer")
	}
	return transcript{lines[:end], lines[end:]}, nil
}

// figures are what differs from one lab to the next. A number that belongs to a
// name, as in fp8 or v1.0.0, is a word. So does the health of a point: a suspect
// one is as usable as a healthy one, and which it is depends on the machine.
var figures = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^\[ *[0-9.]+s\]`), "[T]"},
	{regexp.MustCompile(`\bsuspect \(.*\)`), "healthy"},
	{regexp.MustCompile(`\b[0-9a-f]{12,}\b`), "H"},
	{regexp.MustCompile(`\bc[0-9]+\b`), "cN"},
	{regexp.MustCompile(`(^|[^\w.])[-+]?[0-9]+(?:\.[0-9]+)*\b`), "${1}N"},
}

// plain is a line without its figures.
func plain(line string) string {
	for _, f := range figures {
		line = f.form.ReplaceAllString(line, f.as)
	}
	return line
}

func plainLines(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, plain(l))
	}
	return out
}

// check compares the transcript with what one or more starts of a lab said:
// every line of the conversation must have been said, and each for the first
// time after the one before; the answer is the last start's, line by line.
func (tr transcript) check(said, answer []string) error {
	return errors.Join(inOrder(tr.Conversation, plainLines(said)), lineByLine(tr.Answer, answer))
}

func inOrder(want, said []string) error {
	var errs []error
	last := -1
	for _, l := range want {
		if strings.TrimSpace(l) == gap {
			continue
		}
		switch at := slices.Index(said, plain(l)); {
		case at < 0:
			errs = append(errs, fmt.Errorf("never said: %s", l))
		case at <= last:
			errs = append(errs, fmt.Errorf("said before the line above it: %s", l))
		default:
			last = at
		}
	}
	return errors.Join(errs...)
}

// keptBefore is what the answer adds to a family that an earlier start ended.
const keptBefore = " (everything was done before)"

func lineByLine(want, said []string) error {
	skip := false
	for _, l := range want {
		if strings.TrimSpace(l) == gap {
			skip = true
			continue
		}
		same := func(s string) bool { return plain(strings.TrimSuffix(s, keptBefore)) == plain(l) }
		at := slices.IndexFunc(said, same)
		if at < 0 || at > 0 && !skip {
			return fmt.Errorf("the answer goes on with %q, not with %q", first(said), l)
		}
		said, skip = said[at+1:], false
	}
	if len(said) > 0 && !skip {
		return fmt.Errorf("the answer goes on with %q", said[0])
	}
	return nil
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// readmeTranscript is that of this repository.
func readmeTranscript(t *testing.T) transcript {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := readTranscript(string(readme))
	if err != nil {
		t.Fatalf("README.md: %v", err)
	}
	return tr
}

// imitation is what a lab says if the transcript is true: other figures, and
// something in the place of each gap.
func imitation(lines []string) []string {
	var out []string
	for _, l := range lines {
		if strings.TrimSpace(l) == gap {
			out = append(out, "[   9.9s] anything")
			continue
		}
		out = append(out, regexp.MustCompile(`([ +-])[0-9]+\.[0-9]`).ReplaceAllString(l, "${1}7.0"))
	}
	return out
}

// reworded replaces a word in every line.
func reworded(lines []string, word, by string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.ReplaceAll(l, word, by))
	}
	return out
}

// What the whole lab checks can fail: each word counts, and each line's place.
func TestTranscriptCounts(t *testing.T) {
	tr := readmeTranscript(t)
	said, answer := imitation(tr.Conversation), imitation(tr.Answer)
	if err := tr.check(said, answer); err != nil {
		t.Fatalf("other figures are refused: %v", err)
	}
	if err := tr.check(slices.Concat(said[:4], said), answer); err != nil {
		t.Errorf("a second start is refused: %v", err)
	}
	suspect := reworded(said, "healthy", "suspect (p99 read delay 186µs is 11.1 % of the mean gap 1.67ms: tails of the gaps are the client's too)")
	if err := tr.check(suspect, answer); err != nil {
		t.Errorf("a suspect point is refused: %v", err)
	}
	if tr.check(reworded(said, "healthy", "unhealthy (the client was busy)"), answer) == nil {
		t.Error("an unhealthy point is as good as a healthy one")
	}
	word := regexp.MustCompile(`\pL{2,}`)
	for part, lines := range map[string][]string{"conversation": tr.Conversation, "answer": tr.Answer} {
		for i, l := range lines {
			for _, at := range word.FindAllStringIndex(l, -1) {
				changed := slices.Clone(lines)
				changed[i] = l[:at[0]] + "other" + l[at[1]:]
				other := transcript{changed, tr.Answer}
				if part == "answer" {
					other = transcript{tr.Conversation, changed}
				}
				if other.check(said, answer) == nil {
					t.Errorf("the %s may say %q", part, changed[i])
				}
			}
		}
	}
	swapped := slices.Clone(tr.Conversation)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	short := slices.Delete(slices.Clone(tr.Answer), 1, 2)
	for name, other := range map[string]transcript{"order": {swapped, tr.Answer}, "a line that is left out": {tr.Conversation, short}} {
		if other.check(said, answer) == nil {
			t.Errorf("%s does not count", name)
		}
	}
	if two := tr.Answer[:2]; lineByLine(two, answer[:2]) != nil || lineByLine(two, answer[:3]) == nil {
		t.Error("a line beyond the answer is not seen")
	}
}

func TestTranscriptIsFound(t *testing.T) {
	for name, readme := range map[string]string{
		"no section": "# a\n", "no block": "\n## Try it\n\ntext\n", "no answer": "\n## Try it\n\n```\n[ 1.0s] lab\n```\n",
	} {
		if tr, err := readTranscript(readme); err == nil {
			t.Errorf("%s: got %+v, want an error", name, tr)
		}
	}
}
