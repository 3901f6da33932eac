package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// YAML is a YAML file under edit. Every edit names its entry by the keys that
// lead to it, finds its bytes and changes no other: comments, order, quotes,
// line ends stay. What cannot be done that way is refused with the reason. The
// edits are made by Bytes, which proves them.
type YAML struct {
	file    string
	root    *yaml.Node // as it should read after the edits
	at      positions
	aliases []*yaml.Node
	edits   []Edit
	changed []string // "line: path" of each edit
	dropped bool     // comments may now stand beside other nodes
}

// EditYAML opens a file of one document. The error begins with file:line.
func EditYAML(src []byte, file string) (*YAML, error) {
	root, err := parseRoot(src, file)
	if err != nil {
		return nil, err
	}
	y := &YAML{file: file, root: root, at: newPositions(src)}
	if root == nil {
		return nil, fmt.Errorf("%s: the file is empty, want a mapping", file)
	}
	walkNodes(root, func(n *yaml.Node) {
		if n.Kind == yaml.AliasNode {
			y.aliases = append(y.aliases, n)
		}
	})
	return y, nil
}

// Set gives the scalar at a path another value, in the quotes it has. A text
// stays a text and a number a number.
func (y *YAML) Set(value string, path ...string) error {
	e, err := y.find(path)
	if err != nil {
		return err
	}
	return y.set(e, value)
}

func (y *YAML) set(e yamlEntry, value string) error {
	n := e.value()
	tag, err := y.replacing(n, value)
	if err != nil {
		return y.failed(n, e.path, err)
	}
	n.Value, n.Tag = value, tag
	return nil
}

// Rename gives the entry at a path another key.
func (y *YAML) Rename(key string, path ...string) error {
	e, err := y.find(path)
	if err != nil {
		return err
	}
	k := e.key()
	if i := keyIndex(e.m, key); i >= 0 && key != k.Value {
		return y.failed(k, e.path, fmt.Errorf("%q stands beside it already, in line %d", key, e.m.Content[i].Line))
	}
	if err := unmerged(e.m, k.Value, key); err != nil {
		return y.failed(k, e.path, err)
	}
	tag, err := y.replacing(k, key)
	if err == nil && tag != "!!str" {
		err = fmt.Errorf("its key is no text")
	}
	if err != nil {
		return y.failed(k, e.path, err)
	}
	k.Value = key
	return nil
}

// replacing puts another text in the place of a scalar's and returns the tag
// that it will have.
func (y *YAML) replacing(n *yaml.Node, text string) (tag string, err error) {
	if err := y.editable(n); err != nil {
		return "", err
	}
	if err := oneLine(text); err != nil {
		return "", err
	}
	if tag, err = y.tagOf(n, text); err != nil {
		return "", err
	}
	edit, err := y.at.scalarEdit(n, text)
	if err != nil {
		return "", err
	}
	y.edits = append(y.edits, edit)
	return tag, nil
}

// oneLine refuses texts that a plain or quoted scalar cannot hold as they are.
func oneLine(s string) error {
	if s == "" || strings.TrimSpace(s) != s {
		return fmt.Errorf("the new text %q is empty or begins or ends with white space", abridged(s))
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the new text %q holds a line break, a control or another unprintable character", abridged(s))
		}
	}
	return nil
}

// tagOf is what the scalar reads as with another text.
func (y *YAML) tagOf(n *yaml.Node, text string) (string, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		return n.Tag, nil
	}
	doc := yaml.Node{}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.ScalarNode {
		return "", fmt.Errorf("%q cannot stand there without quotes; write quotes around the old text first", abridged(text))
	}
	tag := doc.Content[0].Tag
	number := func(tag string) bool { return tag == "!!int" || tag == "!!float" }
	if tag != n.Tag && !(number(tag) && number(n.Tag)) {
		return "", fmt.Errorf("%s would become %s: %s instead of %s; edit it by hand if that is meant", describe(n), describe(doc.Content[0]), kindOf(tag), kindOf(n.Tag))
	}
	return tag, nil
}

// kindOf names what a scalar's tag stands for.
func kindOf(tag string) string {
	switch tag {
	case "!!str":
		return "a text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	}
	return "another kind of value"
}

// editable refuses scalars whose text is shared or is not where it seems.
func (y *YAML) editable(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("it is the alias *%s; edit the place it stands for by hand", n.Value)
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return fmt.Errorf("want a single value, got %s", describe(n))
	case n.Style&yaml.TaggedStyle != 0:
		return fmt.Errorf("it has the tag %s", n.Tag)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return errors.New("it is a block scalar; write it on one line first")
	}
	return y.unshared(n)
}

// unshared refuses nodes that stand in other places too.
func (y *YAML) unshared(n *yaml.Node) error {
	for _, a := range y.aliases {
		if a.Alias == n {
			return fmt.Errorf("it has the anchor &%s, which line %d uses, so that an edit would change that place too", n.Anchor, a.Line)
		}
	}
	return nil
}

// Edits lists the edits so far, unproven.
func (y *YAML) Edits() []Edit { return slices.Clone(y.edits) }

// Bytes is the file with its edits made. It is parsed again and must read as
// the old file does in everything that was not asked for.
func (y *YAML) Bytes() ([]byte, error) {
	where := y.file + ":" + strings.Join(y.changed, ", ")
	out, err := Splice(y.at.src, y.edits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	after, err := parseRoot(out, y.file)
	if err != nil {
		return nil, fmt.Errorf("%s: the result would not be valid: %w", where, err)
	}
	if !sameTree(y.root, after, y.dropped) {
		return nil, fmt.Errorf("%s: more than this entry would change", where)
	}
	return out, nil
}

func (y *YAML) failed(n *yaml.Node, path []string, err error) error {
	if len(path) == 0 {
		return fmt.Errorf("%s:%d: %w", y.file, n.Line, err)
	}
	return fmt.Errorf("%s:%d: %s: %w", y.file, n.Line, strings.Join(path, "."), err)
}
