package engine

import (
	"fmt"
	"slices"
	"strings"
)

// register reads the hand-written add_argument calls. In a tree with derived
// flags those count that stand in a file with such fields, or in a function
// that such a file hands its parser to; all others belong to other programs.
func (d *declarations) register() {
	var homes []*module
	for _, m := range d.ordered() {
		if d.declares(m) {
			homes = append(homes, m)
		}
	}
	every := len(homes) == 0
	helpers := helperNames(homes)
	for _, m := range d.ordered() {
		home := every || slices.Contains(homes, m)
		ignored := 0
		for _, c := range m.calls {
			switch {
			case c.callee() == "ArgumentParser" && home:
				d.parserKeys(m, c)
			case c.callee() != "add_argument" || c.items[0].kind != attrExpr:
			case home || helpers[c.function] && c.class == "":
				d.registration(m, c)
			default:
				ignored++
			}
		}
		if ignored > 0 {
			d.asides = append(d.asides, fmt.Sprintf("%s:1: %d add_argument calls not counted: the file declares no fields of the server", m.file, ignored))
		}
	}
}

// helperNames are the functions that get the parser passed by a declaring file.
func helperNames(homes []*module) map[string]bool {
	names := map[string]bool{}
	for _, m := range homes {
		for _, c := range m.calls {
			if c.callee() != "add_argument" && slices.ContainsFunc(c.args(), isParser) {
				names[c.callee()] = true
			}
		}
	}
	return names
}

func isParser(e *expr) bool {
	return e.kind == nameExpr && (strings.HasSuffix(e.name, "parser") || strings.HasSuffix(e.name, "group"))
}

func (d *declarations) parserKeys(m *module, c call) {
	if e := c.key("allow_abbrev"); e != nil && d.evaluate(m, e).value == false {
		d.noAbbrev = true
	}
	if e := c.key("add_help"); e != nil && d.evaluate(m, e).value == false {
		d.noHelp = true
	}
}

// registration reads one add_argument call.
func (d *declarations) registration(m *module, c call) {
	o := Option{At: Location{m.file, c.line}, Condition: c.condition}
	if derives(m, c) {
		return
	}
	for _, a := range c.args() {
		text, ok := d.evaluate(m, a).value.(string)
		if !ok || a.kind == splatExpr {
			d.unnamed = append(d.unnamed, o.At)
			d.unresolved(m.file, c.line, "option text is no literal: %s", a.text)
			return
		}
		o.Names = append(o.Names, text)
	}
	if len(o.Names) == 0 {
		d.unnamed = append(d.unnamed, o.At)
		d.unresolved(m.file, c.line, "registration without literal option texts: %s", c.text)
		return
	}
	o.Dest = destination(o.Names)
	d.keywords(m, c, &o)
	d.add(o)
}

// derives recognises the loop that registers the derived flags themselves:
// no literal text, inside a function that looks at the fields of a class.
func derives(m *module, c call) bool {
	if len(c.args()) == 0 || c.args()[0].kind == textExpr {
		return false
	}
	for _, f := range m.funcs {
		if f.name != c.function || f.class != c.class {
			continue
		}
		for _, mark := range []string{"fields(", "get_type_hints", "__annotations__", "__dataclass_fields__", "__struct_fields__", "model_fields", "__metadata__", "get_annotations"} {
			if strings.Contains(f.body, mark) {
				return true
			}
		}
	}
	return false
}

func (d *declarations) keywords(m *module, c call, o *Option) {
	if e := c.key("dest"); e != nil {
		if text, ok := d.evaluate(m, e).value.(string); ok {
			o.Dest = text
		} else {
			d.unresolved(m.file, c.line, "dest of %s is no literal: %s", o.Name(), e.text)
		}
	}
	if e := c.key("type"); e != nil {
		o.Type = typeName(e)
	}
	if e := c.key("nargs"); e != nil {
		d.nargs(m, e, o)
	}
	if e := c.key("choices"); e != nil && e.name != "None" {
		d.choices(o, m, e)
	}
	if e := c.key("default"); e != nil {
		o.Default = d.defaultText(m, e)
	}
	if e := c.key("const"); e != nil {
		o.Const = d.defaultText(m, e)
	}
	if e := c.key("required"); e != nil {
		o.Required = d.evaluate(m, e).value == true
	}
	if e := c.key("action"); e != nil {
		d.action(m, e, c.expr, o)
	}
	if e := c.key("deprecated"); e != nil && o.Deprecated == "" && d.evaluate(m, e).value == true {
		o.Deprecated = AliasOption
	}
	for _, k := range c.keys {
		if k.name == "" || k.value.kind == splatExpr {
			d.unresolved(m.file, c.line, "%s: keywords passed on from elsewhere", o.Name())
		}
	}
}
