package sim

import (
	"fmt"
	"strings"
	"testing"
)

func TestReply(t *testing.T) {
	always := Answers{Accuracy: 1}
	for _, c := range []struct{ name, line, want string }{
		{"plus", "What is 12 plus 30?", "12 plus 30 is 42.\n#### 42"},
		{"minus-below-zero", "What is 3 minus 10?", "3 minus 10 is -7.\n#### -7"},
		{"times", "What is 7 times 6?", "7 times 6 is 42.\n#### 42"},
		{"no-question", "What is love?", ""},
	} {
		if got := always.Reply(c.line); got != c.want {
			t.Errorf("%s: Reply(%q) = %q, want %q", c.name, c.line, got, c.want)
		}
	}
	longest := always.Reply("What is 999999999 times 999999999?")
	if n := Tokens(longest); n > 24 {
		t.Errorf("longest reply has %d tokens, want at most 24: %q", n, longest)
	}
}

func TestWrongRepliesAreWrong(t *testing.T) {
	never := Answers{Accuracy: 0}
	for x := range 50 {
		line := fmt.Sprintf("What is %d plus 1?", x)
		got := never.Reply(line)
		if strings.HasSuffix(got, fmt.Sprintf("#### %d", x+1)) {
			t.Errorf("Reply(%q) = %q, want another number", line, got)
		}
		if !strings.Contains(got, "#### ") {
			t.Errorf("Reply(%q) = %q, want GSM8K's form", line, got)
		}
	}
}

func TestAnswersAreSeeded(t *testing.T) {
	correct := func(a Answers) (out string) {
		for x := range 200 {
			out += map[bool]string{true: "1", false: "0"}[a.Correct(fmt.Sprintf("What is %d plus 1?", x))]
		}
		return out
	}
	first := correct(Answers{Seed: 7, Accuracy: 0.9})
	if second := correct(Answers{Seed: 7, Accuracy: 0.9}); second != first {
		t.Error("same seed and accuracy gave other answers")
	}
	if correct(Answers{Seed: 8, Accuracy: 0.9}) == first {
		t.Error("another seed gave the same answers")
	}
	if n := strings.Count(first, "1"); n < 165 || n > 195 {
		t.Errorf("%d of 200 correct at accuracy 0.9", n)
	}
}

func TestLostAndGained(t *testing.T) {
	line := "What is 12 plus 30?"
	digest := QuestionDigest(line)
	if want := "b501379e46224b9949cc61a1ff13e58f16dddaa9218cf1fea97c2ff5e6f0b7f7"; digest != want {
		t.Errorf("digest %q, want %q", digest, want)
	}
	if (Answers{Accuracy: 1, Lost: []string{digest}}).Correct(line) {
		t.Error("a lost question was answered")
	}
	if !(Answers{Accuracy: 0, Gained: []string{digest}}).Correct(line) {
		t.Error("a gained question was not answered")
	}
	if !(Answers{Accuracy: 1, Lost: []string{digest}}).Correct("What is 12 plus 31?") {
		t.Error("another question was lost too")
	}
}

func TestQuestionLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"bare", "What is 1 plus 2?", "What is 1 plus 2?"},
		{"task-form", "Question: What is 1 plus 2?\nEnd your response with the answer\nAnswer:", "What is 1 plus 2?"},
		{"last-counts", "Question: What is 1 plus 2?\nQuestion: What is 3 times 2?", "What is 3 times 2?"},
		{"none", "hello\nworld", ""},
	} {
		if got := QuestionLine(c.text); got != c.want {
			t.Errorf("%s: QuestionLine = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {"  \n", 0}, {"a", 1}, {"abcd", 1}, {"abcde", 2}, {"one two", 2}, {" two  words\n", 3}, {"abcdefghi jk", 4},
	} {
		if got := Tokens(c.text); got != c.want {
			t.Errorf("Tokens(%q) = %d, want %d", c.text, got, c.want)
		}
		if got := len(TokenIDs(c.text)); got != c.want {
			t.Errorf("TokenIDs(%q) has %d, want %d", c.text, got, c.want)
		}
	}
	text := "12 plus 30 is 42.\n#### 42"
	if got := pieces(text); strings.Join(got, "") != text || len(got) != Tokens(text) {
		t.Errorf("pieces(%q) = %q", text, got)
	}
	for _, word := range filler {
		if Tokens(word) != 1 {
			t.Errorf("filler %q is not one token", word)
		}
	}
}
