package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Identity is the SHA-256, in hex, of the canonical JSON of v. It panics where
// Canonical has an error; data from outside goes through Canonical first.
func Identity(v any) string {
	text, err := Canonical(v)
	if err != nil {
		panic("identity of a value without canonical form: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Canonical spells v as the one JSON text that identities are hashed from:
// sorted keys, no spaces, non-ASCII as \uXXXX, floats in their shortest
// round-trip form with a point or an exponent, integers without.
//
// A Go float is a float even when whole (1.0); a json.Number is a float when
// its text has a point or an exponent. Structs and json.Marshalers go through
// encoding/json first, where a whole float has already lost its point. NaN,
// infinities and text that is not UTF-8 are errors.
func Canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := canonical(&b, reflect.ValueOf(v), 0); err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	return b.Bytes(), nil
}

const maxDepth = 1000 // a deeper value is taken for a cycle

func canonical(b *bytes.Buffer, v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	if n, ok := v.Interface().(json.Number); ok {
		return canonicalNumber(b, n)
	}
	if _, ok := v.Interface().(json.Marshaler); ok || v.Kind() == reflect.Struct {
		return canonicalMarshaled(b, v.Interface(), depth)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return canonical(b, v.Elem(), depth+1)
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return canonicalFloat(b, v.Float())
	case reflect.String:
		return canonicalString(b, v.String())
	case reflect.Slice, reflect.Array:
		return canonicalList(b, v, depth)
	case reflect.Map:
		return canonicalMap(b, v, depth)
	default:
		return fmt.Errorf("a %s has no json form", v.Type())
	}
	return nil
}

func canonicalMarshaled(b *bytes.Buffer, v any, depth int) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("a %T marshals to more than one value", v)
	}
	return canonical(b, reflect.ValueOf(plain), depth+1)
}

func canonicalList(b *bytes.Buffer, v reflect.Value, depth int) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return fmt.Errorf("a %s is neither text nor a list", v.Type())
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		b.WriteString("null")
		return nil
	}
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := canonical(b, v.Index(i), depth+1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func canonicalMap(b *bytes.Buffer, v reflect.Value, depth int) error {
	if v.IsNil() {
		b.WriteString("null")
		return nil
	}
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("a %s has keys that are no text", v.Type())
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := canonicalString(b, k.String()); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := canonical(b, v.MapIndex(k), depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func canonicalNumber(b *bytes.Buffer, n json.Number) error {
	text := n.String()
	if !json.Valid([]byte(text)) || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return fmt.Errorf("%q is no number", text)
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("number %s is out of range", text)
		}
		return canonicalFloat(b, f)
	}
	if text == "-0" {
		text = "0"
	}
	b.WriteString(text)
	return nil
}

func canonicalFloat(b *bytes.Buffer, f float64) error {
	text, finite := FloatText(f)
	if !finite {
		return fmt.Errorf("%v is no json number", f)
	}
	b.WriteString(text)
	return nil
}

func canonicalString(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("text %q is not utf-8", s)
	}
	b.WriteString(ASCII(s))
	return nil
}
