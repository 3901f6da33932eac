package described

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// An Exchange is one request and its answer.
type Exchange struct {
	Method string
	Path   string // below the API's root, as it was sent
	Query  url.Values
	Body   []byte // of the request

	Status int
	Type   string // media type of the answer
	Answer []byte
}

func (x Exchange) String() string { return x.Method + " " + x.Path + " " + strconv.Itoa(x.Status) }

// Request returns what is wrong with the request: a path, a parameter or a key
// that GitHub does not know, or a value of another form.
func (d *Description) Request(x Exchange) []string {
	o, ok := d.find(x.Method, x.Path)
	if !ok {
		return []string{"GitHub has no such operation"}
	}
	wrong := d.parameters(o, x.Query)
	at, body := d.api.resolve(o.pointer("requestBody"))
	schema := append(slices.Clone(at), "content", "application/json", "schema")
	switch {
	case len(x.Body) == 0 && body["required"] == true:
		return append(wrong, "the request has no body")
	case len(x.Body) == 0:
		return wrong
	case body == nil:
		return append(wrong, "the request has a body, which is not described")
	}
	var value any
	if err := json.Unmarshal(x.Body, &value); err != nil {
		return append(wrong, "the request is not JSON: "+err.Error())
	}
	for _, reason := range d.api.check(schema, value) {
		wrong = append(wrong, "request: "+reason)
	}
	return append(wrong, d.api.unknown([][]string{schema}, value, "request")...)
}

// parameters checks those of the path and of the query.
func (d *Description) parameters(o operation, query url.Values) []string {
	_, about := d.api.resolve(o.pointer())
	list, _ := about["parameters"].([]any)
	var wrong, known []string
	for i := range list {
		at, parameter := d.api.resolve(o.pointer("parameters", strconv.Itoa(i)))
		name, _ := parameter["name"].(string)
		known = append(known, name)
		given, in := o.values[name], parameter["in"] == "path"
		if !in && !query.Has(name) {
			continue
		}
		if !in {
			given = query.Get(name)
		}
		if name == "created" { // described as one time; its text says that it is a search for times
			continue
		}
		for _, reason := range d.api.parameter(append(slices.Clone(at), "schema"), given) {
			wrong = append(wrong, fmt.Sprintf("parameter %s=%q: %s", name, given, reason))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			wrong = append(wrong, fmt.Sprintf("parameter %s is not described", name))
		}
	}
	return wrong
}

// Answer returns what is wrong with the answer.
func (d *Description) Answer(x Exchange) []string {
	o, ok := d.find(x.Method, x.Path)
	if !ok && x.Status == http.StatusNotFound {
		return d.refusal(x)
	}
	if !ok {
		return []string{"GitHub has no such operation"}
	}
	at, about := d.api.resolve(o.pointer("responses", strconv.Itoa(x.Status)))
	content, _ := about["content"].(map[string]any)
	_, described := content["application/json"]
	switch {
	case about == nil && x.Status >= 400:
		return d.refusal(x)
	case about == nil:
		return []string{"GitHub does not answer with this status here"}
	case strings.HasPrefix(x.Type, "application/vnd.github.raw"):
		return nil
	case !described && x.Status >= 400:
		return d.refusal(x)
	case !described && len(x.Answer) > 0:
		return []string{"the answer has a body, GitHub's has none"}
	case !described:
		return nil
	}
	return d.body(append(slices.Clone(at), "content", "application/json", "schema"), x)
}

// refusal checks an answer that says no; the description lists few of them, and
// all have one form.
func (d *Description) refusal(x Exchange) []string {
	return d.body([]string{"components", "schemas", "validation-error-simple"}, x)
}

func (d *Description) body(schema []string, x Exchange) []string {
	var value any
	if err := json.Unmarshal(x.Answer, &value); err != nil || x.Type != "application/json" {
		return []string{fmt.Sprintf("the answer is %s, not JSON", x.Type)}
	}
	return d.api.check(schema, value)
}

// Event returns what is wrong with the payload of an event.
func (d *Description) Event(name string, payload []byte) []string {
	var value struct{ Action string }
	var whole any
	if err := errors.Join(json.Unmarshal(payload, &value), json.Unmarshal(payload, &whole)); err != nil {
		return []string{"the payload is not JSON: " + err.Error()}
	}
	kind := name + "$event"
	if value.Action != "" {
		kind = name + "$" + value.Action
	}
	return d.events.check([]string{"definitions", kind}, whole)
}
