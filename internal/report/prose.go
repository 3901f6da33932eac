package report

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxProse bounds a sentence, in characters.
const maxProse = 700

// pinned is the one place where a sentence may hold an @.
var pinned = regexp.MustCompile("`[a-z0-9][a-zA-Z0-9._/:-]*@sha256:[0-9a-f]{64}`")

// Check reports what keeps the sentence from being published: it must be
// 1..700 characters without @, <, >, | or control characters in each language;
// only a digest-pinned image in back-ticks may hold an @. A missing Chinese
// text is allowed when bilingual is off.
func (p Prose) Check(bilingual bool) error {
	if err := checkSentence(p.EN); err != nil {
		return place("en", "%v", err)
	}
	if p.ZH == "" && !bilingual {
		return nil
	}
	if err := checkSentence(p.ZH); err != nil {
		return place("zh", "%v", err)
	}
	return nil
}

func checkSentence(s string) error {
	if !utf8.ValidString(s) {
		return place("", "not UTF-8")
	}
	if strings.TrimSpace(s) == "" {
		return place("", "empty sentence")
	}
	if n := utf8.RuneCountInString(s); n > maxProse {
		return place("", "%d characters, at most %d are allowed", n, maxProse)
	}
	for _, r := range pinned.ReplaceAllString(s, "") {
		if strings.ContainsRune("@<>|", r) || hidden(r) {
			return place("", "%q is not allowed in a public sentence", r)
		}
	}
	return nil
}

// chinese is the sentence's Chinese text, or the English one when there is none.
func (p Prose) chinese() string {
	if p.ZH == "" {
		return p.EN
	}
	return p.ZH
}
