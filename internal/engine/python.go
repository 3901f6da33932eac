package engine

// The types in this file are all that the rest of the room knows of Python:
// a parser fills them, and another parser could take its place.

// Kinds of expr.
const (
	nameExpr   = "name"
	attrExpr   = "attribute" // items[0] . text after the dot in name
	textExpr   = "text"      // name is the value
	numberExpr = "number"    // name is the text
	constExpr  = "constant"  // True, False, None, ...
	listExpr   = "list"      // list, tuple or set
	dictExpr   = "dict"      // items are the keys
	callExpr   = "call"      // items[0] is called with the other items and keys
	indexExpr  = "index"     // items[0] [ other items ]
	binaryExpr = "binary"    // name is the operator
	minusExpr  = "minus"
	splatExpr  = "splat"  // * or ** in front of items[0]
	lambdaExpr = "lambda" // items[0] is the body
	otherExpr  = "other"
)

// expr is a Python expression as far as declarations need it.
type expr struct {
	kind  string
	name  string
	items []*expr
	keys  []keyword // of a call
	text  string    // source with white space collapsed
	line  int
}

type keyword struct {
	name  string
	value *expr
}

// key returns the keyword argument of that name, or nil.
func (e *expr) key(name string) *expr {
	for _, k := range e.keys {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

// args are the positional arguments of a call.
func (e *expr) args() []*expr {
	if e.kind != callExpr {
		return nil
	}
	return e.items[1:]
}

// last is the final part of a dotted name: c of a.b.c.
func (e *expr) last() string {
	if e != nil && (e.kind == nameExpr || e.kind == attrExpr) {
		return e.name
	}
	return ""
}

// callee is the last part of the name that a call calls.
func (e *expr) callee() string {
	if e == nil || e.kind != callExpr {
		return ""
	}
	return e.items[0].last()
}

// module is one parsed file.
type module struct {
	file     string
	imports  map[string]importing // by local name
	assigns  map[string]*binding  // module level
	classes  []*class
	funcs    []*function
	calls    []call
	accesses []access
	broken   []int // lines the parser could not make sense of
}

type importing struct {
	module string // dotted, with leading dots when relative
	name   string // what is imported from it; empty for a whole module
}

// binding is a name's value. An open one may have more elements at run time.
type binding struct {
	value *expr
	open  bool
	class *class // whose body it stands in, if any
}

type class struct {
	name    string
	bases   []*expr
	fields  []field
	assigns map[string]*binding
	order   []string // names of assigns as written
	line    int
}

// member is the binding of a class-level name, annotated or not.
func (c *class) member(name string) *binding {
	if b, ok := c.assigns[name]; ok {
		return b
	}
	for _, f := range c.fields {
		if f.name == name && f.value != nil {
			return &binding{value: f.value, class: c}
		}
	}
	return nil
}

// field is an annotated assignment in a class body.
type field struct {
	name  string
	typ   *expr
	value *expr // nil without default
	line  int
}

type function struct {
	name   string
	class  string
	params map[string]*expr // nil without default
	body   string           // its text, if it registers arguments
	line   int
}

// call is a call somewhere in the file, with what surrounds it.
type call struct {
	*expr
	class     string
	function  string
	condition string
}

// access is os.environ["X"] read, or "X" in os.environ.
type access struct {
	name *expr
	line int
}
