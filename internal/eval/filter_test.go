package eval

import (
	"math"
	"testing"
)

// Cases 39 and 40 of the specification.
func TestFilters(t *testing.T) {
	for _, c := range []struct {
		name, answer, gold string
		strict, flexible   bool
	}{
		{"plain", "#### 72", "72", true, true},
		{"thousands", "#### 1,234", "1234", true, true},
		{"full-stop", "#### 5.", "5", true, true},
		{"decimal-is-not-whole", "#### 5.0", "5", false, false},
		{"no-marker", "The answer is 42.", "42", false, true},
		{"no-space", "####18", "18", false, true},
		{"dollar-behind-marker", "#### $18", "18", false, true},
		{"bold", "#### **18**", "18", false, true},
		{"negative", "#### -3", "-3", true, true},
		{"with-unit", "#### 18 dollars.", "18", true, true},
		{"dots-are-the-last-match", "So 42 apples...", "42", false, false},
		{"text-behind-the-answer", "#### 12\nabout 50% off", "12", true, false},
		{"last-answer-wins", "#### 10\n#### 12", "12", true, true},
		{"empty", "", "12", false, false},
		{"dollars-and-cents", "$1,234.50", "1234.50", false, true},
	} {
		if got := Equal(Strict(c.answer), c.gold); got != c.strict {
			t.Errorf("%s: Strict(%q) = %q, equal to %q: %v, want %v", c.name, c.answer, Strict(c.answer), c.gold, got, c.strict)
		}
		if got := Equal(Flexible(c.answer), c.gold); got != c.flexible {
			t.Errorf("%s: Flexible(%q) = %q, equal to %q: %v, want %v", c.name, c.answer, Flexible(c.answer), c.gold, got, c.flexible)
		}
	}
	if Strict("") != Invalid || Flexible("") != Invalid {
		t.Errorf("empty text: Strict %q, Flexible %q, want %q", Strict(""), Flexible(""), Invalid)
	}
	if !Equal("72", "She has <<8*9=72>>72.\n#### 72") {
		t.Error("a target with its working was not reduced to its number")
	}
}

// Case 41.
func TestStdErr(t *testing.T) {
	for _, c := range []struct {
		k, n        int
		score, want float64
	}{
		{1252, 1319, 0.9492039423805914, 0.006048352096878174},
		{9, 10, 0.9, 0.1},
		{3, 4, 0.75, 0.25},
		{1, 1, 1, 0},
		{0, 0, 0, 0},
	} {
		if got := share(c.k, c.n); got != c.score {
			t.Errorf("share(%d, %d) = %v, want %v", c.k, c.n, got, c.score)
		}
		if got := StdErr(c.k, c.n); math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("StdErr(%d, %d) = %v, want %v", c.k, c.n, got, c.want)
		}
	}
}

// Case 44.
func TestMaxTokens(t *testing.T) {
	for context, want := range map[int]int{9472: 5376, 16384: 12288, 4096: 2048, 2304: 1152, 65536: 16384, 0: 12288} {
		if got := MaxTokens(context); got != want {
			t.Errorf("MaxTokens(%d) = %d, want %d", context, got, want)
		}
	}
}

// Case 38.
func TestFewShotDraws(t *testing.T) {
	want := map[int][]int{
		0:    {6374, 3610, 957, 61, 742},
		1:    {7462, 6610, 4769, 286, 5501},
		2:    {5677, 687, 806, 6279, 2905},
		3:    {1939, 142, 252, 6461, 129},
		1318: {220, 4179, 6064, 5599, 5541},
	}
	s := newSampler(7473)
	for doc := range 1319 {
		got := s.sample(5)
		for i, w := range want[doc] {
			if got[i] != w {
				t.Errorf("document %d: examples %v, want %v", doc, got, want[doc])
				break
			}
		}
	}
}
