package engine

import (
	"fmt"
	"regexp"
	"strings"
)

// How a text on the command line found its option.
const (
	ByName   = "name"
	ByPrefix = "prefix"
)

// Resolution is what argparse's option table makes of one option text: an
// option by its name or by a unique prefix, or several candidates, or nothing.
type Resolution struct {
	Option     *Option  // nil when nothing or more than one thing was found
	Name       string   // the declared text that was meant
	By         string   // ByName, ByPrefix, or empty
	Value      *string  // the part behind "="
	Candidates []string // more than one: ambiguous
}

// Resolve finds the option that a flag such as --x or --x=v means. Text that
// is not a flag finds nothing.
func (m Model) Resolve(flag string) Resolution {
	return m.table().resolve(flag)
}

// table is argparse's map from option texts to options, in registration order.
type table struct {
	order     []string
	options   map[string]*Option
	negative  bool // some option looks like a negative number
	abbrev    bool
	whole     bool   // names with one dash are taken whole
	twice     string // a text that two options declare
	positions []*Option
}

func (m Model) table() *table {
	t := &table{options: map[string]*Option{}, abbrev: !m.NoAbbrev, whole: m.ExactShort}
	if !m.NoHelp {
		t.add(&Option{Names: []string{"-h", "--help"}, Dest: "help", Action: "help", Default: Suppressed})
	}
	for i := range m.Options {
		o := &m.Options[i]
		if o.Positional() {
			t.positions = append(t.positions, o)
			continue
		}
		t.add(o)
	}
	return t
}

func (t *table) add(o *Option) {
	for _, s := range o.strings() {
		if prior, ok := t.options[s]; ok {
			if prior != o && t.twice == "" {
				t.twice = s
			}
			continue
		}
		t.options[s] = o
		t.order = append(t.order, s)
		t.negative = t.negative || negativeNumber.MatchString(s)
	}
}

var negativeNumber = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

func (t *table) resolve(arg string) Resolution {
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		return Resolution{}
	}
	if o, ok := t.options[arg]; ok {
		return Resolution{Option: o, Name: arg, By: ByName}
	}
	name, value, cut := strings.Cut(arg, "=")
	if cut {
		if o, ok := t.options[name]; ok {
			return Resolution{Option: o, Name: name, By: ByName, Value: &value}
		}
	}
	if !t.abbrev && strings.HasPrefix(arg, "--") {
		return Resolution{}
	}
	if t.whole && !strings.HasPrefix(arg, "--") {
		return Resolution{}
	}
	found := t.long(name, value, cut)
	if arg[1] != '-' {
		found = t.short(arg)
	}
	switch len(found) {
	case 0:
		return Resolution{}
	case 1:
		return found[0]
	}
	r := Resolution{}
	for _, f := range found {
		r.Candidates = append(r.Candidates, f.Name)
	}
	return r
}

// long lists the options that start with prefix.
func (t *table) long(prefix, value string, cut bool) []Resolution {
	var found []Resolution
	for _, s := range t.order {
		if strings.HasPrefix(s, prefix) {
			r := Resolution{Option: t.options[s], Name: s, By: ByPrefix}
			if cut {
				r.Value = &value
			}
			found = append(found, r)
		}
	}
	return found
}

// short reads "-xVALUE", or a single-dash name that starts with arg.
func (t *table) short(arg string) []Resolution {
	var found []Resolution
	for _, s := range t.order {
		switch {
		case s == arg[:2]:
			rest := arg[2:]
			found = append(found, Resolution{Option: t.options[s], Name: s, By: ByName, Value: &rest})
		case strings.HasPrefix(s, arg):
			found = append(found, Resolution{Option: t.options[s], Name: s, By: ByPrefix})
		}
	}
	return found
}

func ambiguous(arg string, candidates []string) *RejectError {
	return &RejectError{
		Kind: Ambiguous, Token: arg, Candidates: candidates,
		Message: fmt.Sprintf("ambiguous option: %s could match %s", arg, strings.Join(candidates, ", ")),
	}
}
