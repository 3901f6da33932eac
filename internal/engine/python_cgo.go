//go:build cgo

package engine

import (
	"bytes"
	"fmt"
	"strings"

	sitter "github.com/tree-sitter/go-tree-sitter"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
)

// parseModule reads one Python file. It never fails on bad Python: what the
// parser could not read is listed in broken.
func parseModule(file string, src []byte) (*module, error) {
	p := sitter.NewParser()
	defer p.Close()
	if err := p.SetLanguage(sitter.NewLanguage(python.Language())); err != nil {
		return nil, fmt.Errorf("python grammar: %w", err)
	}
	tree := p.Parse(src, nil)
	if tree == nil {
		return nil, fmt.Errorf("%s: python parser gave up", file)
	}
	defer tree.Close()
	r := &reader{src: src, m: &module{file: file, imports: map[string]importing{}, assigns: map[string]*binding{}}}
	root := tree.RootNode()
	if root.HasError() {
		r.errors(root, 0)
	}
	r.statements(root, scope{})
	r.openMutated()
	return r.m, nil
}

// openMutated marks module-level names whose list is changed in place
// somewhere in the file, as in NAME.append(x).
func (r *reader) openMutated() {
	for _, method := range []string{".append(", ".extend(", ".insert(", ".remove(", ".add(", ".update("} {
		rest := r.src
		for {
			i := bytes.Index(rest, []byte(method))
			if i < 0 {
				break
			}
			if b, ok := r.m.assigns[lastWord(rest[:i])]; ok {
				b.open = true
			}
			rest = rest[i+len(method):]
		}
	}
}

// lastWord is the identifier at the end of src, unless it is an attribute.
func lastWord(src []byte) string {
	i := len(src)
	for i > 0 && wordByte(src[i-1]) {
		i--
	}
	if i > 0 && src[i-1] == '.' {
		return ""
	}
	return string(src[i:])
}

func wordByte(c byte) bool {
	return c == '_' || digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// reader turns the syntax tree of one file into declarations.
type reader struct {
	src []byte
	m   *module
}

// scope is what surrounds a statement.
type scope struct {
	class     *class
	function  *function
	condition string
	depth     int
}

func (s scope) deeper() scope { s.depth++; return s }

// under adds a condition.
func (s scope) under(condition string) scope {
	s.condition = allOf(s.condition, condition)
	return s.deeper()
}

// maxNesting bounds the recursion over a syntax tree. Python itself stops at
// a hundred levels of indentation.
const maxNesting = 400

func (r *reader) errors(n *sitter.Node, depth int) {
	if n.IsError() || n.IsMissing() {
		r.m.broken = append(r.m.broken, line(n))
		return
	}
	if depth > maxNesting || !n.HasError() {
		return
	}
	for _, c := range children(n) {
		r.errors(c, depth+1)
	}
}

// children lists the direct children with a cursor: by index each would cost
// a walk over its elder siblings.
func children(n *sitter.Node) []*sitter.Node {
	if n == nil || n.ChildCount() == 0 {
		return nil
	}
	c := n.Walk()
	defer c.Close()
	nodes := n.Children(c)
	all := make([]*sitter.Node, len(nodes))
	for i := range nodes {
		all[i] = &nodes[i]
	}
	return all
}

func named(n *sitter.Node) []*sitter.Node {
	var all []*sitter.Node
	for _, c := range children(n) {
		if c.IsNamed() && c.Kind() != "comment" {
			all = append(all, c)
		}
	}
	return all
}

func line(n *sitter.Node) int { return int(n.StartPosition().Row) + 1 }

// text is the source of a node; a node that is missing has none.
func (r *reader) text(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	return n.Utf8Text(r.src)
}

// statements reads the statements of a block.
func (r *reader) statements(n *sitter.Node, s scope) {
	if n == nil || s.depth > maxNesting {
		return
	}
	for _, c := range named(n) {
		r.statement(c, s)
	}
}

func (r *reader) statement(n *sitter.Node, s scope) {
	switch n.Kind() {
	case "import_statement", "import_from_statement":
		r.imported(n)
	case "class_definition":
		r.class(n, s)
	case "function_definition":
		r.function(n, s)
	case "decorated_definition":
		if d := n.ChildByFieldName("definition"); d != nil {
			r.statement(d, s.deeper())
		}
	case "if_statement":
		r.branches(n, s)
	case "for_statement", "while_statement":
		r.loop(n, s)
	case "try_statement", "with_statement", "block", "except_clause", "finally_clause", "else_clause", "match_statement", "case_clause":
		inner := s.deeper()
		if n.Kind() == "except_clause" || n.Kind() == "case_clause" {
			inner = s.under("a " + n.Kind()[:len(n.Kind())-len("_clause")] + " clause")
		}
		r.statements(n, inner)
	case "expression_statement":
		r.expression(n, s)
	default:
		r.visit(n, s)
	}
}

// expression reads an assignment or a bare expression.
func (r *reader) expression(n *sitter.Node, s scope) {
	for _, c := range named(n) {
		switch c.Kind() {
		case "assignment":
			r.assignment(c, s)
		case "augmented_assignment":
			if l := c.ChildByFieldName("left"); l != nil && l.Kind() == "identifier" && s.function == nil {
				r.bind(r.text(l), nil, s)
			}
			r.visit(c, s)
		default:
			r.visit(c, s)
		}
	}
}

func (r *reader) assignment(n *sitter.Node, s scope) {
	left, typ, right := n.ChildByFieldName("left"), n.ChildByFieldName("type"), n.ChildByFieldName("right")
	var value *expr
	if right != nil {
		value = r.expr(right, 0)
	}
	switch {
	case left == nil || s.function != nil:
	case left.Kind() != "identifier":
	case typ != nil && s.class != nil && s.condition == "":
		s.class.fields = append(s.class.fields, field{r.text(left), r.expr(typ, 0), value, line(n)})
	case value != nil:
		r.bind(r.text(left), value, s)
	}
	if left != nil && left.Kind() == "subscript" { // a write, not a read
		for _, c := range children(left) {
			r.visitInside(c, s)
		}
	}
	if right != nil {
		r.visit(right, s)
	}
	if typ != nil {
		r.visit(typ, s)
	}
}

// bind notes a module or class level name. Anything but one plain assignment
// leaves it open: its elements are known only in part.
func (r *reader) bind(name string, value *expr, s scope) {
	names := r.m.assigns
	if s.class != nil {
		names = s.class.assigns
		if _, ok := names[name]; !ok {
			s.class.order = append(s.class.order, name)
		}
	}
	b, again := names[name]
	if !again {
		names[name] = &binding{value: value, open: s.condition != "" || value == nil, class: s.class}
		return
	}
	b.open = true
}

func (r *reader) branches(n *sitter.Node, s scope) {
	cond := r.collapsed(n.ChildByFieldName("condition"))
	r.visit(n.ChildByFieldName("condition"), s)
	r.statements(n.ChildByFieldName("consequence"), s.under(cond))
	before := negated(cond)
	for _, c := range named(n) {
		switch c.Kind() {
		case "elif_clause":
			r.visit(c.ChildByFieldName("condition"), s)
			own := r.collapsed(c.ChildByFieldName("condition"))
			r.statements(c.ChildByFieldName("consequence"), s.under(allOf(before, own)))
			before = allOf(before, negated(own))
		case "else_clause":
			r.statements(c.ChildByFieldName("body"), s.under(before))
		}
	}
}

func (r *reader) loop(n *sitter.Node, s scope) {
	head := "while " + r.collapsed(n.ChildByFieldName("condition"))
	if n.Kind() == "for_statement" {
		head = "for " + r.collapsed(n.ChildByFieldName("left")) + " in " + r.collapsed(n.ChildByFieldName("right"))
		r.visit(n.ChildByFieldName("right"), s)
	}
	r.statements(n.ChildByFieldName("body"), s.under(head))
}

func (r *reader) class(n *sitter.Node, s scope) {
	c := &class{name: r.text(n.ChildByFieldName("name")), assigns: map[string]*binding{}, line: line(n)}
	if bases := n.ChildByFieldName("superclasses"); bases != nil {
		for _, b := range named(bases) {
			if b.Kind() != "keyword_argument" {
				c.bases = append(c.bases, r.expr(b, 0))
			}
		}
	}
	r.m.classes = append(r.m.classes, c)
	r.statements(n.ChildByFieldName("body"), scope{class: c, depth: s.depth + 1})
}

func (r *reader) function(n *sitter.Node, s scope) {
	f := &function{name: r.text(n.ChildByFieldName("name")), params: map[string]*expr{}, line: line(n)}
	if s.class != nil {
		f.class = s.class.name
	}
	if params := n.ChildByFieldName("parameters"); params != nil {
		for _, p := range named(params) {
			name := p.ChildByFieldName("name")
			if name == nil {
				name = p
			}
			f.params[r.text(name)] = nil
			if v := p.ChildByFieldName("value"); v != nil {
				f.params[r.text(name)] = r.expr(v, 0)
			}
		}
	}
	r.m.funcs = append(r.m.funcs, f)
	s.function, s.condition = f, ""
	body := n.ChildByFieldName("body")
	text := r.text(body)
	if !telling(text) {
		return
	}
	if strings.Contains(text, "add_argument") {
		f.body = text
	}
	r.statements(body, s.deeper())
}

// telling reports whether a function can hold anything that counts. Most
// cannot, and walking them would take most of the time.
func telling(body string) bool {
	for _, mark := range []string{"add_argument", "env", "setattr", "parser", "group", "__call__", "nargs", "class "} {
		if strings.Contains(body, mark) {
			return true
		}
	}
	return false
}

func (r *reader) imported(n *sitter.Node) {
	from := ""
	if m := n.ChildByFieldName("module_name"); m != nil {
		from = r.text(m)
	}
	cursor := n.Walk()
	defer cursor.Close()
	names := n.ChildrenByFieldName("name", cursor)
	for i := range names {
		c := &names[i]
		name, local := r.text(c), r.text(c)
		if c.Kind() == "aliased_import" {
			name, local = r.text(c.ChildByFieldName("name")), r.text(c.ChildByFieldName("alias"))
		}
		if from == "" {
			r.m.imports[local] = importing{module: name}
		} else {
			r.m.imports[local] = importing{module: from, name: name}
		}
	}
}
