package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// maxRecord bounds the JSON of one record, in bytes.
const maxRecord = 4 << 20

// decode reads one JSON value into v. Unlike encoding/json it refuses unknown
// and repeated keys, keys in another case, missing keys (unless the field says
// omitempty), null for anything but a pointer, and trailing data.
func decode(data []byte, v any) error {
	if len(data) > maxRecord {
		return fmt.Errorf("record of %d bytes: more than %d", len(data), maxRecord)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := walk(d, reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the record")
	}
	return json.Unmarshal(data, v)
}

func walk(d *json.Decoder, t reflect.Type, at string) error {
	tok, err := d.Token()
	if err != nil {
		return place(at, "%v", err)
	}
	if tok == nil {
		if t.Kind() != reflect.Pointer {
			return place(at, "null is not allowed")
		}
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch tok {
	case json.Delim('{'):
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
			return place(at, "an object is not allowed")
		}
		return walkObject(d, t, at)
	case json.Delim('['):
		if t.Kind() != reflect.Slice {
			return place(at, "an array is not allowed")
		}
		for i := 0; d.More(); i++ {
			if err := walk(d, t.Elem(), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	if k := t.Kind(); k == reflect.Slice || (k == reflect.Struct && t != reflect.TypeFor[time.Time]()) {
		return place(at, "a plain value is not allowed")
	}
	return nil
}

func walkObject(d *json.Decoder, t reflect.Type, at string) error {
	want := fields(t)
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return place(at, "%v", err)
		}
		key, _ := tok.(string)
		f, ok := want[key]
		if !ok {
			return place(at, "unknown key %q", key)
		}
		if seen[key] {
			return place(at, "key %q is repeated", key)
		}
		seen[key] = true
		if err := walk(d, f.typ, strings.TrimPrefix(at+"."+key, ".")); err != nil {
			return err
		}
	}
	for _, name := range order(t) {
		if !want[name].optional && !seen[name] {
			return place(at, "key %q is missing", name)
		}
	}
	_, err := d.Token()
	return err
}

type field struct {
	typ      reflect.Type
	optional bool
}

func fields(t reflect.Type) map[string]field {
	m := map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		m[name] = field{f.Type, strings.Contains(opts, "omitempty")}
	}
	return m
}

func order(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

func place(at, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if at == "" {
		return errors.New(msg)
	}
	return errors.New(at + ": " + msg)
}
