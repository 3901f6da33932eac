package engine

import (
	"slices"
	"strings"
)

// action sets how an option acts: by argparse's own names, or by what the
// action class in the tree does.
func (d *declarations) action(m *module, e, declared *expr, o *Option) {
	if text, ok := d.evaluate(m, e).value.(string); ok {
		o.Action = text
		if valueless(o) {
			o.Type, o.Choices = "", nil
		}
		return
	}
	name := e.last()
	if name == "BooleanOptionalAction" {
		o.Action, o.Type, o.Choices = "on_off", "", nil
		return
	}
	home, c := d.class(m, name, 0)
	if c == nil {
		d.namedAction(m, name, declared, o)
		return
	}
	d.behave(home, c, m, declared, o)
	if o.Deprecated == "" && strings.Contains(strings.ToLower(name), "deprecated") {
		o.Deprecated = AliasOption
	}
}

// namedAction guesses from the name of an action class that the tree does not
// contain, and says so.
func (d *declarations) namedAction(m *module, name string, declared *expr, o *Option) {
	d.unresolved(m.file, declared.line, "action class %s of %s is not in the source read", name, o.Name())
	lower := strings.ToLower(name)
	if !strings.Contains(lower, "deprecated") {
		return
	}
	switch {
	case strings.Contains(lower, "storetrue"):
		o.Deprecated, o.Action = AliasOption, "store_true"
	case strings.Contains(lower, "const"):
		o.Deprecated, o.Action = AliasOption, "store_const"
	case strings.Contains(lower, "alias") || strings.Contains(lower, "store"):
		o.Deprecated = AliasOption
	default:
		o.Deprecated, o.Nargs = NoEffectOption, "0"
	}
}

// behave reads the action class: what its call stores, whether it warns, and
// whether it ends the program.
func (d *declarations) behave(home *module, c *class, m *module, declared *expr, o *Option) {
	lines := d.methods(home, c, 0)
	if lines.nargs0 {
		o.Nargs = "0"
	}
	if o.Default == "" && lines.def != nil {
		o.Default = d.defaultText(home, lines.def)
	}
	if o.Const == "" && lines.constant != nil {
		o.Const = d.defaultText(home, lines.constant)
	}
	for _, k := range declared.keys {
		if text, ok := d.evaluate(m, k.value).value.(string); ok {
			if strings.Contains(k.name, "message") || strings.Contains(k.name, "error") || k.name == "help" && o.Message == "" {
				o.Message = text
			}
			if text != "" && slices.Contains(lines.errorKeys, k.name) {
				o.Deprecated, o.Message = ErrorOption, text
			}
		}
	}
	switch {
	case o.Deprecated == ErrorOption:
	case lines.alwaysEnds:
		o.Deprecated = ErrorOption
	case lines.base != "":
		d.builtin(lines, m, declared, o)
	case lines.store == nil:
		o.Deprecated = NoEffectOption
	default:
		d.stores(home, lines.store, m, declared, o)
		if lines.warns {
			o.Deprecated = AliasOption
		}
	}
}

// builtin is an action class that leaves the storing to one of argparse's own.
func (d *declarations) builtin(lines conduct, m *module, declared *expr, o *Option) {
	switch lines.base {
	case "_StoreAction":
	case "_StoreTrueAction":
		o.Action = "store_true"
	case "_StoreFalseAction":
		o.Action = "store_false"
	case "_StoreConstAction":
		o.Action = "store_const"
	case "_AppendAction":
		o.Action = "append"
	case "BooleanOptionalAction":
		o.Action = "on_off"
	default:
		d.unresolved(m.file, declared.line, "%s: what the action does is not known: %s", o.Name(), lines.base)
	}
	if lines.warns {
		o.Deprecated = AliasOption
	}
}

// conduct is what the methods of an action class do.
type conduct struct {
	nargs0     bool
	warns      bool
	alwaysEnds bool
	errorKeys  []string // self.NAME passed to parser.error
	store      *expr    // the setattr call
	base       string   // class outside the tree that does the storing instead
	passes     bool     // hands on to the base's __call__
	def        *expr    // default that __init__ declares
	constant   *expr    // constant that __init__ declares
}

// methods reads the class itself and, for methods it lacks, its bases.
func (d *declarations) methods(m *module, c *class, depth int) conduct {
	var got conduct
	var defined []string
	for _, f := range m.funcs {
		if f.class != c.name {
			continue
		}
		defined = append(defined, f.name)
		if f.name == "__init__" {
			e := f.params["nargs"]
			got.nargs0 = e != nil && e.name == "0"
			got.def, got.constant = f.params["default"], f.params["const"]
		}
	}
	for _, call := range m.calls {
		if call.class == c.name {
			got.note(call)
		}
	}
	for _, b := range c.bases {
		var inherited conduct
		if home, base := d.class(m, b.last(), depth+1); base != nil && base != c && depth < maxDepth {
			inherited = d.methods(home, base, depth+1)
		} else {
			inherited = conduct{base: b.last()}
		}
		got.inherit(inherited, slices.Contains(defined, "__call__"), slices.Contains(defined, "__init__"))
	}
	return got
}

// inherit adds what a base does as far as the class does not do it itself.
func (c *conduct) inherit(base conduct, calls, inits bool) {
	if !inits {
		c.nargs0 = c.nargs0 || base.nargs0
		c.def, c.constant = base.def, base.constant
	}
	if calls && !c.passes {
		return
	}
	c.warns = c.warns || base.warns
	c.alwaysEnds = c.alwaysEnds || base.alwaysEnds
	c.errorKeys = append(c.errorKeys, base.errorKeys...)
	if c.store == nil {
		c.store = base.store
	}
	if c.base == "" && c.store == nil {
		c.base = base.base
	}
}

func (c *conduct) note(call call) {
	switch {
	case call.function == "__init__":
		if e := call.key("nargs"); e != nil && e.name == "0" {
			c.nargs0 = true
		}
	case call.function != "__call__":
	case call.callee() == "__call__":
		c.passes = true
	case call.callee() == "setattr" && len(call.args()) == 3:
		c.store = call.expr
	case call.callee() == "error" && call.items[0].kind == attrExpr && strings.HasSuffix(call.items[0].items[0].last(), "parser"), call.callee() == "exit":
		if call.condition == "" {
			c.alwaysEnds = true
		}
		for _, a := range call.args() {
			if a.kind == attrExpr {
				c.errorKeys = append(c.errorKeys, a.name)
			}
		}
	case strings.Contains(call.callee(), "warn") || call.callee() == "print":
		c.warns = true
	}
}

// stores reads setattr(namespace, WHERE, WHAT).
func (d *declarations) stores(home *module, set *expr, m *module, declared *expr, o *Option) {
	where, what := set.args()[1], set.args()[2]
	switch {
	case where.kind == textExpr:
		o.Dest = where.name
	case where.kind == attrExpr && where.name != "dest":
		e := declared.key(where.name)
		if text, ok := d.evaluate(m, e).value.(string); ok {
			o.Dest = strings.ReplaceAll(strings.TrimLeft(text, "-"), "-", "_")
		} else {
			d.unresolved(m.file, declared.line, "%s stores in a place that is not known: %s", o.Name(), where.text)
		}
	}
	k := d.evaluate(home, what)
	switch {
	case what.kind == attrExpr && what.name == "const":
		o.Action = "store_const"
	case what.kind == attrExpr && declared.key(what.name) != nil:
		o.Action, o.Const = "store_const", d.defaultText(m, declared.key(what.name))
	case k.value == true:
		o.Action = "store_true"
	case k.value == false && k.ok:
		o.Action = "store_false"
	case k.ok:
		o.Action, o.Const = "store_const", literal(k.value)
	case what.kind == nameExpr: // the values as given
	default:
		d.unresolved(m.file, declared.line, "%s stores a computed value: %s", o.Name(), what.text)
	}
}
