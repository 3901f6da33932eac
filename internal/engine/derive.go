package engine

import (
	"slices"
	"strings"
)

// derive turns the annotated fields of every class into options.
func (d *declarations) derive() {
	for _, m := range d.ordered() {
		for _, c := range m.classes {
			for _, f := range c.fields {
				d.deriveField(m, f)
			}
		}
	}
}

// declares reports whether the module has a field from which a flag is derived.
func (d *declarations) declares(m *module) bool {
	return slices.ContainsFunc(m.classes, func(c *class) bool {
		return slices.ContainsFunc(c.fields, func(f field) bool {
			_, meta, ok := annotated(m, f.typ)
			if !ok {
				return false
			}
			_, described := d.metadata(m, meta)
			return described
		})
	})
}

// annotated splits A[T, meta...].
func annotated(m *module, t *expr) (typ *expr, meta []*expr, ok bool) {
	if t == nil || t.kind != indexExpr || len(t.items) < 2 {
		return nil, nil, false
	}
	name := t.items[0].last()
	if name != "A" && name != "Annotated" && m.imports[name].name != "Annotated" {
		return nil, nil, false
	}
	return t.items[1], t.items[2:], true
}

func (d *declarations) deriveField(m *module, f field) {
	typ, meta, ok := annotated(m, f.typ)
	if !ok {
		return
	}
	arg, described := d.metadata(m, meta)
	if !described {
		return // a value the program keeps, not a flag
	}
	o := Option{Dest: f.name, At: Location{m.file, f.line}, Default: d.defaultText(m, f.value), Required: f.value == nil}
	if !d.fieldNames(m, f, arg, &o) {
		return
	}
	d.fieldType(m, typ, &o)
	if arg != nil {
		d.fieldArg(m, arg, &o)
	}
	d.add(o)
}

// metadata finds the Arg(...) call, if any, and says whether the metadata
// makes the field a flag at all: a text or an Arg does, a name space or a
// validator of another library does not.
func (d *declarations) metadata(m *module, meta []*expr) (arg *expr, described bool) {
	for _, e := range meta {
		_, e = d.follow(m, e, 0)
		switch {
		case e == nil:
		case e.kind == textExpr || e.kind == otherExpr && strings.ContainsAny(e.text, `"'`):
			described = true
		case e.callee() == "Arg":
			arg, described = e, true
		}
	}
	if arg != nil {
		if k := d.evaluate(m, arg.key("no_cli")); k.value == true {
			return arg, false
		}
	}
	return arg, described
}

// fieldNames sets the option's texts; false means they are not literal.
func (d *declarations) fieldNames(m *module, f field, arg *expr, o *Option) bool {
	name := "--" + strings.ReplaceAll(f.name, "_", "-")
	if arg == nil {
		o.Names = []string{name}
		return true
	}
	if e := arg.key("cli_name"); e != nil {
		k := d.evaluate(m, e)
		switch text, ok := k.value.(string); {
		case ok:
			name = dashed(text)
		case !k.ok:
			d.unnamed = append(d.unnamed, o.At)
			d.unresolved(m.file, f.line, "field %s: cli_name is no literal: %s", f.name, e.text)
			return false
		}
	}
	o.Names = []string{name}
	e := arg.key("aliases")
	if e == nil {
		return true
	}
	k := d.evaluate(m, e)
	list, ok := k.value.([]any)
	for _, v := range list {
		if text, ok := v.(string); ok {
			o.Names = append(o.Names, dashed(text))
		}
	}
	if !ok && k.value != nil || !k.ok || k.open {
		d.unnamed = append(d.unnamed, o.At)
		d.unresolved(m.file, f.line, "field %s: aliases are no literals: %s", f.name, e.text)
	}
	return true
}

func dashed(name string) string {
	if strings.HasPrefix(name, "-") {
		return name
	}
	return "--" + name
}

// fieldType derives type, number of values and choices from the annotation.
func (d *declarations) fieldType(m *module, t *expr, o *Option) {
	home, t := d.unwrap(m, t)
	switch {
	case t == nil:
	case t.last() == "bool":
		o.Action = "store_true"
		if o.Default == "" {
			o.Required = true
		}
	case t.last() == "int" || t.last() == "float":
		o.Type = t.last()
	case t.kind == indexExpr && t.items[0].last() == "Literal":
		d.literalChoices(home, t.items[1:], o)
	case t.kind == indexExpr && isList(t.items[0].last()):
		o.Nargs = "+"
		_, element := d.unwrap(home, t.items[1])
		if element != nil && element.kind == indexExpr && element.items[0].last() == "Literal" {
			d.literalChoices(home, element.items[1:], o)
		} else if name := element.last(); name == "int" || name == "float" {
			o.Type = name
		}
	}
}

func isList(name string) bool {
	switch name {
	case "List", "list", "Sequence", "Tuple", "tuple":
		return true
	}
	return false
}

// unwrap removes Optional[...] and "| None", and follows names of types.
func (d *declarations) unwrap(m *module, t *expr) (*module, *expr) {
	for range maxDepth {
		m, t = d.follow(m, t, 0)
		switch {
		case t == nil:
			return m, nil
		case t.kind == indexExpr && len(t.items) == 2 && t.items[0].last() == "Optional":
			t = t.items[1]
		case t.kind == indexExpr && t.items[0].last() == "Union" && len(t.items) == 3 && t.items[2].name == "None":
			t = t.items[1]
		case t.kind == binaryExpr && t.name == "|" && len(t.items) == 2 && t.items[1].name == "None":
			t = t.items[0]
		case t.kind == binaryExpr && t.name == "|" && len(t.items) == 2 && t.items[0].name == "None":
			t = t.items[1]
		default:
			return m, t
		}
	}
	return m, nil
}

func (d *declarations) literalChoices(m *module, members []*expr, o *Option) {
	o.Choices = []string{}
	for i, e := range members {
		k := d.evaluate(m, e)
		if !k.ok {
			o.OpenChoices = true
			d.unresolved(m.file, e.line, "choice of %s is no literal: %s", o.Name(), e.text)
			continue
		}
		switch k.value.(type) {
		case integer:
			if i == 0 {
				o.Type = "int"
			}
		case float64:
			if i == 0 {
				o.Type = "float"
			}
		}
		o.Choices = append(o.Choices, spell(k.value))
	}
}

// fieldArg applies the keywords of Arg(...), which win over the annotation.
func (d *declarations) fieldArg(m *module, arg *expr, o *Option) {
	for _, key := range []string{"type_parser", "type"} {
		if e := arg.key(key); e != nil && e.name != "None" {
			o.Type, o.Choices, o.Nargs = typeName(e), nil, ""
		}
	}
	if e := arg.key("nargs"); e != nil && e.name != "None" {
		d.nargs(m, e, o)
	}
	if e := arg.key("choices"); e != nil && e.name != "None" {
		d.choices(o, m, e)
	}
	if e := arg.key("const"); e != nil {
		o.Const = d.defaultText(m, e)
	}
	if e := arg.key("required"); e != nil {
		o.Required = d.evaluate(m, e).value == true
	}
	if e := arg.key("default"); e != nil {
		o.Default, o.Required = d.defaultText(m, e), false
	}
	if e := arg.key("action"); e != nil && e.name != "None" {
		o.Action = ""
		d.action(m, e, arg, o)
	}
}

func typeName(e *expr) string {
	if name := e.last(); name != "" {
		return name
	}
	return e.text
}

func (d *declarations) nargs(m *module, e *expr, o *Option) {
	switch e.last() {
	case "REMAINDER":
		o.Nargs = "..."
		return
	case "OPTIONAL":
		o.Nargs = "?"
		return
	case "ZERO_OR_MORE":
		o.Nargs = "*"
		return
	case "ONE_OR_MORE":
		o.Nargs = "+"
		return
	}
	k := d.evaluate(m, e)
	if !k.ok {
		d.unresolved(m.file, e.line, "number of values of %s is no literal: %s", o.Name(), e.text)
		return
	}
	if k.value != nil {
		o.Nargs = spell(k.value)
	}
}
