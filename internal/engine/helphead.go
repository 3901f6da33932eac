package engine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shownNames are the names at the head of an option, and the value it is shown
// to take: "" none.
type shownNames struct {
	on, off []string // those that switch off: --no-x, and what stands behind a slash
	value   string
}

var (
	optionName = regexp.MustCompile(`^--?[A-Za-z0-9?@](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+])?`)
	nextName   = regexp.MustCompile(`^(,\s*|\s+/\s+|\s*\|\s*|\s+or\s+)--?[A-Za-z0-9?@]`)
)

// readHead reads "-p, --port <PORT>" and its like. A name without a value
// takes the value that another name shows.
func readHead(head string) shownNames {
	var s shownNames
	var all []string
	slash := false
	for head != "" {
		name := optionName.FindString(head)
		if name == "" || len(name) > maxOptionName {
			break
		}
		head = head[len(name):]
		if slash {
			s.off = append(s.off, name)
		} else {
			all = append(all, name)
		}
		value, rest := cutValue(head)
		if value != "" {
			s.value = value
		}
		sep := nextName.FindStringSubmatch(rest)
		if sep == nil {
			break
		}
		slash = slash || strings.Contains(sep[1], "/")
		head = rest[len(sep[1]):]
	}
	if s.value != "" {
		s.on, s.off = append(all, s.off...), nil // a value says what is meant
		return s
	}
	on, off := pairOf(all)
	s.on, s.off = on, append(off, s.off...)
	return s
}

// cutValue takes the value's name off what stands behind an option's name, up
// to the next name.
func cutValue(text string) (value, rest string) {
	depth := 0
	for i, c := range text {
		switch c {
		case '<', '{', '[', '(':
			depth++
		case '>', '}', ']', ')':
			depth--
		}
		if depth <= 0 && nextName.MatchString(text[i:]) {
			return trimValue(text[:i]), text[i:]
		}
	}
	return trimValue(text), ""
}

// trimValue removes what joins a value's name to that of its option, a remark
// in brackets such as (required), and dots that say "may be repeated".
func trimValue(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") && !strings.Contains(s, "|") || s == ":" || s == "," || s == "..." {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "="), ":")
}

// pairOf parts the names of a pair of switches. A short name belongs to the
// long name behind it.
func pairOf(names []string) (on, off []string) {
	isOff := func(n string) bool { return strings.HasPrefix(n, "--no-") }
	if !slices.ContainsFunc(names, isOff) || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "--") && !isOff(n) }) {
		return names, nil
	}
	for i, n := range names {
		negative := isOff(n) || strings.HasPrefix(n, "-no-")
		if next := slices.IndexFunc(names[i:], func(n string) bool { return strings.HasPrefix(n, "--") }); !strings.HasPrefix(n, "--") && next >= 0 {
			negative = negative || isOff(names[i+next])
		}
		if negative {
			off = append(off, n)
		} else {
			on = append(on, n)
		}
	}
	return on, off
}

// shape is how many values an option takes, of what type and choice.
func (o *Option) shape(value string) {
	if value == "count" { // pflag's way to show a switch that counts
		o.Action = "count"
		return
	}
	optional := false
	if inner, ok := strings.CutPrefix(value, "["); ok && strings.HasSuffix(inner, "]") && closes(value) == len(value)-1 {
		inner = strings.TrimSuffix(inner, "]")
		if choices := alternatives(inner); choices != nil { // [on|off] stands for one of them
			o.Choices = choices
			return
		}
		optional, value = true, strings.TrimPrefix(inner, "=")
	}
	words := valueWords(value)
	switch {
	case optional && strings.HasSuffix(value, "..."):
		o.Nargs = "*"
	case optional:
		o.Nargs = "?"
	case len(words) > 1 && (strings.HasPrefix(words[1], "[") || words[len(words)-1] == "..."):
		o.Nargs = "+"
	case len(words) == 1 && strings.HasSuffix(words[0], ">...") || len(words) == 1 && strings.HasSuffix(words[0], "=..."):
		o.Action = "append"
	case len(words) > 1 && len(words) <= maxCount && !typeWords(value):
		o.Nargs = strconv.Itoa(len(words))
	case len(words) == 1 && strings.Contains(value, "[="):
		o.Nargs = "?" // text[="default"]
		value = value[:strings.Index(value, "[=")]
	}
	o.Type = valueType(value)
	for _, braces := range []string{"{}", "<>", "()", "[]"} {
		if len(value) > 2 && value[0] == braces[0] && value[len(value)-1] == braces[1] {
			inner := value[1 : len(value)-1]
			o.Choices = alternatives(inner)
			if braces == "{}" && o.Choices == nil {
				o.Choices = alternatives(strings.ReplaceAll(inner, ",", "|"))
			}
		}
	}
}

// closes is the index of the bracket that closes the first one.
func closes(s string) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var choiceWord = regexp.MustCompile(`^[A-Za-z0-9_.:+-]+$`)

// alternatives are the words of a|b|c, nil when it is no such list.
func alternatives(s string) []string {
	words := strings.Split(s, "|")
	if len(words) < 2 && !strings.Contains(s, "|") {
		return nil
	}
	for i, w := range words {
		words[i] = strings.Trim(strings.TrimSpace(w), `'"`)
		if !choiceWord.MatchString(words[i]) {
			return nil
		}
	}
	return words
}

// valueWords splits at spaces outside brackets.
func valueWords(s string) []string {
	var words []string
	depth, start := 0, -1
	for i, c := range s {
		switch c {
		case '<', '{', '[', '(':
			depth++
		case '>', '}', ']', ')':
			depth--
		}
		switch {
		case c == ' ' && depth <= 0:
			if start >= 0 {
				words = append(words, s[start:i])
			}
			start = -1
		case start < 0:
			start = i
		}
	}
	if start >= 0 {
		words = append(words, s[start:])
	}
	return words
}

// typeWords are value names of two words that stand for one value.
func typeWords(value string) bool { return strings.HasSuffix(value, " RANGE") }

// valueType is the type that a value's name promises. Names such as N promise
// nothing: 0.5 may be one.
func valueType(value string) string {
	switch strings.TrimSuffix(value, " RANGE") {
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "INTEGER", "INT":
		return "int"
	case "float", "float32", "float64", "FLOAT":
		return "float"
	}
	return ""
}
