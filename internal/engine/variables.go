package engine

import (
	"regexp"
	"slices"
	"strings"
)

// variables collects the environment variables that the tree reads. A name
// declared in a class comes before reads elsewhere; among reads the first in
// path order counts.
func (d *declarations) variables() {
	for _, m := range d.ordered() {
		for _, c := range m.classes {
			for _, name := range c.order {
				d.declared(m, name, c.assigns[name].value)
			}
		}
	}
	for _, m := range d.ordered() {
		for _, c := range m.calls {
			d.readCall(m, c)
		}
		for _, a := range m.accesses {
			d.variable(Variable{Name: a.name.name, At: Location{m.file, a.line}})
		}
	}
	slices.SortStableFunc(d.vars, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
}

var variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func (d *declarations) variable(v Variable) {
	if !variableName.MatchString(v.Name) || slices.ContainsFunc(d.vars, func(have Variable) bool { return have.Name == v.Name }) {
		return
	}
	d.vars = append(d.vars, v)
}

// declared reads NAME = EnvBool(False) in a class, and the old names that an
// EnvBoolWithAlias(False, "OLD") accepts besides.
func (d *declarations) declared(m *module, name string, value *expr) {
	kind := value.callee()
	if !strings.HasPrefix(kind, "Env") {
		return
	}
	at := Location{m.file, value.line}
	v := Variable{Name: name, At: at}
	args := value.args()
	if e := value.key("default"); e != nil {
		v.Default = d.defaultText(m, e)
	} else if len(args) > 0 {
		v.Default = d.defaultText(m, args[0])
	}
	d.variable(v)
	if !strings.Contains(kind, "Alias") {
		return
	}
	for _, e := range args {
		if e.kind == textExpr {
			d.variable(Variable{Name: e.name, AliasOf: name, At: at})
		}
	}
	for _, k := range value.keys {
		if k.value.kind == textExpr && k.name != "default" {
			d.variable(Variable{Name: k.value.name, AliasOf: name, At: at})
		}
	}
}

// readCall reads os.environ.get("X", d), os.getenv("X", d) and helpers of the
// kind get_bool_env_var("X", d).
func (d *declarations) readCall(m *module, c call) {
	args := c.args()
	if len(args) == 0 || args[0].kind != textExpr || !readsEnvironment(c.expr) {
		return
	}
	v := Variable{Name: args[0].name, At: Location{m.file, c.line}}
	if len(args) > 1 {
		v.Default = d.defaultText(m, args[1])
	} else if e := c.key("default"); e != nil {
		v.Default = d.defaultText(m, e)
	}
	d.variable(v)
}

func readsEnvironment(e *expr) bool {
	switch name := e.callee(); name {
	case "getenv":
		return true
	case "get", "setdefault", "pop":
		f := e.items[0]
		return f.kind == attrExpr && f.items[0].last() == "environ"
	default:
		return strings.HasPrefix(name, "get_") && strings.Contains(name, "env")
	}
}
