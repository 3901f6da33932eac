package engine

import "strings"

// Conditions are shown to people; longer ones are cut.
const (
	maxCondition  = 1000
	maxSourceText = 300
)

// allOf joins two conditions that must both hold. Either may be empty.
func allOf(a, b string) string {
	switch {
	case a == "":
		return clipped(b, maxCondition)
	case b == "" || len(a) > maxCondition:
		return a
	}
	return clipped(a+" and "+b, maxCondition)
}

func negated(condition string) string { return "not (" + condition + ")" }

// clipped cuts a text that is too long to show.
func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// collapsed is source text on one line, cut when long.
func collapsed(src []byte) string {
	long := len(src) > 8*maxSourceText
	if long {
		src = src[:8*maxSourceText]
	}
	text := strings.Join(strings.Fields(string(src)), " ")
	if long {
		text += "..."
	}
	return clipped(text, maxSourceText)
}
