package recipe

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlEntry is one entry of a mapping: its key is m.Content[i].
type yamlEntry struct {
	m    *yaml.Node
	i    int
	path []string
}

func (e yamlEntry) key() *yaml.Node   { return e.m.Content[e.i] }
func (e yamlEntry) value() *yaml.Node { return e.m.Content[e.i+1] }

// find goes down a path of keys. Every mapping on the way must stand there itself and
// nowhere else.
func (y *YAML) find(path []string) (yamlEntry, error) {
	e := yamlEntry{}
	if len(path) == 0 {
		return e, fmt.Errorf("%s: want the keys that lead to an entry, got none", y.file)
	}
	n := y.root
	for depth, name := range path {
		if err := y.own(n); err != nil {
			return e, y.failed(n, path[:depth], err)
		}
		i, err := only(n, name)
		if err != nil {
			return e, y.failed(n, path[:depth], err)
		}
		e = yamlEntry{n, i, path[:depth+1]}
		n = e.value()
	}
	y.changed = append(y.changed, fmt.Sprintf("%d: %s", e.key().Line, strings.Join(path, ".")))
	return e, nil
}

// own refuses what is no mapping, or one that other places share.
func (y *YAML) own(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("it is the alias *%s; edit the place it stands for by hand", n.Value)
	case n.Kind != yaml.MappingNode:
		return fmt.Errorf("want a mapping, got %s", describe(n))
	}
	return y.unshared(n)
}

// only is the index of a key that must occur once.
func only(m *yaml.Node, key string) (int, error) {
	found := -1
	var known []string
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		known = append(known, k.Value)
		if k.Kind != yaml.ScalarNode || k.Value != key {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("key %q is written twice, in lines %d and %d", key, m.Content[found].Line, k.Line)
		}
		found = i
	}
	switch {
	case found >= 0:
		return found, nil
	case slices.Contains(known, "<<"):
		return 0, fmt.Errorf("key %q may come from a merge key, which an edit would not change here alone", key)
	}
	return 0, fmt.Errorf("key %q is missing%s", key, didYouMean(key, known))
}

// keyIndex is the index of a key, -1 when it is not written.
func keyIndex(m *yaml.Node, key string) int {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return i
		}
	}
	return -1
}

// unmerged refuses names that a merge key gives the mapping as well: without
// the entry the merged one would show, or a new one would hide it.
func unmerged(m *yaml.Node, names ...string) error {
	for _, name := range names {
		if n := mergedEntry(m, name, map[*yaml.Node]bool{}); n != nil {
			return fmt.Errorf("a merge key gives %q too, in line %d", name, n.Line)
		}
	}
	return nil
}

// mergedEntry is the key that merge keys of a mapping bring along. Mappings
// that were seen are not followed again: they may merge themselves.
func mergedEntry(m *yaml.Node, name string, seen map[*yaml.Node]bool) *yaml.Node {
	seen[m] = true
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != "<<" {
			continue
		}
		sources := []*yaml.Node{m.Content[i+1]}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, s := range sources {
			if s.Kind == yaml.AliasNode {
				s = s.Alias
			}
			if s.Kind != yaml.MappingNode || seen[s] {
				continue
			}
			if at := keyIndex(s, name); at >= 0 {
				return s.Content[at]
			}
			if n := mergedEntry(s, name, seen); n != nil {
				return n
			}
		}
	}
	return nil
}

// has says whether a path leads somewhere, by aliases and merge keys too.
func (y *YAML) has(path []string) bool {
	n := y.root
	for _, name := range path {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n.Kind != yaml.MappingNode {
			return false
		}
		if i := keyIndex(n, name); i >= 0 {
			n = n.Content[i+1]
			continue
		}
		return mergedEntry(n, name, map[*yaml.Node]bool{}) != nil
	}
	return true
}

// walkNodes visits a tree, aliases as what they are.
func walkNodes(n *yaml.Node, visit func(*yaml.Node)) {
	visit(n)
	for _, c := range n.Content {
		walkNodes(c, visit)
	}
}
