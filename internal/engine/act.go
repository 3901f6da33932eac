package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// take performs an option's action with the arguments it consumed. name is
// the declared text that selected it, empty for a positional.
func (p *parser) take(o *Option, args []string, name string) error {
	p.seen[o] = true
	v, err := values(o, args)
	if err != nil {
		return err
	}
	switch o.Deprecated {
	case ErrorOption:
		text := o.Message
		if text == "" {
			text = name + " is no longer supported"
		}
		return &RejectError{Kind: Gone, Token: name, Message: text}
	case NoEffectOption:
		p.warnings = append(p.warnings, name+" is deprecated and has no effect")
		return nil
	case AliasOption:
		p.warnings = append(p.warnings, aliasWarning(o, name))
	}
	return p.store(o, v, name)
}

func aliasWarning(o *Option, name string) string {
	if o.AliasOf == "" {
		return fmt.Sprintf("%s is deprecated and stores %s", name, o.Dest)
	}
	return fmt.Sprintf("%s is deprecated and stands for %s", name, o.AliasOf)
}

func (p *parser) store(o *Option, v any, name string) error {
	if _, skip := v.(suppressed); skip {
		return nil
	}
	switch o.Action {
	case "help", "version":
		return &RejectError{Kind: HelpAsked, Token: name, Message: o.Action + " was asked for"}
	case "store_true":
		v = true
	case "store_false":
		v = false
	case "on_off":
		v = !strings.HasPrefix(name, "--no-")
	case "store_const":
		v = constant(o)
	case "append_const":
		v = append(p.list(o), constant(o))
	case "append":
		v = append(p.list(o), v)
	case "extend":
		more, _ := v.([]any)
		if text, ok := v.(string); ok { // extending a list by a text adds its letters
			for _, r := range text {
				more = append(more, string(r))
			}
		}
		v = append(p.list(o), more...)
	case "count":
		n, _ := p.values[o.Dest].(integer)
		i, _ := strconv.Atoi(string(n))
		v = integer(strconv.Itoa(i + 1))
	}
	p.values[o.Dest] = v
	p.set[o.Dest] = true
	return nil
}

func (p *parser) list(o *Option) []any {
	have, _ := p.values[o.Dest].([]any)
	return slices.Clone(have)
}

// constant is the option's constant; one that is no literal stays as written.
func constant(o *Option) any {
	if o.Const == "" {
		return nil
	}
	if v, ok := parseLiteral(o.Const); ok {
		return v
	}
	return o.Const
}

// suppressed is the value of a positional whose default is Suppressed: it is
// not stored at all.
type suppressed struct{}

// values converts and checks the arguments that one option consumed.
func values(o *Option, args []string) (any, error) {
	if o.Nargs != "..." && o.Nargs != "A..." {
		if i := slices.Index(args, "--"); i >= 0 {
			args = slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	switch {
	case len(args) == 0 && o.Nargs == "?":
		return absentValue(o)
	case len(args) == 0 && o.Nargs == "*" && o.Positional():
		return emptyList(o)
	case len(args) == 1 && (o.Nargs == "" || o.Nargs == "?") && !valueless(o):
		return convertChecked(o, args[0])
	}
	list := []any{}
	for i, a := range args {
		v, err := convert(o, a)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if o.Nargs == "..." || o.Nargs == "A..." && i > 0 {
			continue
		}
		if err := check(o, v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// absentValue is what an optional value becomes when it is left out.
func absentValue(o *Option) (any, error) {
	if !o.Positional() {
		v := constant(o)
		if text, ok := v.(string); ok {
			return convertChecked(o, text)
		}
		return v, nil
	}
	if o.Default == Suppressed {
		return suppressed{}, nil
	}
	v, _ := parseLiteral(absentAsNone(*o))
	if text, ok := v.(string); ok {
		return convertChecked(o, text)
	}
	return v, nil
}

func emptyList(o *Option) (any, error) {
	if o.Default == Suppressed {
		return suppressed{}, nil
	}
	if v, _ := parseLiteral(absentAsNone(*o)); v != nil {
		return v, nil
	}
	return []any{}, nil
}

func convertChecked(o *Option, text string) (any, error) {
	v, err := convert(o, text)
	if err != nil {
		return nil, err
	}
	return v, check(o, v)
}

// convert applies the option's type. Types that are not known keep the text.
func convert(o *Option, text string) (any, error) {
	var v any = text
	ok := true
	switch o.Type {
	case "int":
		v, ok = parseInt(text)
	case "float":
		v, ok = parseFloat(text)
	case "bool":
		v = text != ""
	}
	if !ok {
		return nil, &RejectError{Kind: InvalidValue, Token: text,
			Message: fmt.Sprintf("argument %s: invalid %s value: %s", o.label(), o.Type, repr(text))}
	}
	return v, nil
}

func check(o *Option, v any) error {
	if o.OpenChoices || o.Choices == nil || slices.ContainsFunc(o.Choices, func(c string) bool { return same(c, v) }) {
		return nil
	}
	shown := make([]string, len(o.Choices))
	for i, c := range o.Choices {
		shown[i] = c
		if _, text := v.(string); text {
			shown[i] = repr(c)
		}
	}
	return &RejectError{Kind: InvalidChoice, Token: spell(v), Message: fmt.Sprintf("argument %s: invalid choice: %s (choose from %s)",
		o.label(), shownValue(v), strings.Join(shown, ", "))}
}

// same compares a choice with a value; numbers by size, as Python does.
func same(choice string, v any) bool {
	if choice == spell(v) {
		return true
	}
	switch v.(type) {
	case integer, float64:
		a, okA := parseFloat(choice)
		b, okB := parseFloat(spell(v))
		return okA && okB && a == b
	}
	return false
}

func shownValue(v any) string {
	if s, ok := v.(string); ok {
		return repr(s)
	}
	return literal(v)
}

// repr is Python's repr of a text, for texts that need no unusual escapes.
func repr(s string) string {
	q := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = `"`
	}
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, q, `\`+q).Replace(s)
	return q + s + q
}
