package described

import (
	"slices"
	"strings"
)

// An operation is one method of one path of the API.
type operation struct {
	template string
	method   string // in lower case
	values   map[string]string
}

func (o operation) pointer(more ...string) []string {
	return append([]string{"paths", o.template, o.method}, more...)
}

// Operation names the operation of a method and a path below the API's root, as
// Watch.Seen does; "" when GitHub has none.
func (d *Description) Operation(method, path string) string {
	o, ok := d.find(method, path)
	if !ok {
		return ""
	}
	return o.String()
}

func (o operation) String() string { return strings.ToUpper(o.method) + " " + o.template }

// find looks up the operation of a method and a path below the API's root: of
// two that are as literal the first by name, for some paths are listed twice. The
// last parameter of a path may be a name with slashes.
func (d *Description) find(method, path string) (operation, bool) {
	best, fixed := operation{}, -1
	for template, methods := range d.paths {
		if _, ok := methods.(map[string]any)[strings.ToLower(method)]; !ok {
			continue
		}
		values, n, ok := match(strings.Split(template, "/"), strings.Split(path, "/"))
		if ok && (n > fixed || n == fixed && template < best.template) {
			best, fixed = operation{template, strings.ToLower(method), values}, n
		}
	}
	return best, fixed >= 0
}

// slashed are the parameters whose values may have slashes.
var slashed = []string{"ref", "path", "basehead", "branch"}

// match returns the parameters' values and how many parts are literal ones.
func match(template, path []string) (values map[string]string, fixed int, ok bool) {
	values = map[string]string{}
	for i, part := range template {
		name, parameter := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		switch {
		case i >= len(path):
			return nil, 0, false
		case parameter && i == len(template)-1 && slices.Contains(slashed, name):
			values[name] = strings.Join(path[i:], "/")
			return values, fixed, true
		case parameter:
			values[name] = path[i]
		case part == path[i]:
			fixed++
		default:
			return nil, 0, false
		}
	}
	return values, fixed, len(template) == len(path)
}
