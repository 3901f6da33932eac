package eval

import (
	"regexp"
	"strings"
)

// Invalid is what a filter returns when it finds no number.
const Invalid = "[invalid]"

var (
	strictNumber   = regexp.MustCompile(`#### (-?[0-9.,]+)`)
	flexibleNumber = regexp.MustCompile(`(-?[$0-9.,]{2,})|(-?[0-9]+)`)
)

// Strict is the last number that stands behind "#### ", or Invalid.
func Strict(text string) string {
	found := strictNumber.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return Invalid
	}
	return strings.TrimSpace(found[len(found)-1][1])
}

// Flexible is the last thing in the text that looks like a number (also a run
// of dots or commas), or Invalid.
func Flexible(text string) string {
	found := flexibleNumber.FindAllString(text, -1)
	if len(found) == 0 {
		return Invalid
	}
	return strings.TrimSpace(found[len(found)-1])
}

// Equal compares a filtered answer with a target, as texts: both lose commas,
// dollar signs, everything up to the last "#### " and one full stop at the end,
// and upper case. 5.0 is not 5.
func Equal(answer, target string) bool { return normal(answer) == normal(target) }

func normal(text string) string {
	text = strings.NewReplacer(",", "", "$", "").Replace(text)
	if i := strings.LastIndex(text, "#### "); i >= 0 {
		text = text[i+len("#### "):]
	}
	if rest, ok := strings.CutSuffix(text, ".\n"); ok {
		text = rest + "\n"
	} else {
		text = strings.TrimSuffix(text, ".")
	}
	return strings.ToLower(text)
}
