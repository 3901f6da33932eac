package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parsed is what an accepted argument list leaves behind. Values is keyed by
// Option.Dest; text stands as it is, booleans are true and false, numbers are
// spelled as Python prints them, lists are JSON. A destination without a value
// (None) has no key. Given holds the destinations that the arguments set.
// Computed lists destinations left at a default that is no literal.
type Parsed struct {
	Values   map[string]string `json:"values"`
	Given    map[string]bool   `json:"given,omitempty"`
	Computed []string          `json:"computed,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
}

// Parse reads an argument list, without the program's name, as CPython's
// argparse would with these options. The error is a *RejectError.
func (m Model) Parse(args []string) (Parsed, error) {
	p := &parser{table: m.table(), args: args, values: map[string]any{}, set: map[string]bool{}, computed: map[string]bool{}}
	if p.table.twice != "" {
		return Parsed{}, &RejectError{Kind: Broken, Token: p.table.twice, Message: "conflicting option string: " + p.table.twice}
	}
	p.left = p.table.positions
	p.defaults(m.Options)
	if err := p.run(); err != nil {
		return Parsed{}, err
	}
	if err := p.finish(m.Options); err != nil {
		return Parsed{}, err
	}
	return p.parsed(), nil
}

// parser is the state of one Parse.
type parser struct {
	table    *table
	args     []string
	pattern  string // one letter per argument: O option, A anything else, - the first "--"
	found    []Resolution
	left     []*Option // positionals not consumed yet
	values   map[string]any
	set      map[string]bool // destinations set by an argument
	computed map[string]bool
	seen     map[*Option]bool
	warnings []string
	extras   []string
}

// defaults stores the default of the first option registered for each destination.
func (p *parser) defaults(options []Option) {
	for _, o := range options {
		if _, ok := p.values[o.Dest]; ok || o.Default == Suppressed {
			continue
		}
		v, ok := parseLiteral(absentAsNone(o))
		p.values[o.Dest] = v
		if !ok {
			p.computed[o.Dest] = true
		}
	}
}

// absentAsNone is the default argparse uses when none is declared.
func absentAsNone(o Option) string {
	switch {
	case o.Default != "":
		return o.Default
	case o.Action == "store_true":
		return "False"
	case o.Action == "store_false":
		return "True"
	}
	return "None"
}

// run walks the arguments: options where they stand, positionals between.
func (p *parser) run() error {
	if err := p.classify(); err != nil {
		return err
	}
	p.seen = map[*Option]bool{}
	last := strings.LastIndexByte(p.pattern, 'O')
	at := 0
	for at <= last {
		next := at + strings.IndexByte(p.pattern[at:], 'O')
		if at != next {
			end, err := p.positionals(at)
			if err != nil {
				return err
			}
			if end > at {
				at = end
				continue
			}
			p.extras = append(p.extras, p.args[at:next]...)
			at = next
		}
		end, err := p.optional(at)
		if err != nil {
			return err
		}
		at = end
	}
	end, err := p.positionals(at)
	if err != nil {
		return err
	}
	p.extras = append(p.extras, p.args[end:]...)
	return nil
}

func (p *parser) classify() error {
	letters := make([]byte, len(p.args))
	p.found = make([]Resolution, len(p.args))
	after := false
	for i, arg := range p.args {
		switch {
		case after:
			letters[i] = 'A'
		case arg == "--":
			letters[i], after = '-', true
		default:
			r, option := p.option(arg)
			if len(r.Candidates) > 1 {
				return ambiguous(arg, r.Candidates)
			}
			p.found[i] = r
			letters[i] = 'A'
			if option {
				letters[i] = 'O'
			}
		}
	}
	p.pattern = string(letters)
	return nil
}

// option tells an option, known or not, from a value.
func (p *parser) option(arg string) (Resolution, bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return Resolution{}, false
	}
	r := p.table.resolve(arg)
	switch {
	case r.Option != nil || len(r.Candidates) > 1:
		return r, true
	case negativeNumber.MatchString(arg) && !p.table.negative:
		return r, false
	}
	return r, !strings.Contains(arg, " ")
}

// positionals gives as many of the remaining positionals as possible what
// stands at start, and returns where they end.
func (p *parser) positionals(start int) (int, error) {
	for n := len(p.left); n > 0; n-- {
		expr := "^"
		for _, o := range p.left[:n] {
			expr += countPattern(o)
		}
		groups := regexp.MustCompile(expr).FindStringSubmatch(p.pattern[start:])
		if groups == nil {
			continue
		}
		taken := p.left[:n]
		p.left = p.left[n:]
		for i, o := range taken {
			end := start + len(groups[i+1])
			if err := p.take(o, p.args[start:end], ""); err != nil {
				return start, err
			}
			start = end
		}
		return start, nil
	}
	return start, nil
}

// optional consumes the option at index at with its values.
func (p *parser) optional(at int) (int, error) {
	r := p.found[at]
	if r.Option == nil {
		p.extras = append(p.extras, p.args[at])
		return at + 1, nil
	}
	if r.By == ByPrefix {
		p.warnings = append(p.warnings, fmt.Sprintf("%s is taken as %s by abbreviation", p.args[at], r.Name))
	}
	if r.Value != nil {
		return p.explicit(r, at)
	}
	return p.following(r, at)
}

// following consumes the values that stand behind the token at index at.
func (p *parser) following(r Resolution, at int) (int, error) {
	n, ok := count(r.Option, p.pattern[at+1:])
	if !ok {
		return at, missing(r.Option, p.args[at])
	}
	return at + 1 + n, p.take(r.Option, p.args[at+1:at+1+n], r.Name)
}

// explicit handles a value written into the option's own token. Switches with
// one dash may stand together behind one dash; they act once all are known.
func (p *parser) explicit(r Resolution, at int) (int, error) {
	token := p.args[at]
	var switches []Resolution
	for r.Value != nil {
		value := *r.Value
		n, ok := count(r.Option, "A")
		switch {
		case !ok:
			return at, missing(r.Option, token)
		case n == 1:
			if err := p.takeAll(switches); err != nil {
				return at, err
			}
			return at + 1, p.take(r.Option, []string{value}, r.Name)
		case strings.HasPrefix(r.Name, "--") || value == "":
			return at, ignored(r.Option, token, value)
		}
		name := "-" + value[:1]
		next, ok := p.table.options[name]
		if !ok {
			return at, ignored(r.Option, token, value)
		}
		switches = append(switches, r)
		r = Resolution{Option: next, Name: name}
		if rest := value[1:]; rest != "" {
			r.Value = &rest
		}
	}
	if _, ok := count(r.Option, p.pattern[at+1:]); !ok {
		return at, missing(r.Option, token)
	}
	if err := p.takeAll(switches); err != nil {
		return at, err
	}
	return p.following(r, at)
}

func (p *parser) takeAll(switches []Resolution) error {
	for _, r := range switches {
		if err := p.take(r.Option, nil, r.Name); err != nil {
			return err
		}
	}
	return nil
}

func ignored(o *Option, token, value string) error {
	return &RejectError{Kind: IgnoredValue, Token: token,
		Message: fmt.Sprintf("argument %s: ignored explicit argument %s", o.label(), repr(value))}
}

func missing(o *Option, token string) error {
	want := "expected one argument"
	switch o.Nargs {
	case "?":
		want = "expected at most one argument"
	case "+":
		want = "expected at least one argument"
	case "", "*":
	default:
		plural := "s"
		if o.Nargs == "1" {
			plural = ""
		}
		want = fmt.Sprintf("expected %s argument%s", o.Nargs, plural)
	}
	return &RejectError{Kind: MissingValue, Token: token, Message: fmt.Sprintf("argument %s: %s", o.label(), want)}
}

// count is how many arguments of the pattern the option takes.
func count(o *Option, pattern string) (int, bool) {
	expr := strings.ReplaceAll(strings.ReplaceAll(countPattern(o), "-*", ""), "-", "")
	groups := regexp.MustCompile("^" + expr).FindStringSubmatch(pattern)
	if groups == nil {
		return 0, false
	}
	return len(groups[1]), true
}

// maxCount bounds a numeric nargs; no engine comes near it.
const maxCount = 100

func countPattern(o *Option) string {
	if valueless(o) {
		return "(-*-*)"
	}
	switch o.Nargs {
	case "?":
		return "(-*A?-*)"
	case "*":
		return "(-*[A-]*)"
	case "+":
		return "(-*[A][A-]*)"
	case "...":
		return "([-AO]*)"
	case "A...":
		return "(-*A[-AO]*)"
	}
	if n, err := strconv.Atoi(o.Nargs); err == nil && n > 0 && n <= maxCount {
		return "(-*" + strings.Join(slices.Repeat([]string{"A"}, n), "-*") + "-*)"
	}
	return "(-*A-*)"
}

// valueless reports whether the option never takes a value.
func valueless(o *Option) bool {
	switch o.Action {
	case "store_true", "store_false", "store_const", "append_const", "count", "on_off", "help", "version":
		return true
	}
	return o.Nargs == "0"
}

// finish checks for leftovers and required options and converts text defaults.
func (p *parser) finish(options []Option) error {
	var lacking []string
	for i := range options {
		o := &options[i]
		if p.seen[o] {
			continue
		}
		if o.Required || o.Positional() && o.Nargs != "?" && o.Nargs != "*" && o.Nargs != "..." && o.Nargs != "0" {
			lacking = append(lacking, o.label())
			continue
		}
		if err := p.convertDefault(o); err != nil {
			return err
		}
	}
	if len(lacking) > 0 {
		return &RejectError{Kind: Required, Token: lacking[0],
			Message: "the following arguments are required: " + strings.Join(lacking, ", ")}
	}
	if len(p.extras) > 0 {
		return &RejectError{Kind: Unrecognized, Token: p.extras[0],
			Message: "unrecognized arguments: " + strings.Join(p.extras, " ")}
	}
	return nil
}

// convertDefault applies the type to a text default that is still in place.
func (p *parser) convertDefault(o *Option) error {
	text, ok := p.values[o.Dest].(string)
	if !ok || p.set[o.Dest] {
		return nil
	}
	if d, ok := parseLiteral(o.Default); !ok || d != any(text) {
		return nil
	}
	v, err := convert(o, text)
	if err != nil {
		return err
	}
	p.values[o.Dest] = v
	return nil
}

func (p *parser) parsed() Parsed {
	out := Parsed{Values: map[string]string{}, Given: p.set, Warnings: p.warnings}
	for dest, v := range p.values {
		if p.computed[dest] && !p.set[dest] {
			out.Computed = append(out.Computed, dest)
		} else if v != nil {
			out.Values[dest] = spell(v)
		}
	}
	slices.Sort(out.Computed)
	return out
}
