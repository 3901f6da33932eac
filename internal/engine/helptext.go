package engine

import (
	"regexp"
	"slices"
	"strings"
)

// options are the one or two options that an entry shows: a pair of switches
// becomes one that switches on and one that switches off.
func (e entry) options(at Location) []Option {
	s := readHead(e.head)
	text := e.description()
	o := Option{Names: s.on, Dest: destination(s.on), Help: explanation(text), At: at}
	e.deprecation(&o, text)
	if s.value == "" {
		o.Action = "store_true"
		if isHelp(s.on) {
			o.Action = "help"
		}
		o.Default = truth(shownDefault(text))
		if len(s.off) == 0 {
			return []Option{o}
		}
		off := o
		off.Names, off.Action, off.Default = s.off, "store_false", ""
		return []Option{o, off}
	}
	o.shape(s.value)
	o.Default = spelledDefault(shownDefault(text))
	o.Required = requiredMark.MatchString(text)
	e.choices(&o, text)
	return []Option{o}
}

func isHelp(names []string) bool {
	return slices.Contains(names, "--help") || slices.Equal(names, []string{"-h"})
}

var (
	defaultMark  = regexp.MustCompile(`(?i)\bdefault(?: value)?\s*(?:[:=]|\bis\b)\s*|[(\[]default\s+`)
	requiredMark = regexp.MustCompile(`(?i)[(\[]required[)\]]`)
	openBracket  = "(["
)

// shownDefault is what a description calls the default, ok false when nothing.
func shownDefault(text string) (raw string, ok bool) {
	at := defaultMark.FindStringIndex(text)
	if at == nil {
		return "", false
	}
	rest := text[at[1]:]
	depth, quote := 0, rune(0)
	for i, c := range rest {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' && strings.ContainsRune(rest[i+1:], '"'), c == '\'' && strings.ContainsRune(rest[i+1:], '\'') && (i == 0 || rest[i-1] == ' '):
			quote = c
		case strings.ContainsRune(openBracket, c):
			if depth == 0 && i > 0 && envMark.MatchString(rest[i:]) {
				return strings.TrimSpace(rest[:i]), true
			}
			depth++
		case c == ')' || c == ']':
			if depth--; depth < 0 {
				return strings.TrimSpace(rest[:i]), true
			}
		}
	}
	sentence, _, _ := strings.Cut(rest, ". ")
	return strings.TrimSuffix(strings.TrimSpace(sentence), "."), true
}

// firstOf cuts an explanation off a default: "-1, -1 = infinity" is -1.
func firstOf(raw string) (first, rest string) {
	if raw != "" && strings.Contains(`'"`, raw[:1]) {
		if end := strings.Index(raw[1:], raw[:1]); end >= 0 {
			return raw[:end+2], raw[end+2:]
		}
	}
	for i, c := range raw {
		if (c == ',' || c == ';') && strings.HasPrefix(raw[i+1:], " ") {
			return raw[:i], raw[i+2:]
		}
		if c == ' ' && (strings.HasPrefix(raw[i+1:], "(") || strings.HasPrefix(raw[i+1:], "= ") || strings.HasPrefix(raw[i+1:], "- ")) {
			return raw[:i], raw[i+1:]
		}
	}
	return raw, ""
}

// spelledDefault is a default as a literal when it is one value, else the
// words that describe it.
func spelledDefault(raw string, ok bool) string {
	if !ok {
		return ""
	}
	first, rest := firstOf(raw)
	if i, ok := parseInt(first); ok {
		return literal(i)
	}
	if f, ok := parseFloat(first); ok {
		return literal(f)
	}
	if n := len(first); n > 1 && (first[0] == '"' || first[0] == '\'') && first[n-1] == first[0] {
		return literal(first[1 : n-1])
	}
	switch {
	case raw == "None" || raw == "":
		return "None"
	case rest == "" && !strings.Contains(raw, " "):
		return literal(raw)
	}
	return raw
}

// truth is the default of a switch.
func truth(raw string, ok bool) string {
	first, _ := firstOf(raw)
	switch strings.ToLower(strings.Trim(first, `'"`)) {
	case "true", "enabled", "on", "yes":
		return "True"
	case "false", "disabled", "off", "no":
		return "False"
	}
	if !ok || raw == "" {
		return ""
	}
	return raw
}

var (
	listedChoices = regexp.MustCompile(`(?i)\b(?:allowed|possible|valid|accepted) (?:values|choices)(?: are)?:\s*(['"]?[A-Za-z0-9_.+][A-Za-z0-9_.+:'"-]*(?:,\s*[A-Za-z0-9_.+:'"-]+)*)`)
	bullet        = regexp.MustCompile(`^[-*•]\s+['"\x60]?([A-Za-z0-9][A-Za-z0-9_.+-]*)['"\x60]?(\s*\(default\))?\s*(?::|$)`)
)

// choices reads the values that a description lists: in a row, or one a line
// with what each means. The latter need not be all.
func (e entry) choices(o *Option, text string) {
	if o.Choices == nil {
		if found := listedChoices.FindStringSubmatch(text); found != nil {
			for w := range strings.SplitSeq(found[1], ",") {
				o.Choices = append(o.Choices, strings.Trim(strings.TrimSpace(w), `'".`))
			}
		}
	}
	closed := o.Choices != nil
	for _, line := range e.lines {
		b := bullet.FindStringSubmatch(line)
		if b == nil {
			continue
		}
		if b[2] != "" && o.Default == "" {
			o.Default = literal(b[1])
		}
		if !closed && !slices.Contains(o.Choices, b[1]) {
			o.Choices, o.OpenChoices = append(o.Choices, b[1]), true
		}
	}
}

var (
	envMark      = regexp.MustCompile(`^[(\[](?:(?i:env(?:ironment)?(?: var(?:iable)?)?)[:=]\s*\$?|\$)([A-Z][A-Z0-9_]*(?:,\s*\$?[A-Z][A-Z0-9_]*)*)`)
	envAnywhere  = regexp.MustCompile(strings.TrimPrefix(envMark.String(), "^"))
	envSeparator = regexp.MustCompile(`[,\s$]+`)
)

// environmentOf are the variables that a description names as another way to
// set its option.
func environmentOf(text string) []string {
	var names []string
	for _, found := range envAnywhere.FindAllStringSubmatch(text, -1) {
		for _, n := range envSeparator.Split(found[1], -1) {
			if n != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

var (
	removedMark    = regexp.MustCompile(`(?i)\b(?:has been|was|is) removed\b|\bno longer (?:supported|available)\b|[(\[]removed\b|^removed\b`)
	deprecatedMark = regexp.MustCompile(`\bDEPRECATED\b|(?i:[(\[]\s*deprecated\b|^deprecated\b|\b(?:is|are) deprecated\b)`)
	withoutEffect  = regexp.MustCompile(`(?i)\bno effect\b|\bdoes nothing\b|\bis ignored\b|\bno-op\b`)
	aliasMark      = regexp.MustCompile(`(?i)^(?:an? )?(?:alias|short|synonym|other name) (?:of|for)\s+\S+$`)
	replacing      = regexp.MustCompile(`(?i)\b(?:use|replaced by|renamed to|in favou?r of|prefer|superseded by)\s+(.*)`)
	namedOption    = regexp.MustCompile("(?:^|[\\s`'\"(,])(--[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?)(?:$|[\\s`'\"),.;\\]])")
)

// deprecation reads what a description says about the option's own end.
func (e entry) deprecation(o *Option, text string) {
	words := explanation(text)
	switch {
	case removedMark.MatchString(text):
		o.Deprecated = ErrorOption
	case deprecatedMark.MatchString(text) && withoutEffect.MatchString(text):
		o.Deprecated = NoEffectOption
	case deprecatedMark.MatchString(text):
		o.Deprecated = AliasOption
	case aliasMark.MatchString(words):
		o.AliasOf = onlyOption(words)
		return
	default:
		return
	}
	o.Message = words
	if o.Deprecated == NoEffectOption {
		return
	}
	if found := replacing.FindStringSubmatch(words); found != nil {
		o.AliasOf = onlyOption(found[1])
	}
}

// onlyOption is the option that a text names, "" when it names none or more,
// or a pattern of names.
func onlyOption(text string) string {
	if names := optionsIn(text); len(names) == 1 && strings.Count(text, "--") == 1 {
		return names[0]
	}
	return ""
}

// optionsIn lists the options that a text names, each once.
func optionsIn(text string) []string {
	var names []string
	for text != "" {
		at := namedOption.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		if n := text[at[2]:at[3]]; !slices.Contains(names, n) {
			names = append(names, n)
		}
		text = text[at[3]:]
	}
	return names
}

var stated = regexp.MustCompile(`(?i)\s*[(\[](?:default\b|env(?:ironment)?(?: var(?:iable)?)?[:=]|\$[A-Z])[^()\[\]]*(?:[(\[][^()\[\]]*[)\]][^()\[\]]*)*[)\]]`)

// explanation is a description without the default and the variables that it
// states in brackets.
func explanation(text string) string { return strings.TrimSpace(stated.ReplaceAllString(text, "")) }
