package recipe

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// positions turns the YAML parser's lines and columns into bytes of its text.
type positions struct {
	src    []byte
	starts []int // where each line begins
}

func newPositions(src []byte) positions {
	at := 0
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		at = 3
	}
	p := positions{src, []int{at}}
	for n := lineBreak(src[at:]); n >= 0; n = lineBreak(src[at:]) {
		at += n
		p.starts = append(p.starts, at)
	}
	return p
}

// offset is the byte of a line and column, both from 1 and in characters.
func (p positions) offset(line, column int) (int, error) {
	if line < 1 || line > len(p.starts) {
		return 0, fmt.Errorf("line %d does not exist", line)
	}
	at := p.starts[line-1]
	for c := 1; c < column; c++ {
		if at >= len(p.src) {
			return 0, fmt.Errorf("column %d of line %d does not exist", column, line)
		}
		_, size := utf8.DecodeRune(p.src[at:])
		at += size
	}
	return at, nil
}

// lineOf is the line, from 0, that a byte stands in.
func (p positions) lineOf(at int) int {
	return sort.Search(len(p.starts), func(i int) bool { return p.starts[i] > at }) - 1
}

// lineEnd is where the line after a line, from 0, begins.
func (p positions) lineEnd(line int) int {
	if line+1 < len(p.starts) {
		return p.starts[line+1]
	}
	return len(p.src)
}

// start is the first byte of a node's own text, behind its anchor and tag.
func (p positions) start(n *yaml.Node) (int, error) {
	at, err := p.offset(n.Line, n.Column)
	if err != nil {
		return 0, err
	}
	for at < len(p.src) && (p.src[at] == '&' || p.src[at] == '!') && (n.Anchor != "" || n.Style&yaml.TaggedStyle != 0) {
		for at < len(p.src) && !space(p.src[at]) {
			at++
		}
		for at < len(p.src) && space(p.src[at]) {
			at++
		}
	}
	return at, nil
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

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
