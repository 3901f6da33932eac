package recipe

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
)

var errManyLines = errors.New("its text uses escapes or several lines; write it plainly on one line first")

// end is the byte behind a node that is written in one piece: an alias, a
// plain scalar on one line, a quoted one, a flow collection.
func (y *YAML) end(n *yaml.Node) (int, error) {
	start, err := y.at.start(n)
	if err != nil {
		return 0, err
	}
	end := -1
	switch {
	case n.Kind == yaml.AliasNode:
		end = behind(y.at.src, start, "*"+n.Value)
	case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0:
		end = flowEnd(y.at.src, start)
	case n.Kind != yaml.ScalarNode, n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		end = quotedEnd(y.at.src, start)
	default:
		end = behind(y.at.src, start, n.Value)
	}
	if end < 0 {
		return 0, errManyLines
	}
	return end, nil
}

// behind is the offset behind a text that must stand at start, else -1.
func behind(src []byte, start int, text string) int {
	if !bytes.HasPrefix(src[start:], []byte(text)) {
		return -1
	}
	return start + len(text)
}

// quotedEnd is the offset behind the scalar whose quote stands at start, -1
// when none does or it is not closed.
func quotedEnd(src []byte, start int) int {
	if start >= len(src) || src[start] != '"' && src[start] != '\'' {
		return -1
	}
	quote := src[start]
	for i := start + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote == '"':
			i++
		case src[i] == quote && quote == '\'' && i+1 < len(src) && src[i+1] == quote:
			i++
		case src[i] == quote:
			return i + 1
		}
	}
	return -1
}

// flowEnd is the offset behind the flow collection whose bracket stands at
// start, -1 when it is not closed. A quote begins a scalar only where one may
// begin: not inside a plain one.
func flowEnd(src []byte, start int) int {
	depth, fresh := 0, true
	for i := start; i < len(src); i++ {
		c := src[i]
		switch {
		case (c == '"' || c == '\'') && fresh:
			end := quotedEnd(src, i)
			if end < 0 {
				return -1
			}
			i, fresh = end-1, false
		case c == '#' && i > 0 && space(src[i-1]):
			n := lineBreak(src[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case c == '[' || c == '{':
			depth++
			fresh = true
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
			fresh = false
		case c == ',' || c == ':':
			fresh = true
		case !space(c):
			fresh = false
		}
		if depth == 0 {
			return -1
		}
	}
	return -1
}
