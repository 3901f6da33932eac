package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// DecodeStrict reads the one JSON value of src into v, for forms that are our
// own. Unlike encoding/json it refuses unknown and repeated keys, keys in
// another case, and whatever follows the value: two readers of one file must
// not see two different things. After an error v may hold a part.
func DecodeStrict(src []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("empty where a JSON value was expected")
		}
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	dec = json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	return checkKeys(dec, reflect.TypeOf(v), "")
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// checkKeys reads one valid value and looks at its keys. A type that reads
// itself knows its own keys; that none is repeated holds for it too.
func checkKeys(dec *json.Decoder, t reflect.Type, at string) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	for t != nil && t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if t != nil && (t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler)) {
		t = nil
	}
	switch tok {
	case json.Delim('{'):
		return checkObject(dec, t, at)
	case json.Delim('['):
		var elem reflect.Type
		if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			elem = t.Elem()
		}
		for i := 0; dec.More(); i++ {
			if err := checkKeys(dec, elem, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}

func checkObject(dec *json.Decoder, t reflect.Type, at string) error {
	known, elem := members(t)
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string) // the decoder gives nothing else here
		inside := strings.TrimPrefix(at+"."+key, ".")
		if seen[key] {
			return fmt.Errorf("key %q is repeated", inside)
		}
		seen[key] = true
		kind, ok := known[key]
		if known != nil && !ok {
			return fmt.Errorf("unknown key %q", inside)
		}
		if known == nil {
			kind = elem
		}
		if err := checkKeys(dec, kind, inside); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// members are the keys of a struct with their types, or nil and the one type
// that all values have; a nil type may hold anything.
func members(t reflect.Type) (known map[string]reflect.Type, elem reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		if t != nil && t.Kind() == reflect.Map {
			elem = t.Elem()
		}
		return nil, elem
	}
	known = map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		known[name] = f.Type
	}
	return known, nil
}
