package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// SetImage replaces the image of one config key of a master file and leaves
// every other byte alone: comments, order, quotes, line ends. It refuses what
// it cannot do that way (anchors, tags, block scalars, a value on several
// lines) with the reason, and reads its own result back before returning it.
func SetImage(src []byte, file, key, image string) ([]byte, error) {
	if err := checkImageText(image); err != nil {
		return nil, fmt.Errorf("%s: %s: set image: %w", file, key, err)
	}
	before, err := parseRoot(src, file)
	if err != nil {
		return nil, err
	}
	target, err := imageNode(before, file, key)
	if err != nil {
		return nil, err
	}
	edit, err := scalarEdit(src, target, image)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s: set image: %w", file, target.Line, key, err)
	}
	out, err := Splice(src, []Edit{edit})
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s: set image: %w", file, target.Line, key, err)
	}
	after, err := parseRoot(out, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: set image to %q: the result is not valid: %w", file, key, image, err)
	}
	target.Value = image
	if !sameTree(before, after) {
		return nil, fmt.Errorf("%s:%d: %s: set image to %q: more than this value would change", file, target.Line, key, image)
	}
	return out, nil
}

// checkImageText refuses what no image reference contains; what the text
// means is for package image to say.
func checkImageText(s string) error {
	if s == "" {
		return errors.New("the new image is empty")
	}
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("the new image %q holds a space, a control or a non-ascii character", abridged(s))
		}
	}
	return nil
}

// imageNode finds the image of a config key.
func imageNode(root *yaml.Node, file, key string) (*yaml.Node, error) {
	if root == nil || root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: want a mapping of config keys", file)
	}
	if root.Anchor != "" {
		return nil, fmt.Errorf("%s:%d: the whole file has the anchor &%s, which an edit could change elsewhere", file, root.Line, root.Anchor)
	}
	entry, err := only(root, key)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, root.Line, err)
	}
	if err := editable(entry, yaml.MappingNode, "a mapping"); err != nil {
		return nil, fmt.Errorf("%s:%d: %s: %w", file, entry.Line, key, err)
	}
	value, err := only(entry, "image")
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s: %w", file, entry.Line, key, err)
	}
	if err := editable(value, yaml.ScalarNode, "a string"); err != nil {
		return nil, fmt.Errorf("%s:%d: %s: image: %w", file, value.Line, key, err)
	}
	return value, nil
}

// only returns the value of a key that must occur once.
func only(m *yaml.Node, key string) (*yaml.Node, error) {
	var found *yaml.Node
	var known []string
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		known = append(known, k.Value)
		if k.Kind != yaml.ScalarNode || k.Value != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("key %q is written twice", key)
		}
		found = m.Content[i+1]
	}
	if found == nil && slices.Contains(known, "<<") {
		return nil, fmt.Errorf("key %q may come from a merge key, which an edit would not change here alone", key)
	}
	if found == nil {
		return nil, fmt.Errorf("key %q is missing%s", key, didYouMean(key, known))
	}
	return found, nil
}

// editable refuses nodes whose text is shared or is not where it seems.
func editable(n *yaml.Node, kind yaml.Kind, want string) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("it is the alias *%s; edit the place it stands for by hand", n.Value)
	case n.Anchor != "":
		return fmt.Errorf("it has the anchor &%s, so that an edit could change other places", n.Anchor)
	case n.Kind != kind:
		return fmt.Errorf("want %s, got %s", want, describe(n))
	case n.Style&yaml.TaggedStyle != 0:
		return fmt.Errorf("it has the tag %s", n.Tag)
	case kind == yaml.ScalarNode && n.Tag != "!!str":
		return fmt.Errorf("want %s, got %s", want, describe(n))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return errors.New("it is a block scalar; write it on one line first")
	}
	return nil
}

// scalarEdit replaces the text between a scalar's quotes, in its own style.
// It demands that the text stands in the file exactly as it was read.
func scalarEdit(src []byte, n *yaml.Node, value string) (Edit, error) {
	start, err := offset(src, n.Line, n.Column)
	if err != nil {
		return Edit{}, err
	}
	quote := ""
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quote = `"`
		value = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
	case n.Style&yaml.SingleQuotedStyle != 0:
		quote = "'"
		value = strings.ReplaceAll(value, "'", "''")
	}
	if !bytes.HasPrefix(src[start:], []byte(quote+n.Value+quote)) {
		return Edit{}, errors.New("its text uses escapes or several lines; write it plainly on one line first")
	}
	start += len(quote)
	return Edit{start, start + len(n.Value), n.Value, value}, nil
}

// offset turns the parser's line and column, both from 1 and in characters,
// into a byte offset.
func offset(src []byte, line, column int) (int, error) {
	at := 0
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		at = 3
	}
	for l := 1; l < line; l++ {
		i := lineBreak(src[at:])
		if i < 0 {
			return 0, fmt.Errorf("line %d does not exist", line)
		}
		at += i
	}
	for c := 1; c < column; c++ {
		if at >= len(src) {
			return 0, fmt.Errorf("column %d of line %d does not exist", column, line)
		}
		_, size := utf8.DecodeRune(src[at:])
		at += size
	}
	return at, nil
}

// lineBreak is the length of the first line with its break, as YAML 1.1
// counts lines: also CR, NEL and the Unicode separators end one.
func lineBreak(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == '\r' && i+1 < len(src) && src[i+1] == '\n':
			return i + 2
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			return i + size
		}
		i += size
	}
	return -1
}

// sameTree compares two documents in everything but positions.
func sameTree(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Style != b.Style || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor ||
		a.HeadComment != b.HeadComment || a.LineComment != b.LineComment || a.FootComment != b.FootComment ||
		len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameTree(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
