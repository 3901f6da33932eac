package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Drop takes the entry at a path out: in a block mapping its whole lines, with
// everything below it and the comment behind it; in a flow mapping its text
// and one comma. Comments above it stay.
func (y *YAML) Drop(path ...string) error {
	e, err := y.find(path)
	if err != nil {
		return err
	}
	start, end, err := y.entryRange(e)
	if err != nil {
		return y.failed(e.key(), e.path, err)
	}
	y.edits = append(y.edits, Edit{Start: start, End: end, Old: string(y.at.src[start:end])})
	y.dropped = true
	e.m.Content = slices.Delete(e.m.Content, e.i, e.i+2)
	return nil
}

// DropEntry is the proven edit that takes one entry out of a YAML file.
func DropEntry(src []byte, file string, path ...string) (Edit, error) {
	y, err := EditYAML(src, file)
	if err != nil {
		return Edit{}, err
	}
	if err := y.Drop(path...); err != nil {
		return Edit{}, err
	}
	if _, err := y.Bytes(); err != nil {
		return Edit{}, err
	}
	return y.edits[0], nil
}

func (y *YAML) entryRange(e yamlEntry) (start, end int, err error) {
	if err := y.unreferenced(e); err != nil {
		return 0, 0, err
	}
	if err := unmerged(e.m, e.key().Value); err != nil {
		return 0, 0, err
	}
	if e.m.Style&yaml.FlowStyle != 0 {
		return y.flowRange(e)
	}
	return y.blockRange(e)
}

// unreferenced refuses an entry with an anchor that is used outside of it.
func (y *YAML) unreferenced(e yamlEntry) error {
	inside := map[*yaml.Node]bool{}
	for _, n := range []*yaml.Node{e.key(), e.value()} {
		walkNodes(n, func(n *yaml.Node) { inside[n] = true })
	}
	for _, a := range y.aliases {
		if inside[a.Alias] && !inside[a] {
			return fmt.Errorf("line %d uses its anchor &%s", a.Line, a.Value)
		}
	}
	return nil
}

// blockRange is the lines of an entry.
func (y *YAML) blockRange(e yamlEntry) (start, end int, err error) {
	k := e.key()
	if len(e.m.Content) == 2 {
		return 0, 0, errors.New("it is the only entry of its mapping, which would be empty; drop the mapping")
	}
	at, err := y.at.offset(k.Line, k.Column)
	if err != nil {
		return 0, 0, err
	}
	first := k.Line - 1
	start = y.at.starts[first]
	if len(bytes.Trim(y.at.src[start:at], " ")) > 0 {
		return 0, 0, errors.New("its key does not begin its line; write it on a line of its own first")
	}
	return start, y.at.lineEnd(y.lastLine(e.value(), first, at-start)), nil
}

// lastLine is the last line of a value whose key stands in line first behind
// indent blanks.
func (y *YAML) lastLine(v *yaml.Node, first, indent int) int {
	last := first
	if v.Kind == yaml.ScalarNode && v.Value == "" && v.Tag == "!!null" {
		return last
	}
	if end, err := y.end(v); err == nil {
		return max(first, y.at.lineOf(end-1))
	}
	for i := first + 1; i < len(y.at.starts); i++ {
		line := y.at.src[y.at.starts[i]:y.at.lineEnd(i)]
		rest := bytes.TrimLeft(line, " ")
		column := len(line) - len(rest)
		switch {
		case len(bytes.TrimSpace(rest)) == 0:
		case column > indent:
			last = i
		case rest[0] == '#': // belongs to the value only when more of it follows
		case column == indent && v.Kind == yaml.SequenceNode && rest[0] == '-' && len(rest) > 1 && space(rest[1]):
			last = i
		default:
			return last
		}
	}
	return last
}

var (
	commaOnly  = regexp.MustCompile(`^\s*,\s*$`)
	comma      = regexp.MustCompile(`^\s*,`)
	maybeColon = regexp.MustCompile(`^(\s*:)?`)
)

// flowRange is the text of an entry and the comma behind it, or before it when
// it is the last one.
func (y *YAML) flowRange(e yamlEntry) (start, end int, err error) {
	if start, err = y.at.offset(e.key().Line, e.key().Column); err != nil {
		return 0, 0, err
	}
	if end, err = y.entryEnd(e); err != nil {
		return 0, 0, err
	}
	var gap []byte
	from, to := start, end
	switch {
	case e.i+2 < len(e.m.Content):
		next := e.m.Content[e.i+2]
		if to, err = y.at.offset(next.Line, next.Column); err != nil {
			return 0, 0, err
		}
		gap = y.at.src[end:max(end, to)]
	case e.i > 0:
		if from, err = y.entryEnd(yamlEntry{m: e.m, i: e.i - 2}); err != nil {
			return 0, 0, err
		}
		gap = y.at.src[min(from, start):start]
	default:
		return from, to + len(comma.Find(y.at.src[end:])), nil
	}
	if !commaOnly.Match(gap) {
		return 0, 0, errors.New("more than a comma stands between it and its neighbour")
	}
	return from, to, nil
}

// entryEnd is where the text of an entry of a flow mapping ends.
func (y *YAML) entryEnd(e yamlEntry) (int, error) {
	v := e.value()
	if v.Kind != yaml.ScalarNode || v.Value != "" || v.Tag != "!!null" || v.Anchor != "" {
		return y.end(v)
	}
	end, err := y.end(e.key())
	if err != nil {
		return 0, err
	}
	return end + len(maybeColon.Find(y.at.src[end:])), nil
}
