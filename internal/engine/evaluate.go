package engine

import (
	"math/big"
	"strings"
)

// known is what can be said about an expression without running it.
type known struct {
	value any
	open  bool // a list that may have more elements
	ok    bool
}

func literally(v any) known { return known{value: v, ok: true} }

// evaluate works out an expression of module m as far as literals, module
// constants, class attributes and list arithmetic go.
func (s *source) evaluate(m *module, e *expr) known {
	s.steps = 0
	return s.eval(m, e, 0)
}

// maxSteps bounds one evaluation: constants may refer to constants many times over.
const maxSteps = 100_000

func (s *source) eval(m *module, e *expr, depth int) known {
	s.steps++
	if e == nil || depth > maxDepth || s.steps > maxSteps {
		return known{}
	}
	switch e.kind {
	case textExpr:
		return literally(e.name)
	case numberExpr:
		return number(e.name)
	case constExpr:
		return constantValue(e.name)
	case listExpr:
		return s.evalList(m, e.items, depth)
	case minusExpr:
		return s.evalMinus(m, e, depth)
	case nameExpr, attrExpr:
		if home, b := s.lookup(m, e, depth); b != nil {
			outer := s.inside
			s.inside = b.class
			k := s.eval(home, b.value, depth+1)
			s.inside = outer
			k.open = k.open || b.open
			return k
		}
	case binaryExpr:
		return s.evalBinary(m, e, depth)
	case callExpr:
		return s.evalCall(m, e, depth)
	}
	return known{}
}

func number(text string) known {
	text = strings.ReplaceAll(text, "_", "")
	if i, ok := new(big.Int).SetString(strings.ToLower(text), 0); ok && len(text) < 100 {
		return literally(integer(i.String()))
	}
	if f, ok := parseFloat(text); ok {
		return literally(f)
	}
	return known{}
}

func constantValue(name string) known {
	switch name {
	case "True", "False":
		return literally(name == "True")
	case "None":
		return literally(nil)
	}
	return known{}
}

func (s *source) evalList(m *module, items []*expr, depth int) known {
	list, open := []any{}, false
	for _, item := range items {
		if item.kind == splatExpr && len(item.items) == 1 {
			k := s.eval(m, item.items[0], depth+1)
			more, ok := k.value.([]any)
			if !ok {
				return known{}
			}
			list, open = append(list, more...), open || k.open
			continue
		}
		k := s.eval(m, item, depth+1)
		if !k.ok {
			return known{}
		}
		list = append(list, k.value)
	}
	return known{list, open, true}
}

func (s *source) evalMinus(m *module, e *expr, depth int) known {
	if len(e.items) != 1 {
		return known{}
	}
	switch v := s.eval(m, e.items[0], depth+1).value.(type) {
	case integer:
		if rest, ok := strings.CutPrefix(string(v), "-"); ok {
			return literally(integer(rest))
		}
		return literally("-" + v)
	case float64:
		return literally(-v)
	}
	return known{}
}

func (s *source) evalBinary(m *module, e *expr, depth int) known {
	if len(e.items) != 2 {
		return known{}
	}
	a, b := s.eval(m, e.items[0], depth+1), s.eval(m, e.items[1], depth+1)
	la, okA := a.value.([]any)
	lb, okB := b.value.([]any)
	switch {
	case e.name == "+" && okA && okB:
		return known{append(append([]any{}, la...), lb...), a.open || b.open, true}
	case e.name == "+" && (okA || okB): // one side known: at least those
		return known{append(append([]any{}, la...), lb...), true, true}
	case !a.ok || !b.ok:
		return known{}
	}
	x, okX := a.value.(integer)
	y, okY := b.value.(integer)
	if okX && okY {
		return arithmetic(e.name, string(x), string(y))
	}
	return known{}
}

func arithmetic(op, x, y string) known {
	a, okA := new(big.Int).SetString(x, 10)
	b, okB := new(big.Int).SetString(y, 10)
	if !okA || !okB || a.BitLen() > 128 || b.BitLen() > 128 {
		return known{}
	}
	switch op {
	case "+":
		a.Add(a, b)
	case "-":
		a.Sub(a, b)
	case "*":
		a.Mul(a, b)
	case "<<":
		if b.Sign() < 0 || b.BitLen() > 7 {
			return known{}
		}
		a.Lsh(a, uint(b.Uint64()))
	default:
		return known{}
	}
	return literally(integer(a.String()))
}

// evalCall knows the few calls that only rearrange their argument, and the
// field(...) forms that carry a default.
func (s *source) evalCall(m *module, e *expr, depth int) known {
	args := e.args()
	switch e.callee() {
	case "field", "Field":
		return s.fieldDefault(m, e, depth)
	case "list", "tuple", "sorted", "set", "frozenset":
		if len(args) == 0 && len(e.keys) == 0 {
			return literally([]any{})
		}
		if len(args) == 1 && len(e.keys) == 0 {
			return s.evalElements(m, args[0], depth)
		}
	case "get_args":
		if len(args) == 1 {
			if home, t := s.follow(m, args[0], depth); t != nil && t.kind == indexExpr && t.items[0].last() == "Literal" {
				return s.evalList(home, t.items[1:], depth)
			}
		}
	}
	return known{}
}

// evalElements is what iterating over the argument of list(...) gives.
func (s *source) evalElements(m *module, e *expr, depth int) known {
	if e.callee() == "keys" && len(e.args()) == 0 && e.items[0].kind == attrExpr {
		e = e.items[0].items[0]
	}
	if home, d := s.follow(m, e, depth); d != nil && d.kind == dictExpr {
		k := s.evalList(home, d.items, depth)
		if _, b := s.lookup(m, e, depth); b != nil && b.open {
			k.open = true
		}
		return k
	}
	k := s.eval(m, e, depth+1)
	if _, ok := k.value.([]any); !ok {
		return known{}
	}
	return k
}

func (s *source) fieldDefault(m *module, e *expr, depth int) known {
	if d := e.key("default"); d != nil {
		return s.eval(m, d, depth+1)
	}
	f := e.key("default_factory")
	switch {
	case f == nil && len(e.args()) > 0:
		return s.eval(m, e.args()[0], depth+1)
	case f == nil:
		return known{}
	case f.kind == lambdaExpr && len(f.items) == 1:
		return s.eval(m, f.items[0], depth+1)
	case f.last() == "list" || f.last() == "tuple" || f.last() == "set":
		return literally([]any{})
	}
	return known{}
}

// follow replaces names by what they are bound to, until something else stands there.
func (s *source) follow(m *module, e *expr, depth int) (*module, *expr) {
	for range maxDepth {
		if e == nil || e.kind != nameExpr && e.kind != attrExpr {
			return m, e
		}
		home, b := s.lookup(m, e, depth)
		if b == nil || b.value == nil {
			return m, e
		}
		m, e = home, b.value
	}
	return m, nil
}

// lookup finds the binding of a name, of Class.NAME, or of module.NAME, also
// through imports.
func (s *source) lookup(m *module, e *expr, depth int) (*module, *binding) {
	if m == nil || depth > maxDepth {
		return nil, nil
	}
	if e.kind == nameExpr {
		if s.inside != nil {
			if b := s.inside.member(e.name); b != nil {
				return m, b
			}
		}
		return s.global(m, e.name, depth)
	}
	if e.kind != attrExpr || len(e.items) != 1 || e.items[0].kind != nameExpr {
		return nil, nil
	}
	owner := e.items[0].name
	if home, c := s.class(m, owner, depth); c != nil {
		return home, c.member(e.name)
	}
	if imp, ok := m.imports[owner]; ok {
		dotted := imp.module
		if imp.name != "" {
			dotted = strings.TrimSuffix(imp.module, ".") + "." + imp.name
		}
		return s.global(s.module(m.file, dotted), e.name, depth+1)
	}
	return nil, nil
}

func (s *source) global(m *module, name string, depth int) (*module, *binding) {
	if m == nil || depth > maxDepth {
		return nil, nil
	}
	if b, ok := m.assigns[name]; ok {
		return m, b
	}
	if imp, ok := m.imports[name]; ok && imp.name != "" {
		return s.global(s.module(m.file, imp.module), imp.name, depth+1)
	}
	return nil, nil
}

// class finds a class by its name in m or through an import.
func (s *source) class(m *module, name string, depth int) (*module, *class) {
	if m == nil || depth > maxDepth {
		return nil, nil
	}
	for _, c := range m.classes {
		if c.name == name {
			return m, c
		}
	}
	if imp, ok := m.imports[name]; ok && imp.name != "" {
		return s.class(s.module(m.file, imp.module), imp.name, depth+1)
	}
	return nil, nil
}
