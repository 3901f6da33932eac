package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds every YAML file read here, in bytes.
const maxFile = 64 << 20

// document is one YAML file being read strictly. It collects mistakes with
// their places so that a reader sees all of them at once.
type document struct {
	name     string
	mistakes []mistake
	quiet    bool // paths are not wanted
}

type mistake struct {
	line, column int
	text         string
}

// parseRoot reads the single YAML document of src. An empty document gives nil.
func parseRoot(src []byte, name string) (*yaml.Node, error) {
	if len(src) > maxFile {
		return nil, fmt.Errorf("%s: %d bytes, more than the limit of %d", name, len(src), maxFile)
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(name, err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, fmt.Errorf("%s:%d: a second YAML document is not allowed", name, more.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(name, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// yamlError puts the file in front of the library's "yaml: line 3: ...".
func yamlError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, after
		}
	}
	if slices.ContainsFunc(grammarErrors, func(end string) bool { return strings.HasSuffix(text, end) }) {
		line++
	}
	if line == 0 {
		return fmt.Errorf("%s: %s", name, text)
	}
	return fmt.Errorf("%s:%d: %s", name, line, text)
}

// grammarErrors are the messages of the library's parser, which counts lines
// from 0 and leaves the first one out; its scanner counts from 1. Some stand in
// the line where the broken list or mapping begins.
var grammarErrors = []string{
	"did not find expected node content", "did not find expected '-' indicator", "did not find expected key",
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected <document start>",
	"found undefined tag handle",
}

// fail records a mistake at n. path names the object, rule what it must be.
func (d *document) fail(n *yaml.Node, path, rule string, args ...any) {
	text := fmt.Sprintf(rule, args...)
	if path != "" {
		text = path + ": " + text
	}
	d.mistakes = append(d.mistakes, mistake{n.Line, n.Column, text})
}

// err joins the mistakes in file order; nil when there are none.
func (d *document) err() error {
	slices.SortStableFunc(d.mistakes, func(a, b mistake) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	errs := make([]error, len(d.mistakes))
	for i, m := range d.mistakes {
		errs[i] = fmt.Errorf("%s:%d:%d: %s", d.name, m.line, m.column, m.text)
	}
	return errors.Join(errs...)
}

// mapping is a YAML mapping whose fields are taken one by one; what is left
// over is unknown.
type mapping struct {
	d      *document
	node   *yaml.Node
	path   string
	keys   []*yaml.Node
	few    []*yaml.Node          // values in the order of keys
	values map[string]*yaml.Node // instead, where there are many
	taken  []string
}

// mapping opens n as a mapping of string keys. Repeated keys, merge keys and
// aliases are mistakes; nil means that n cannot be read at all.
func (d *document) mapping(n *yaml.Node, path string) *mapping {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "want a mapping, got %s", describe(n))
		return nil
	}
	fields := len(n.Content) / 2
	m := &mapping{d: d, node: n, path: path, keys: make([]*yaml.Node, 0, fields), few: make([]*yaml.Node, 0, min(fields, fewFields)), taken: make([]string, 0, fields+8)}
	if fields > fewFields {
		m.values = make(map[string]*yaml.Node, fields)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Tag == "!!merge":
			d.fail(k, path, "merge keys are not supported")
			continue
		case k.Kind != yaml.ScalarNode || k.Tag != "!!str" || oldBoolean(k):
			d.fail(k, path, "a key must be a string, got %s", describe(k))
			continue
		}
		if m.value(k.Value) != nil {
			first := slices.IndexFunc(m.keys, func(o *yaml.Node) bool { return o.Value == k.Value })
			d.fail(k, path, "key %q is written twice, first in line %d", k.Value, m.keys[first].Line)
			continue
		}
		m.keys = append(m.keys, k)
		if m.values != nil {
			m.values[k.Value] = v
		} else {
			m.few = append(m.few, v)
		}
	}
	return m
}

// fewFields are found faster by looking at each of them than by a map.
const fewFields = 32

// value is a field's value, nil when it is absent.
func (m *mapping) value(name string) *yaml.Node {
	if m.values != nil {
		return m.values[name]
	}
	for i, k := range m.keys {
		if k.Value == name {
			return m.few[i]
		}
	}
	return nil
}

// take returns the value of a field, nil when it is absent.
func (m *mapping) take(name string) *yaml.Node {
	m.taken = append(m.taken, name)
	return m.value(name)
}

// need is take for a required field; absence is a mistake.
func (m *mapping) need(name string) *yaml.Node {
	n := m.take(name)
	if n == nil {
		m.d.fail(m.node, m.path, "%s is missing", name)
	}
	return n
}

// has says whether the field is written, without taking it.
func (m *mapping) has(name string) bool { return m.value(name) != nil }

// at is the path of a field, for messages.
func (m *mapping) at(name string) string {
	if m.d.quiet {
		return ""
	}
	if m.path == "" {
		return name
	}
	return m.path + "." + name
}

// done reports every field that nobody took.
func (m *mapping) done() {
	for _, k := range m.keys {
		if !slices.Contains(m.taken, k.Value) {
			m.d.fail(k, m.path, "unknown field %q%s", k.Value, didYouMean(k.Value, m.taken))
		}
	}
}

// written lists the fields in file order.
func (m *mapping) written() []string {
	names := make([]string, len(m.keys))
	for i, k := range m.keys {
		names[i] = k.Value
	}
	return names
}

// sequence opens n as a list.
func (d *document) sequence(n *yaml.Node, path string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "want a list, got %s", describe(n))
		return nil
	}
	return n.Content
}

// describe names what n is in the words of a message.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "an alias (anchors and aliases are not supported)"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "null"
	}
	return fmt.Sprintf("%q", abridged(n.Value))
}

// abridged keeps messages short when a value is not.
func abridged(s string) string { return cut(s, 60) }

// cut keeps the first runes of a text.
func cut(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes]) + "..."
	}
	return s
}
