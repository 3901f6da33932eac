package engine

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/workspace"
)

// integer is a whole number as decimal text, for Python's have no limit. The
// other values argparse may hold are nil for None, bool, float64, string, []any.
type integer string

// spell writes a value the way Parsed does: text as it is, everything else as
// JSON. None has no spelling; callers leave it out.
func spell(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return encode(v, "true", "false", "null")
}

// literal writes a value as a Python literal in one fixed spelling.
func literal(v any) string { return encode(v, "True", "False", "None") }

func encode(v any, yes, no, none string) string {
	switch v := v.(type) {
	case bool:
		if v {
			return yes
		}
		return no
	case integer:
		return string(v)
	case float64:
		return floatText(v)
	case string:
		return quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = encode(e, yes, no, none)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return none
}

// quote writes text in double quotes with the escapes that Python and JSON share.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// floatText is Python's repr of a float.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	text, _ := workspace.FloatText(f) // finite numbers are spelled alike
	return text
}

// parseInt reads what Python's int() accepts from text, ASCII digits only.
func parseInt(s string) (integer, bool) {
	s = strings.TrimSpace(s)
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	digits, ok := plainDigits(s)
	if !ok {
		return "", false
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return "0", true
	}
	return integer(sign + digits), true
}

// plainDigits removes single underscores between digits.
func plainDigits(s string) (string, bool) {
	if s == "" {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			b.WriteByte(c)
		case c == '_' && i > 0 && i+1 < len(s) && s[i-1] != '_' && s[i+1] != '_':
		default:
			return "", false
		}
	}
	return b.String(), true
}

// parseFloat reads what Python's float() accepts from text: decimal forms,
// infinities and nan, but not Go's hexadecimal floats.
func parseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	bare := strings.TrimLeft(s, "+-")
	if bare == "" || len(s)-len(bare) > 1 {
		return 0, false
	}
	switch strings.ToLower(bare) {
	case "inf", "infinity", "nan":
	default:
		if strings.ContainsAny(bare, "xXpP") || strings.ContainsAny(bare[:1], "eE_") {
			return 0, false
		}
		for i := 0; i < len(bare); i++ {
			if bare[i] == '_' && (i+1 == len(bare) || !digit(bare[i-1]) || !digit(bare[i+1])) {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, "_", "")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// parseLiteral reads a Python literal as literal writes it. Anything else,
// Suppressed and expressions included, is not one.
func parseLiteral(s string) (any, bool) {
	v, rest, ok := scanLiteral(s, 0)
	if !ok || strings.TrimSpace(rest) != "" {
		return nil, false
	}
	return v, true
}

// maxDepth bounds nesting wherever untrusted text is followed recursively.
const maxDepth = 32

func scanLiteral(s string, depth int) (v any, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	if s == "" || depth > maxDepth {
		return nil, s, false
	}
	switch s[0] {
	case '"':
		return scanText(s)
	case '[':
		return scanList(s[1:], depth)
	}
	end := strings.IndexAny(s, ",] ")
	if end < 0 {
		end = len(s)
	}
	word, rest := s[:end], s[end:]
	switch word {
	case "None":
		return nil, rest, true
	case "True", "False":
		return word == "True", rest, true
	}
	if !strings.ContainsAny(word, "0123456789") {
		return nil, s, false // inf and nan are names in Python source
	}
	if i, ok := parseInt(word); ok {
		return i, rest, true
	}
	if f, ok := parseFloat(word); ok {
		return f, rest, true
	}
	return nil, s, false
}

func scanText(s string) (any, string, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			text, err := strconv.Unquote(s[:i+1])
			return text, s[i+1:], err == nil && utf8.ValidString(text)
		}
	}
	return nil, s, false
}

func scanList(s string, depth int) (any, string, bool) {
	list := []any{}
	for {
		s = strings.TrimLeft(s, " ")
		if strings.HasPrefix(s, "]") {
			return list, s[1:], true
		}
		v, rest, ok := scanLiteral(s, depth+1)
		if !ok {
			return nil, s, false
		}
		list = append(list, v)
		s = strings.TrimLeft(rest, " ")
		if after, ok := strings.CutPrefix(s, ","); ok {
			s = after
		} else if !strings.HasPrefix(s, "]") {
			return nil, s, false
		}
	}
}
