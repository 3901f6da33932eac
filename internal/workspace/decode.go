package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder lays a YAML document over a struct that holds the defaults. It
// collects mistakes instead of stopping at the first, and remembers the line
// of each key that the file sets.
type decoder struct {
	name   string
	origin map[string]int // dotted key -> line
	errs   []mistake
}

type mistake struct {
	line int
	text string
}

func (d *decoder) fail(line int, format string, args ...any) {
	d.errs = append(d.errs, mistake{line, fmt.Sprintf(format, args...)})
}

// err joins the mistakes in the order of the file.
func (d *decoder) err() error {
	slices.SortFunc(d.errs, func(a, b mistake) int {
		return cmp.Or(a.line-b.line, strings.Compare(a.text, b.text))
	})
	var all []error
	for _, m := range d.errs {
		all = append(all, fmt.Errorf("%s:%d: %s", d.name, m.line, m.text))
	}
	return errors.Join(all...)
}

func (d *decoder) document(src []byte, into any) {
	if len(src) > maxConfig {
		d.fail(1, "larger than %d bytes", maxConfig)
		return
	}
	y := yaml.NewDecoder(bytes.NewReader(src))
	var doc, next yaml.Node
	if err := y.Decode(&doc); errors.Is(err, io.EOF) {
		return
	} else if err != nil {
		d.syntax(err)
		return
	}
	if err := y.Decode(&next); err == nil {
		d.fail(next.Line, "a second document")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	if root := follow(doc.Content[0]); root.Tag != "!!null" {
		d.mapping(root, "", reflect.ValueOf(into).Elem())
	}
}

var syntaxLine = regexp.MustCompile(`^(?s)yaml: (?:line (\d+): )?(.*)$`)

func (d *decoder) syntax(err error) {
	m := syntaxLine.FindStringSubmatch(err.Error())
	if m == nil {
		d.fail(1, "%v", err)
		return
	}
	line, _ := strconv.Atoi(m[1])
	d.fail(max(line, 1), "%s", m[2])
}

func (d *decoder) mapping(n *yaml.Node, key string, into reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, key, "a mapping")
		return
	}
	fields, names := map[string]reflect.Value{}, []string{}
	for i := range into.NumField() {
		tag := into.Type().Field(i).Tag.Get("yaml")
		fields[tag], names = into.Field(i), append(names, tag)
	}
	d.pairs(n, key, func(k, v *yaml.Node, full string) {
		field, ok := fields[k.Value]
		if !ok {
			d.unknown(k.Line, "key", k.Value, names)
			return
		}
		d.value(v, full, field)
		d.origin[full] = k.Line
	})
}

// pairs visits the entries of a mapping whose keys are text and set once.
func (d *decoder) pairs(n *yaml.Node, key string, visit func(k, v *yaml.Node, full string)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], follow(n.Content[i+1])
		switch {
		case k.Kind != yaml.ScalarNode:
			d.fail(k.Line, "%s: a key that is no text", orFile(key))
		case seen[k.Value]:
			d.fail(k.Line, "key %q is set twice", k.Value)
		default:
			seen[k.Value] = true
			visit(k, v, dotted(key, k.Value))
		}
	}
}

func (d *decoder) unknown(line int, what, word string, known []string) {
	if near := Closest(word, known); near != "" {
		d.fail(line, "unknown %s %q (did you mean %q?)", what, word, near)
		return
	}
	d.fail(line, "unknown %s %q (known: %s)", what, word, strings.Join(known, ", "))
}

func (d *decoder) value(n *yaml.Node, key string, into reflect.Value) {
	switch into.Kind() {
	case reflect.Struct:
		if n.Tag != "!!null" { // a key whose children are all commented out
			d.mapping(n, key, into)
		}
	case reflect.Slice:
		d.list(n, key, into)
	case reflect.Map:
		d.words(n, key, into)
	case reflect.String:
		if d.scalar(n, key, "!!str", "text") {
			into.SetString(n.Value)
		}
	case reflect.Bool:
		if d.scalar(n, key, "!!bool", "true or false") {
			into.SetBool(strings.EqualFold(n.Value, "true"))
		}
	case reflect.Int:
		d.integer(n, key, into)
	}
}

func (d *decoder) integer(n *yaml.Node, key string, into reflect.Value) {
	if !d.scalar(n, key, "!!int", "a whole number") {
		return
	}
	i, err := strconv.Atoi(n.Value)
	if err != nil || i < 0 || i > 1<<30 {
		d.fail(n.Line, "%s: want a whole number from 0 to %d, got %s", key, 1<<30, n.Value)
		return
	}
	into.SetInt(int64(i))
}

func (d *decoder) list(n *yaml.Node, key string, into reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, key, "a list of texts")
		return
	}
	out := []string{}
	for _, item := range n.Content {
		if item = follow(item); d.scalar(item, key, "!!str", "a list of texts") {
			out = append(out, item.Value)
		}
	}
	into.Set(reflect.ValueOf(out))
}

func (d *decoder) words(n *yaml.Node, key string, into reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, key, "a mapping of texts")
		return
	}
	out := map[string]string{}
	d.pairs(n, key, func(k, v *yaml.Node, full string) {
		if d.scalar(v, full, "!!str", "text") {
			out[k.Value] = v.Value
		}
		d.origin[full] = k.Line
	})
	into.Set(reflect.ValueOf(out))
}

func (d *decoder) scalar(n *yaml.Node, key, tag, want string) bool {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == tag {
		return true
	}
	d.wrong(n, key, want)
	return false
}

func (d *decoder) wrong(n *yaml.Node, key, want string) {
	got := "nothing"
	switch {
	case n.Kind == yaml.MappingNode:
		got = "a mapping"
	case n.Kind == yaml.SequenceNode:
		got = "a list"
	case n.ShortTag() == "!!int" || n.ShortTag() == "!!float":
		got = "the number " + n.Value
	case n.ShortTag() != "!!null":
		got = strconv.Quote(n.Value)
	}
	d.fail(n.Line, "%s: want %s, got %s", orFile(key), want, got)
}

// follow resolves an alias. The schema is finite, so a cycle cannot be walked.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func dotted(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func orFile(key string) string {
	if key == "" {
		return "the file"
	}
	return key
}
