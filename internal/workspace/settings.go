package workspace

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Setting is one effective value. Key is dotted, Value is YAML on one line,
// Origin is "default" or the place in the file, "refit.yaml:12".
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Effective prints settings as a refit.yaml that parses to the same
// configuration, each value's origin in a comment.
func Effective(settings []Setting) []byte {
	var b bytes.Buffer
	var open []string
	wide := 0
	for _, s := range settings {
		wide = max(wide, len(line(s)))
	}
	for _, s := range settings {
		path := strings.Split(s.Key, ".")
		for i, p := range path[:len(path)-1] {
			if i < len(open) && open[i] == p {
				continue
			}
			open = open[:i]
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", i), p)
			open = append(open, p)
		}
		open = open[:len(path)-1]
		fmt.Fprintf(&b, "%-*s  # %s\n", min(wide, 60), line(s), s.Origin)
	}
	return b.Bytes()
}

func line(s Setting) string {
	path := strings.Split(s.Key, ".")
	return strings.Repeat("  ", len(path)-1) + path[len(path)-1] + ": " + s.Value
}

// settings lists the leaves of c in the order of its fields.
func settings(c Config, name string, origin map[string]int) []Setting {
	var out []Setting
	var walk func(key string, v reflect.Value)
	walk = func(key string, v reflect.Value) {
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				walk(dotted(key, v.Type().Field(i).Tag.Get("yaml")), v.Field(i))
			}
			return
		}
		from := "default"
		if n, ok := origin[key]; ok {
			from = fmt.Sprintf("%s:%d", name, n)
		}
		out = append(out, Setting{key, flow(v.Interface()), from})
	}
	walk("", reflect.ValueOf(c))
	return out
}

var plain = regexp.MustCompile(`^[A-Za-z0-9./_-]+$`)

// flow spells a value as YAML on one line.
func flow(v any) string {
	switch v := v.(type) {
	case string:
		n := yaml.Node{Kind: yaml.ScalarNode, Value: v}
		if plain.MatchString(v) && n.ShortTag() == "!!str" && v[0] != '-' {
			return v
		}
		return YAMLText(v)
	case []string:
		var items []string
		for _, s := range v {
			items = append(items, flow(s))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]string:
		var items []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			items = append(items, flow(k)+": "+flow(v[k]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(v)
}
