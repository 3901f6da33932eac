//go:build cgo

package engine

import (
	"strings"

	sitter "github.com/tree-sitter/go-tree-sitter"
)

// visit collects the calls and environment reads inside an expression or a
// simple statement.
func (r *reader) visit(n *sitter.Node, s scope) {
	if n == nil || s.depth > maxNesting {
		return
	}
	switch n.Kind() {
	case "call":
		r.call(n, s)
	case "subscript":
		if base := n.ChildByFieldName("value"); base != nil && strings.HasSuffix(r.text(base), "environ") {
			r.access(n.ChildByFieldName("subscript"))
		}
	case "comparison_operator":
		r.membership(n)
	case "function_definition", "class_definition", "if_statement", "for_statement", "block":
		r.statement(n, s.deeper())
		return
	}
	r.visitInside(n, s)
}

func (r *reader) visitInside(n *sitter.Node, s scope) {
	for _, c := range named(n) {
		r.visit(c, s.deeper())
	}
}

func (r *reader) call(n *sitter.Node, s scope) {
	f := n.ChildByFieldName("function")
	if f == nil {
		return
	}
	name := r.text(f)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	if !r.wanted(n, name) {
		return
	}
	c := call{expr: r.expr(n, 0), condition: s.condition}
	if s.class != nil {
		c.class = s.class.name
	}
	if s.function != nil {
		c.function = s.function.name
	}
	r.m.calls = append(r.m.calls, c)
}

// wanted keeps the calls that can matter: registrations, what actions do,
// environment reads, and calls that hand a parser on.
func (r *reader) wanted(n *sitter.Node, name string) bool {
	switch name {
	case "add_argument", "ArgumentParser", "setattr", "error", "exit", "print", "__init__", "__call__", "getenv", "get", "setdefault", "pop":
		return true
	}
	if strings.HasPrefix(name, "get_") && strings.Contains(name, "env") || strings.Contains(name, "warn") {
		return true
	}
	args := n.ChildByFieldName("arguments")
	if args == nil {
		return false
	}
	for _, a := range named(args) {
		if a.Kind() == "identifier" && (strings.HasSuffix(r.text(a), "parser") || strings.HasSuffix(r.text(a), "group")) {
			return true
		}
	}
	return false
}

func (r *reader) access(name *sitter.Node) {
	if name != nil && name.Kind() == "string" {
		r.m.accesses = append(r.m.accesses, access{r.expr(name, 0), line(name)})
	}
}

// membership reads "X" in os.environ.
func (r *reader) membership(n *sitter.Node) {
	all := named(n)
	if len(all) == 2 && all[0].Kind() == "string" && strings.HasSuffix(r.text(all[1]), "environ") {
		r.access(all[0])
	}
}

func (r *reader) collapsed(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	return collapsed(r.src[n.StartByte():n.EndByte()])
}

// expr reads an expression.
func (r *reader) expr(n *sitter.Node, depth int) *expr {
	if n == nil {
		return &expr{kind: otherExpr}
	}
	e := &expr{kind: otherExpr, text: r.collapsed(n), line: line(n)}
	if depth > maxDepth {
		return e
	}
	switch n.Kind() {
	case "identifier":
		e.kind, e.name = nameExpr, r.text(n)
	case "attribute":
		e.kind, e.name = attrExpr, r.text(n.ChildByFieldName("attribute"))
		e.items = []*expr{r.expr(n.ChildByFieldName("object"), depth+1)}
	case "integer", "float":
		e.kind, e.name = numberExpr, r.text(n)
	case "true", "false", "none", "ellipsis":
		e.kind, e.name = constExpr, r.text(n)
	case "string", "concatenated_string":
		if text, ok := r.stringValue(n); ok {
			e.kind, e.name = textExpr, text
		}
	case "list", "tuple", "set":
		e.kind = listExpr
		r.items(e, named(n), depth)
	case "type", "parenthesized_expression":
		if all := named(n); len(all) == 1 {
			return r.expr(all[0], depth+1)
		}
	default:
		r.compound(e, n, depth)
	}
	return e
}

func (r *reader) items(e *expr, nodes []*sitter.Node, depth int) {
	for _, c := range nodes {
		e.items = append(e.items, r.expr(c, depth+1))
	}
}

// compound reads the expressions that are built of others.
func (r *reader) compound(e *expr, n *sitter.Node, depth int) {
	switch n.Kind() {
	case "call":
		r.callParts(e, n, depth)
	case "subscript":
		e.kind = indexExpr
		r.items(e, named(n), depth)
	case "generic_type":
		e.kind = indexExpr
		for _, c := range named(n) {
			if c.Kind() == "type_parameter" {
				r.items(e, named(c), depth)
			} else {
				r.items(e, []*sitter.Node{c}, depth)
			}
		}
	case "binary_operator", "union_type":
		e.kind, e.name = binaryExpr, "|"
		if op := n.ChildByFieldName("operator"); op != nil {
			e.name = r.text(op)
		}
		r.items(e, named(n), depth)
	case "unary_operator":
		if strings.HasPrefix(r.text(n), "-") {
			e.kind = minusExpr
			r.items(e, named(n), depth)
		}
	case "list_splat", "dictionary_splat":
		e.kind = splatExpr
		r.items(e, named(n), depth)
	case "lambda":
		e.kind = lambdaExpr
		if b := n.ChildByFieldName("body"); b != nil {
			r.items(e, []*sitter.Node{b}, depth)
		}
	case "dictionary":
		r.dictionary(e, n, depth)
	}
}

func (r *reader) callParts(e *expr, n *sitter.Node, depth int) {
	f, args := n.ChildByFieldName("function"), n.ChildByFieldName("arguments")
	if f == nil || args == nil || args.Kind() != "argument_list" {
		return
	}
	e.kind = callExpr
	e.items = []*expr{r.expr(f, depth+1)}
	for _, a := range named(args) {
		if a.Kind() != "keyword_argument" {
			e.items = append(e.items, r.expr(a, depth+1))
			continue
		}
		name, value := a.ChildByFieldName("name"), a.ChildByFieldName("value")
		if name != nil && value != nil {
			e.keys = append(e.keys, keyword{r.text(name), r.expr(value, depth+1)})
		}
	}
}

func (r *reader) dictionary(e *expr, n *sitter.Node, depth int) {
	e.kind = dictExpr
	for _, p := range named(n) {
		key := p.ChildByFieldName("key")
		if p.Kind() != "pair" || key == nil {
			e.kind = otherExpr
			return
		}
		e.items = append(e.items, r.expr(key, depth+1))
	}
}

// stringValue is the text of a literal without interpolation. Bytes and
// formatted texts have none.
func (r *reader) stringValue(n *sitter.Node) (string, bool) {
	if n.Kind() == "concatenated_string" {
		var all strings.Builder
		for _, c := range named(n) {
			part, ok := r.stringValue(c)
			if !ok {
				return "", false
			}
			all.WriteString(part)
		}
		return all.String(), true
	}
	raw := false
	var b strings.Builder
	for _, c := range children(n) {
		switch c.Kind() {
		case "string_start":
			prefix := strings.ToLower(strings.TrimRight(r.text(c), `"'`))
			if strings.ContainsAny(prefix, "fb") {
				return "", false
			}
			raw = strings.Contains(prefix, "r")
		case "string_content":
			b.WriteString(unescape(r.text(c), raw))
		case "interpolation":
			return "", false
		}
	}
	return b.String(), true
}

// unescape undoes the common escapes of a Python text; rare ones stay as written.
func unescape(s string, raw bool) string {
	if raw || !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, `'`, "\\\n", "").Replace(s)
}
