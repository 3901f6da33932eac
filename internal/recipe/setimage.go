package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetImage replaces the image of one config key of a master file and leaves
// every other byte alone: comments, order, quotes, line ends. It refuses what
// it cannot do that way (an alias, an anchor used elsewhere, a tag, a block
// scalar, a value on several lines) with the reason, and reads its own result
// back before returning it.
func SetImage(src []byte, file, key, image string) ([]byte, error) {
	if err := checkImageText(image); err != nil {
		return nil, fmt.Errorf("%s: %s: set image: %w", file, key, err)
	}
	y, err := EditYAML(src, file)
	if err != nil {
		return nil, err
	}
	if err := y.setText(image, key, "image"); err != nil {
		return nil, err
	}
	return y.Bytes()
}

// setText is Set for what must be a text already.
func (y *YAML) setText(value string, path ...string) error {
	e, err := y.find(path)
	if err != nil {
		return err
	}
	if n := e.value(); n.Kind != yaml.AliasNode && (n.Kind != yaml.ScalarNode || n.Tag != "!!str") {
		return y.failed(n, path, fmt.Errorf("want a string, got %s", describe(n)))
	}
	return y.set(e, value)
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

// scalarEdit replaces the text between a scalar's quotes, in its own style.
// It demands that the text stands in the file as it would be written here.
func (p positions) scalarEdit(n *yaml.Node, value string) (Edit, error) {
	start, err := p.start(n)
	if err != nil {
		return Edit{}, err
	}
	quote, spelled := "", func(s string) string { return s }
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quote, spelled = `"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
	case n.Style&yaml.SingleQuotedStyle != 0:
		quote, spelled = "'", strings.NewReplacer("'", "''").Replace
	}
	old := spelled(n.Value)
	if !bytes.HasPrefix(p.src[start:], []byte(quote+old+quote)) {
		return Edit{}, errManyLines
	}
	start += len(quote)
	return Edit{start, start + len(old), old, spelled(value)}, nil
}
