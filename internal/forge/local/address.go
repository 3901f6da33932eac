package local

import (
	"net/url"
	"reflect"
	"strings"
)

// addresses fills the fields of *v that have an "at" tag: root, then the tag.
// What GitHub describes has some dozen of them, which differ in nothing else.
func addresses(v any, root string) {
	fields := reflect.ValueOf(v).Elem()
	for i := range fields.NumField() {
		if at, ok := fields.Type().Field(i).Tag.Lookup("at"); ok {
			fields.Field(i).SetString(root + at)
		}
	}
}

// escaped is a path or a name as part of an address; its slashes stay.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
