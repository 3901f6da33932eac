package engine

import (
	"regexp"
	"strings"
)

// subcommand is a word that may be one: serve, run-server. A model's path or
// name has other letters, and does no harm where it has not.
var subcommand = regexp.MustCompile(`^[a-z][a-z-]*$`)

// programWords are the words of a command that name its program, without the
// wrappers in front: the program, for an interpreter with its module or
// script, and a subcommand. There are none when one of them is not fixed.
func programWords(words []token, end int) []string {
	start := 0
	for i, t := range words[:end] {
		base := t.text[strings.LastIndexByte(t.text, '/')+1:]
		if strings.HasPrefix(base, "python") {
			start = i
			break
		}
		start = i // the wrappers end where the program stands last
	}
	if end < len(words) && !words[end].symbolic && !words[end].unread && subcommand.MatchString(words[end].text) {
		end++
	}
	var program []string
	for _, t := range words[start:end] {
		if t.symbolic || t.unread || t.text == "" {
			return nil
		}
		program = append(program, t.text)
	}
	return program
}
