package compare

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/eval"
)

func TestDiscordant(t *testing.T) {
	answer := func(doc int, filtered string, correct bool) eval.Answer {
		return eval.Answer{DocID: doc, QuestionDigest: "q", Target: "7", Filtered: filtered, Correct: correct}
	}
	old := []eval.Answer{answer(3, "7", true), answer(2, "8", false), answer(1, "7", true), answer(0, "9", false), answer(4, "7", true)}
	now := []eval.Answer{answer(0, "7", true), answer(1, strings.Repeat("1", 99), false), answer(2, "7", true), answer(3, eval.Invalid, false), answer(4, "7", true)}
	want := []Discordant{
		{1, "7", "7", strings.Repeat("1", 59) + "…", true, false},
		{3, "7", "7", eval.Invalid, true, false},
		{0, "7", "9", "7", false, true},
		{2, "7", "8", "7", false, true},
	}
	a := Paired(old, now)
	if len(a.Discordant) != len(want) {
		t.Fatalf("got %+v, want %+v", a.Discordant, want)
	}
	for i, d := range a.Discordant {
		if d != want[i] {
			t.Errorf("%d: got %+v, want %+v", i, d, want[i])
		}
	}
	// 48 lost and 9 gained: all lost ones and the first two gained are kept.
	many := Paired(answers(200, 48, 9, 0)).Discordant
	if len(many) != 50 || many[47].DocID != 47 || many[47].NewCorrect || many[49].DocID != 49 || !many[49].NewCorrect {
		t.Errorf("%d kept, the last %+v", len(many), many[len(many)-1])
	}
}
