package described

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// parameter checks text against the schema of a parameter, as the number or the
// truth value that it may stand for.
func (s *schemas) parameter(pointer []string, text string) []string {
	wrong := s.check(pointer, text)
	if n, err := strconv.ParseFloat(text, 64); err == nil && len(wrong) > 0 {
		wrong = s.check(pointer, n)
	}
	if b, err := strconv.ParseBool(text); err == nil && len(wrong) > 0 {
		wrong = s.check(pointer, b)
	}
	return wrong
}

// unknown returns the keys of a value that none of the schemas at some pointers
// names, at any depth. A schema lets them pass; GitHub would ignore them.
func (s *schemas) unknown(pointers [][]string, value any, place string) []string {
	var forms [][]string
	for _, p := range pointers {
		forms = append(forms, s.forms(p)...)
	}
	var wrong []string
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			wrong = append(wrong, s.unknown(below(forms, "items"), item, fmt.Sprintf("%s/%d", place, i))...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			named, open := s.named(forms, key)
			if len(named) == 0 && !open {
				wrong = append(wrong, fmt.Sprintf("%s: key %q is not described", place, key))
			}
			wrong = append(wrong, s.unknown(named, value[key], place+"/"+key)...)
		}
	}
	return wrong
}

// forms are the schemas that one schema may mean.
func (s *schemas) forms(pointer []string) [][]string {
	at, schema := s.resolve(pointer)
	if schema == nil {
		return nil
	}
	forms := [][]string{at}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := schema[key].([]any)
		for i := range list {
			forms = append(forms, s.forms(append(slices.Clone(at), key, strconv.Itoa(i)))...)
		}
	}
	return forms
}

// named are the schemas of a property; open says that any key is welcome.
func (s *schemas) named(forms [][]string, key string) (named [][]string, open bool) {
	for _, form := range forms {
		at, schema := s.resolve(form)
		properties, _ := schema["properties"].(map[string]any)
		if _, ok := properties[key]; ok {
			named = append(named, append(slices.Clone(at), "properties", key))
		}
		more, told := schema["additionalProperties"]
		open = open || told && more != false || schema["type"] == "object" && properties == nil
	}
	return named, open
}

func below(forms [][]string, key string) [][]string {
	list := [][]string{}
	for _, f := range forms {
		list = append(list, append(slices.Clone(f), key))
	}
	return list
}
