package starter

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// expression evaluates the part of GitHub's expression language that the workflow
// files use: texts, properties, contains, fromJSON, ==, !, && and ||.
// Source: https://docs.github.com/actions/reference/workflows-and-actions/expressions
type expression struct {
	t      *testing.T
	tokens []string
	github map[string]any
}

var token = regexp.MustCompile(`'(?:[^']|'')*'|&&|\|\||==|[!(),]|[A-Za-z_][A-Za-z_.*-]*`)

func evaluate(t *testing.T, src string, github map[string]any) any {
	t.Helper()
	e := &expression{t, token.FindAllString(src, -1), github}
	v := e.or()
	if len(e.tokens) > 0 {
		t.Fatalf("%q is left of %q", e.tokens, src)
	}
	return v
}

func (e *expression) next(want string) bool {
	if len(e.tokens) == 0 || e.tokens[0] != want {
		return false
	}
	e.tokens = e.tokens[1:]
	return true
}

func (e *expression) or() any {
	v := e.and()
	for e.next("||") {
		if w := e.and(); !truth(v) {
			v = w
		}
	}
	return v
}

func (e *expression) and() any {
	v := e.equal()
	for e.next("&&") {
		if w := e.equal(); truth(v) {
			v = w
		}
	}
	return v
}

func (e *expression) equal() any {
	v := e.value()
	if e.next("==") {
		return same(v, e.value())
	}
	return v
}

func (e *expression) value() any {
	if e.next("!") {
		return !truth(e.value())
	}
	if e.next("(") {
		v := e.or()
		e.must(")")
		return v
	}
	word := e.tokens[0]
	e.tokens = e.tokens[1:]
	if text, ok := strings.CutPrefix(word, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(text, "'"), "''", "'")
	}
	if !e.next("(") {
		return property(e.github, strings.Split(word, ".")[1:])
	}
	args := []any{e.or()}
	for e.next(",") {
		args = append(args, e.or())
	}
	e.must(")")
	return e.call(word, args)
}

func (e *expression) must(want string) {
	if !e.next(want) {
		e.t.Fatalf("want %q before %q", want, e.tokens)
	}
}

func (e *expression) call(name string, args []any) any {
	switch name {
	case "fromJSON":
		var v any
		if err := json.Unmarshal([]byte(args[0].(string)), &v); err != nil {
			e.t.Fatal(err)
		}
		return v
	case "contains":
		list, _ := args[0].([]any)
		for _, v := range list {
			if same(v, args[1]) {
				return true
			}
		}
		return false
	}
	e.t.Fatalf("no function %s", name)
	return nil
}

func property(v any, path []string) any {
	for i, name := range path {
		if list, ok := v.([]any); ok && name == "*" {
			var out []any
			for _, item := range list {
				out = append(out, property(item, path[i+1:]))
			}
			return out
		}
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func same(a, b any) bool { return strings.EqualFold(fmt.Sprint(a), fmt.Sprint(b)) }

func truth(v any) bool { return v != nil && v != false && v != "" }

// pullEvent is the github context of a pull request event; "-" is no label.
func pullEvent(action, label, from string, labels ...string) map[string]any {
	list := []any{}
	for _, l := range labels {
		list = append(list, map[string]any{"name": l})
	}
	event := map[string]any{"action": action, "pull_request": map[string]any{
		"number": "7", "labels": list, "draft": true, "head": map[string]any{"repo": map[string]any{"full_name": from}}}}
	if label != "-" {
		event["label"] = map[string]any{"name": label}
	}
	return map[string]any{"event_name": "pull_request", "repository": "example/recipes", "run_id": "17", "sha": "abc", "event": event}
}

var pushEvent = map[string]any{"event_name": "push", "repository": "example/recipes", "run_id": "17", "sha": "abc", "event": map[string]any{}}

// The sweep policy, as far as an event alone tells. Every pull request is a draft.
func TestSweepCondition(t *testing.T) {
	condition := inner(parsed(t, workflows(t)[".github/workflows/"+SweepFile]).Jobs["decide"].If)
	const here, full = "example/recipes", "full-sweep-fail-fast"
	for name, c := range map[string]struct {
		github map[string]any
		want   bool
	}{
		"push":                      {pushEvent, true},
		"labelled-draft":            {pullEvent("labeled", full, here, full), true},
		"new-commit":                {pullEvent("synchronize", "-", here, "documentation", full), true},
		"new-commit-trimmed":        {pullEvent("synchronize", "-", here, "sweep-enabled"), true},
		"new-commit-without-label":  {pullEvent("synchronize", "-", here), false},
		"irrelevant-label":          {pullEvent("labeled", "documentation", here, full, "documentation"), false},
		"irrelevant-label-gone":     {pullEvent("unlabeled", "documentation", here, full), false},
		"modifier-on-a-full-sweep":  {pullEvent("labeled", "all-evals", here, full, "all-evals"), true},
		"priority-on-a-full-sweep":  {pullEvent("unlabeled", "skip_queue", here, full), true},
		"modifier-alone":            {pullEvent("labeled", "all-evals", here, "all-evals"), false},
		"last-primary-removed":      {pullEvent("unlabeled", full, here), false},
		"fork":                      {pullEvent("labeled", full, "stranger/recipes", full), false},
		"fork-that-is-gone":         {pullEvent("synchronize", "-", "", full), false},
		"two-primaries-are-decided": {pullEvent("labeled", full, here, full, "sweep-enabled"), true},
	} {
		if got := truth(evaluate(t, condition, c.github)); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// What cancels a running sweep of the same pull request shares its group.
func TestSweepGroup(t *testing.T) {
	src := parsed(t, workflows(t)[".github/workflows/"+SweepFile]).Concurrency.Group
	group := func(github map[string]any) string {
		return regexp.MustCompile(`\$\{\{.*?\}\}`).ReplaceAllStringFunc(src, func(s string) string {
			return fmt.Sprint(evaluate(t, inner(s), github))
		})
	}
	const here, full = "example/recipes", "full-sweep-fail-fast"
	check := func(name string, github map[string]any, want string) {
		t.Helper()
		if got := group(github); got != want {
			t.Errorf("%s: got group %q, want %q", name, got, want)
		}
	}
	check("new commit, whatever its labels", pullEvent("synchronize", "-", here), "refit-sweep-7-active")
	check("relevant label", pullEvent("labeled", full, here, full), "refit-sweep-7-active")
	check("primary label removed", pullEvent("unlabeled", full, here), "refit-sweep-7-active")
	check("irrelevant label", pullEvent("labeled", "documentation", here, full), "refit-sweep-7-17")
	check("irrelevant label removed", pullEvent("unlabeled", "documentation", here, full), "refit-sweep-7-17")
	check("push", pushEvent, "refit-sweep-abc-active")
}

func inner(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "${{"), "}}")
}
