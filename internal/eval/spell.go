package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any // nil, bool, int, float64, string, []string, []any or object
}

// spell writes a value the way the reference's files spell JSON: non-ASCII
// literal, floats with a decimal point, ", " and ": " on one line or, with an
// indent, one member on a line. It refuses numbers JSON does not have.
func spell(v any, indent string) ([]byte, error) {
	s := speller{indent: indent}
	s.value(v, 0)
	return s.out.Bytes(), s.err
}

type speller struct {
	out    bytes.Buffer
	indent string
	err    error
}

func (s *speller) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		s.out.WriteString("null")
	case bool:
		s.out.WriteString(strconv.FormatBool(v))
	case int:
		s.out.WriteString(strconv.Itoa(v))
	case float64:
		s.float(v)
	case string:
		s.text(v)
	case []string:
		s.group('[', ']', len(v), depth, func(i int) { s.text(v[i]) })
	case []any:
		s.group('[', ']', len(v), depth, func(i int) { s.value(v[i], depth+1) })
	case object:
		s.group('{', '}', len(v), depth, func(i int) {
			s.text(v[i].name)
			s.out.WriteString(": ")
			s.value(v[i].value, depth+1)
		})
	default:
		panic(fmt.Sprintf("eval: a %T has no spelling", v))
	}
}

func (s *speller) group(open, close byte, n, depth int, member func(i int)) {
	s.out.WriteByte(open)
	for i := range n {
		switch {
		case s.indent != "" && i > 0:
			s.out.WriteByte(',')
		case i > 0:
			s.out.WriteString(", ")
		}
		s.newline(depth + 1)
		member(i)
	}
	if n > 0 {
		s.newline(depth)
	}
	s.out.WriteByte(close)
}

func (s *speller) newline(depth int) {
	if s.indent != "" {
		s.out.WriteByte('\n')
		s.out.WriteString(strings.Repeat(s.indent, depth))
	}
}

func (s *speller) float(v float64) {
	text, finite := workspace.FloatText(v)
	if !finite {
		s.err = fmt.Errorf("%v is not a JSON number", v)
		return
	}
	s.out.WriteString(text)
}

// text spells a string; what is not valid UTF-8 becomes U+FFFD.
func (s *speller) text(v string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		s.err = err
		return
	}
	text := strings.TrimSuffix(b.String(), "\n")
	text = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029", `\ufffd`, "\ufffd").Replace(text)
	s.out.WriteString(text)
}
