package matrix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Row is an ordered JSON object: one job of the matrix, or an object inside
// one. Its values are string, bool, int64, json.Number (for what is no int64),
// nil, []any and Row. The zero Row is empty. Copies share nothing only after Clone.
type Row struct{ fields []field }

type field struct {
	name  string
	value any
}

// Get returns a field's value and whether the row has the field.
func (r Row) Get(name string) (any, bool) {
	for _, f := range r.fields {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

// Has says whether the row has the field and it is not null.
func (r Row) Has(name string) bool {
	v, _ := r.Get(name)
	return v != nil
}

// Str returns a string field, "" when it is absent or something else.
func (r Row) Str(name string) string {
	v, _ := r.Get(name)
	s, _ := v.(string)
	return s
}

// Int returns an integer field, 0 when it is absent or something else.
func (r Row) Int(name string) int {
	v, _ := r.Get(name)
	i, _ := v.(int64)
	return int(i)
}

// Bool returns a boolean field, false when it is absent or something else.
func (r Row) Bool(name string) bool {
	v, _ := r.Get(name)
	b, _ := v.(bool)
	return b
}

// Row returns an object field, the empty row when it is absent or something else.
func (r Row) Row(name string) Row {
	v, _ := r.Get(name)
	o, _ := v.(Row)
	return o
}

// Names lists the fields in order.
func (r Row) Names() []string {
	names := make([]string, len(r.fields))
	for i, f := range r.fields {
		names[i] = f.name
	}
	return names
}

// Set replaces the field in its place or appends it. An int becomes an int64,
// lists of int or string become []any.
func (r *Row) Set(name string, value any) {
	value = plainValue(value)
	for i := range r.fields {
		if r.fields[i].name == name {
			r.fields[i].value = value
			return
		}
	}
	r.fields = append(r.fields, field{name, value})
}

// add appends a field that the row surely lacks.
func (r *Row) add(name string, value any) {
	r.fields = append(r.fields, field{name, plainValue(value)})
}

// Delete removes the fields that are there.
func (r *Row) Delete(names ...string) {
	r.fields = slices.DeleteFunc(r.fields, func(f field) bool { return slices.Contains(names, f.name) })
}

// Clone returns a deep copy.
func (r Row) Clone() Row {
	fields := make([]field, len(r.fields))
	for i, f := range r.fields {
		fields[i] = field{f.name, cloneValue(f.value)}
	}
	return Row{fields}
}

// changed returns a copy whose own fields can be set and deleted. Values are
// shared: they are never changed in place.
func (r Row) changed() Row {
	fields := make([]field, len(r.fields), len(r.fields)+4)
	copy(fields, r.fields)
	return Row{fields}
}

// Equal says whether both rows write the same JSON text.
func (r Row) Equal(other Row) bool {
	a, errA := r.MarshalJSON()
	b, errB := other.MarshalJSON()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// without returns a copy that lacks the named fields.
func (r Row) without(names ...string) Row {
	c := r.changed()
	c.Delete(names...)
	return c
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case Row:
		return v.Clone()
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloneValue(v[i])
		}
		return out
	}
	return v
}

func plainValue(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []int:
		out := make([]any, len(v))
		for i := range v {
			out[i] = int64(v[i])
		}
		return out
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	}
	return v
}

// concs returns the concurrencies of a row, whether it holds one or a list.
func (r Row) concs() []int {
	switch v, _ := r.Get("conc"); v := v.(type) {
	case int64:
		return []int{int(v)}
	case []any:
		var out []int
		for _, c := range v {
			if n, ok := c.(int64); ok {
				out = append(out, int(n))
			}
		}
		return out
	}
	return nil
}

func (r Row) multinode() bool { return r.Has("prefill") }
func (r Row) agentic() bool   { return r.Str("scenario-type") == Agentic }

// MarshalJSON writes the fields in order, compact, without HTML escapes.
func (r Row) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := writeValue(&b, r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeValue(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case Row:
		b.WriteByte('{')
		for i, f := range v.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeText(b, f.name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeValue(b, f.value); err != nil {
				return fmt.Errorf("field %s: %w", f.name, err)
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeValue(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	switch v := v.(type) { // nearly all there is, and the encoder is slow
	case int64:
		b.Write(strconv.AppendInt(b.AvailableBuffer(), v, 10))
		return nil
	case bool:
		b.Write(strconv.AppendBool(b.AvailableBuffer(), v))
		return nil
	case string:
		return writeText(b, v)
	}
	return encode(b, v)
}

func writeText(b *bytes.Buffer, s string) error {
	if !plainText(s) {
		return encode(b, s)
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
	return nil
}

func encode(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

// plainText says that JSON spells a text as it stands.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// UnmarshalJSON reads an object, keeping the order of its fields. A repeated
// field is an error.
func (r *Row) UnmarshalJSON(src []byte) error {
	if !json.Valid(src) { // also bounds the nesting, which readValue follows
		return errors.New("row: not valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	v, err := readValue(dec)
	if err != nil {
		return fmt.Errorf("row: %w", err)
	}
	row, ok := v.(Row)
	if !ok {
		return errors.New("row: not a JSON object")
	}
	*r = row
	return nil
}

func readValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return i, nil
		}
		return t, nil
	case json.Delim:
		if t == '{' {
			return readObject(dec)
		}
		return readList(dec)
	}
	return t, nil
}

func readObject(dec *json.Decoder) (Row, error) {
	var r Row
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return r, err
		}
		name, ok := t.(string)
		if !ok || seen[name] {
			return r, fmt.Errorf("field %q is repeated", name)
		}
		seen[name] = true
		v, err := readValue(dec)
		if err != nil {
			return r, err
		}
		r.fields = append(r.fields, field{name, v})
	}
	_, err := dec.Token()
	return r, err
}

func readList(dec *json.Decoder) ([]any, error) {
	list := []any{}
	for dec.More() {
		v, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}
