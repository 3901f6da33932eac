package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed schema
var schemaFiles embed.FS

// SchemaNames are the records that have a JSON Schema: outcome (Receipt),
// baseline (Baseline), report (Attempt) and cleanup (Cleanup).
func SchemaNames() []string { return []string{"outcome", "baseline", "report", "cleanup"} }

// Schema is the JSON Schema (draft 2020-12) of a record, complete in itself. It
// refuses what the strict reader of that record refuses by form; what a record
// says about itself as a whole (counts that must agree, rows of its own run) is
// for the reader alone.
func Schema(name string) ([]byte, error) {
	if !slices.Contains(SchemaNames(), name) {
		return nil, fmt.Errorf("no schema %q: there are %s", name, strings.Join(SchemaNames(), ", "))
	}
	var schema map[string]any
	var parts map[string]any
	for file, into := range map[string]*map[string]any{name: &schema, "parts": &parts} {
		src, err := schemaFiles.ReadFile("schema/" + file + ".json")
		if err == nil {
			err = json.Unmarshal(src, into)
		}
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", file, err)
		}
	}
	defs := map[string]any{}
	take(schema, parts, defs)
	schema["$defs"] = defs
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // patterns stay readable
	enc.SetIndent("", "  ")
	err := enc.Encode(schema)
	return out.Bytes(), err
}

// take copies the parts that a schema refers to, and those that these refer to.
func take(schema any, parts, into map[string]any) {
	switch v := schema.(type) {
	case []any:
		for _, item := range v {
			take(item, parts, into)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ref, isText := v[key].(string)
			if key != "$ref" || !isText {
				take(v[key], parts, into)
				continue
			}
			name := strings.TrimPrefix(ref, "#/$defs/")
			if _, have := into[name]; !have {
				into[name] = parts[name]
				take(parts[name], parts, into)
			}
		}
	}
}
