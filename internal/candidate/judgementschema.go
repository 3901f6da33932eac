package candidate

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/workspace"
)

//go:embed schema
var schemaFiles embed.FS

// SchemaNames are the forms that have a JSON Schema: the published records, a
// line of the ledger, and what a judgement and its answer look like.
func SchemaNames() []string {
	return append(report.SchemaNames(), "receipt", "judgement", "answer")
}

// Schema is the JSON Schema (draft 2020-12) of one of SchemaNames.
func Schema(name string) ([]byte, error) {
	if slices.Contains(report.SchemaNames(), name) {
		return report.Schema(name)
	}
	if !slices.Contains(SchemaNames(), name) {
		return nil, fmt.Errorf("no schema %q: there are %s", name, strings.Join(SchemaNames(), ", "))
	}
	return schemaFiles.ReadFile("schema/" + name + ".json")
}

// AnswerSchema is the schema of the answers to one question: that of every
// answer, narrowed to its identity, its decisions and its choices.
func (q Question) AnswerSchema() ([]byte, error) {
	src, err := Schema("answer")
	if err != nil {
		return nil, err
	}
	var s struct {
		Dialect     string         `json:"$schema"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		Type        string         `json:"type"`
		Additional  bool           `json:"additionalProperties"`
		Required    []string       `json:"required"`
		Properties  map[string]any `json:"properties"`
	}
	if err := workspace.DecodeStrict(src, &s); err != nil {
		return nil, fmt.Errorf("schema answer: %w", err)
	}
	var words, ids []string
	for _, d := range q.Decisions {
		words = append(words, d.Word)
	}
	for _, c := range q.Choices {
		ids = append(ids, c.ID)
	}
	s.Properties["question"] = map[string]any{"const": q.ID}
	s.Properties["decision"] = map[string]any{"enum": words}
	choices := map[string]any{"type": "array", "maxItems": 0}
	if len(ids) > 0 {
		choices = map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": ids}}
	}
	s.Properties["choices"] = choices
	return json.MarshalIndent(s, "", "  ")
}

// ParseAnswer reads an answer to the question strictly: its schema holds, no
// key is unknown or repeated, and choices stand only where they mean
// something. The error wraps ErrNoAnswer and says what is wrong.
func (q Question) ParseAnswer(data []byte) (Answer, error) {
	schema, err := q.AnswerSchema()
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	wrong := workspace.DecodeStrict(data, &a)
	if wrong == nil {
		if wrong, err = mismatch(schema, data); err != nil {
			return Answer{}, err
		}
	}
	if wrong == nil {
		wrong = q.fits(a)
	}
	if wrong != nil {
		return Answer{}, fmt.Errorf("%w: answer.json: %w", ErrNoAnswer, wrong)
	}
	return a, nil
}

// fits says where the choices of an answer do not go with the question or the
// decision.
func (q Question) fits(a Answer) error {
	for i, id := range a.Choices {
		if _, ok := q.choice(id); !ok || slices.Contains(a.Choices[:i], id) {
			return fmt.Errorf("choices: %q is unknown or repeated", id)
		}
	}
	switch {
	case a.Decision == stopWaiting && len(a.Choices) != 1:
		return fmt.Errorf("choices: %s needs exactly one reason", a.Decision)
	case a.Decision != proceed && a.Decision != stopWaiting && len(a.Choices) > 0:
		return fmt.Errorf("choices: %s takes none", a.Decision)
	}
	return nil
}

// mismatch says what of a JSON value a schema refuses.
func mismatch(schema, data []byte) (wrong, err error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err, nil
	}
	if wrong := resolved.Validate(value); wrong != nil {
		return errors.New(line(wrong.Error())), nil
	}
	return nil, nil
}
