package run

import (
	"errors"
	"strings"
)

// Words splits a command into its words without a shell: at spaces, tabs and
// line ends; what stands between quotes of one kind stays together, and a
// backslash outside of single quotes takes the next character as it is.
// Nothing is expanded, and no character has another meaning.
func Words(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune // 0 outside of quotes
	begun, taken := false, false
	for _, r := range command {
		switch {
		case taken:
			word.WriteRune(r)
			taken = false
		case r == '\\' && quote != '\'':
			begun, taken = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case taken:
		return nil, errors.New("it ends with a backslash")
	case begun:
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("no program")
	}
	return words, nil
}
