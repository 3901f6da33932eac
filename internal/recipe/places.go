package recipe

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Places are where the fields of a YAML file stand.
type Places struct {
	name string
	root *yaml.Node
}

// Place is one field or list item: its 1-based line, that of the field's name
// where it has one, and whether its value is an explicit null.
type Place struct {
	Line int
	Null bool
}

// ReadPlaces reads a file for its lines alone; what it means is not checked.
// The name stands in errors and in At.
func ReadPlaces(src []byte, name string) (Places, error) {
	root, err := parseRoot(src, name)
	return Places{name, root}, err
}

// Find follows names of fields and, in lists, decimal indices from 0. It is
// false for what is not written.
func (p Places) Find(path ...string) (Place, bool) {
	n := p.root
	if n == nil {
		return Place{}, false
	}
	line := n.Line
	for _, step := range path {
		if line, n = below(n, step); n == nil {
			return Place{}, false
		}
	}
	return Place{Line: line, Null: null(n)}, true
}

// At is "file:line" of what Find finds, "" for what is not written.
func (p Places) At(path ...string) string {
	at, ok := p.Find(path...)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.name, at.Line)
}

// below is one step down: the line of a field's name or of an item, and the
// value there, nil when there is none.
func below(n *yaml.Node, step string) (int, *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i].Line, n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i].Line, n.Content[i]
		}
	}
	return 0, nil
}
