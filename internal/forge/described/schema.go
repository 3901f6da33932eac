package described

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are the schemas inside one document, compiled when they are needed.
type schemas struct {
	at  string
	doc map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

func newSchemas(at string, doc map[string]any) (*schemas, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7) // whose "$ref" stands alone, as OpenAPI's does
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: uriTemplate})
	if err := c.AddResource(at, doc); err != nil {
		return nil, fmt.Errorf("described: %w", err)
	}
	return &schemas{at: at, doc: doc, compiler: c}, nil
}

// expression is one of RFC 6570's.
var expression = regexp.MustCompile(`\{[+#./;?&]?[A-Za-z0-9_]+(,[A-Za-z0-9_]+)*\}`)

// uriTemplate takes expressions with operators, which the library does not:
// "{/sha}" is cut in two there.
func uriTemplate(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	plain := expression.ReplaceAllString(text, "x")
	if at, err := url.Parse(plain); err != nil || !at.IsAbs() || strings.ContainsAny(plain, "{}") {
		return fmt.Errorf("%q is no template of an address", text)
	}
	return nil
}

// check holds a value to the schema at a JSON pointer and returns what is wrong.
func (s *schemas) check(pointer []string, value any) []string {
	var b strings.Builder
	for _, key := range pointer {
		b.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key)))
	}
	s.mu.Lock()
	schema, err := s.compiler.Compile(s.at + "#" + b.String())
	s.mu.Unlock()
	if err != nil {
		return []string{"the schema cannot be read: " + err.Error()}
	}
	var wrong *jsonschema.ValidationError
	switch err := schema.Validate(value); {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return []string{err.Error()}
	}
	_, reasons, _ := strings.Cut(wrong.Error(), "\n") // the first line names the schema
	return strings.Split(reasons, "\n")
}

// resolve follows references to other places of the document.
func (s *schemas) resolve(pointer []string) ([]string, map[string]any) {
	for range 8 {
		var v any = s.doc
		for _, key := range pointer {
			v = step(v, key)
		}
		at, _ := v.(map[string]any)
		ref, ok := at["$ref"].(string)
		if !ok {
			return pointer, at
		}
		pointer = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	}
	return pointer, nil
}

func step(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// dialect turns OpenAPI 3.0's "nullable", which JSON Schema does not know, into
// a type or a value more. It changes v.
func dialect(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = dialect(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = dialect(v[key])
		}
		if v["nullable"] == true {
			return nullable(v)
		}
	}
	return v
}

func nullable(schema map[string]any) map[string]any {
	delete(schema, "nullable")
	return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, schema}}
}
