package bench

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/workspace"
)

// object writes one JSON object in the reference's spelling: one line, ", "
// and ": ", floats in their shortest form and always with a point or an
// exponent, everything but printable ASCII escaped. The first value that has
// no spelling is kept as the error.
type object struct {
	b   strings.Builder
	n   int
	err error
}

func (o *object) key(name string) {
	if o.n > 0 {
		o.b.WriteString(", ")
	}
	o.n++
	o.b.WriteString(quote(name))
	o.b.WriteString(": ")
}

func (o *object) str(name, v string)         { o.key(name); o.b.WriteString(quote(v)) }
func (o *object) integer(name string, v int) { o.key(name); o.b.WriteString(strconv.Itoa(v)) }
func (o *object) null(name string)           { o.key(name); o.b.WriteString("null") }
func (o *object) raw(name, v string)         { o.key(name); o.b.WriteString(v) }

func (o *object) float(name string, v float64) {
	o.key(name)
	o.b.WriteString(o.number(name, v))
}

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

func (o *object) integers(name string, vs []int) {
	spelled := make([]string, len(vs))
	for i, v := range vs {
		spelled[i] = strconv.Itoa(v)
	}
	o.raw(name, list(spelled))
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

func (o *object) String() string { return "{" + o.b.String() + "}" }

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
