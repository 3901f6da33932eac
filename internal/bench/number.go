package bench

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/workspace"
)

// object is one JSON object in the reference's spelling: one line, ", " and
// ": ", floats in their shortest form and always with a point or an exponent,
// everything but printable ASCII escaped. A key that is written twice keeps
// its first place and its last value. The first value that has no spelling is
// kept as the error.
type object struct {
	keys   []string
	values map[string]string // spelled
	err    error
}

func (o *object) raw(name, spelled string) {
	if o.values == nil {
		o.values = map[string]string{}
	}
	if _, twice := o.values[name]; !twice {
		o.keys = append(o.keys, name)
	}
	o.values[name] = spelled
}

func (o *object) str(name, v string)         { o.raw(name, quote(v)) }
func (o *object) integer(name string, v int) { o.raw(name, strconv.Itoa(v)) }
func (o *object) flag(name string, v bool)   { o.raw(name, strconv.FormatBool(v)) }
func (o *object) null(name string)           { o.raw(name, "null") }

func (o *object) float(name string, v float64) { o.raw(name, o.number(name, v)) }

// optional writes null for nil.
func (o *object) optional(name string, v *float64) {
	if v == nil {
		o.null(name)
		return
	}
	o.float(name, *v)
}

func (o *object) number(name string, v float64) string {
	s, err := spell(v)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", name, err)
	}
	return s
}

func (o *object) integers(name string, vs []int) { o.raw(name, list(spellInts(vs))) }

func spellInts(vs []int) []string {
	spelled := make([]string, len(vs))
	for i, v := range vs {
		spelled[i] = strconv.Itoa(v)
	}
	return spelled
}

func (o *object) floats(name string, vs []float64) {
	spelled := make([]string, len(vs))
	for i, v := range vs {
		spelled[i] = o.number(name, v)
	}
	o.raw(name, list(spelled))
}

func (o *object) strings(name string, vs []string) {
	spelled := make([]string, len(vs))
	for i, v := range vs {
		spelled[i] = quote(v)
	}
	o.raw(name, list(spelled))
}

// object adds a nested object.
func (o *object) object(name string, in *object) {
	if o.err == nil {
		o.err = in.err
	}
	o.raw(name, in.String())
}

func (o *object) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range o.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(name))
		b.WriteString(": ")
		b.WriteString(o.values[name])
	}
	b.WriteByte('}')
	return b.String()
}

func list(spelled []string) string { return "[" + strings.Join(spelled, ", ") + "]" }

// spell is a float in the reference's spelling.
func spell(v float64) (string, error) {
	text, finite := workspace.FloatText(v)
	if !finite {
		return "null", fmt.Errorf("%v is no number", v)
	}
	return text, nil
}

// quote is a JSON string in ASCII.
func quote(s string) string {
	return workspace.ASCII(strings.ToValidUTF8(s, string(utf8.RuneError)))
}
