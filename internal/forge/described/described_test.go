package described

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestOperations(t *testing.T) {
	d := Require(t)
	for request, want := range map[string]string{
		"GET /repos/o/r/pulls/7":                 "GET /repos/{owner}/{repo}/pulls/{pull_number}",
		"GET /repos/o/r/git/ref/heads/a/b":       "GET /repos/{owner}/{repo}/git/ref/{ref}",
		"GET /repos/o/r/contents/a/b.txt":        "GET /repos/{owner}/{repo}/contents/{path}",
		"GET /repos/o/r/commits/main":            "GET /repos/{owner}/{repo}/commits/{ref}",
		"GET /repos/o/r/issues/comments/7":       "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
		"GET /repos/o/r/pulls/7/merge/something": "",
		"PUT /repos/o/r/labels":                  "",
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := d.Operation(method, path); got != want {
			t.Errorf("%s: got %q, want %q", request, got, want)
		}
	}
}

// wants checks that the reasons are as many as wanted and hold the texts.
func wants(t *testing.T, name string, reasons []string, want ...string) {
	t.Helper()
	all := strings.Join(reasons, "\n")
	if len(want) == 0 && len(reasons) > 0 {
		t.Errorf("%s: got\n%s\nwant nothing wrong", name, all)
	}
	for _, text := range want {
		if !strings.Contains(all, text) {
			t.Errorf("%s: got\n%s\nwant %q", name, all, text)
		}
	}
}

func TestRequest(t *testing.T) {
	d := Require(t)
	check := func(name, method, path, query, body string, want ...string) {
		t.Helper()
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, name, d.Request(Exchange{Method: method, Path: "/repos/o/r" + path, Query: values, Body: []byte(body)}), want...)
	}
	check("as-it-should-be", "POST", "/pulls", "", `{"title":"t","head":"h","base":"b","draft":true}`)
	check("missing-key", "POST", "/pulls", "", `{"title":"t","head":"h"}`, "missing property 'base'")
	check("unknown-key", "POST", "/pulls", "", `{"head":"h","base":"b","colour":"red"}`, `key "colour" is not described`)
	check("unknown-key-deep-inside", "POST", "/git/trees", "", `{"tree":[{"path":"a","mood":"100644"}]}`, `request/tree/0: key "mood" is not described`)
	check("any-key-where-any-is-welcome", "POST", "/actions/workflows/a.yml/dispatches", "", `{"ref":"main","inputs":{"x":"y"}}`)
	check("wrong-type", "POST", "/issues/7/comments", "", `{"body":7}`, "got number, want string")
	check("no-body", "POST", "/issues/7/comments", "", ``, "the request has no body")
	check("body-too-much", "GET", "/pulls", "", `{}`, "which is not described")
	check("not-json", "POST", "/issues/7/comments", "", `{`, "not JSON")
	check("null-where-it-may-be", "POST", "/git/trees", "", `{"tree":[{"path":"a","mode":"100644","sha":null}]}`)
	check("paging", "GET", "/pulls", "state=all&page=2&per_page=100", "")
	check("unknown-parameter", "GET", "/pulls", "colour=red", "", "parameter colour is not described")
	check("parameter-not-in-its-list", "GET", "/pulls", "state=merged", "", `parameter state="merged"`)
	check("text-for-a-number", "GET", "/pulls/seven", "", "", `parameter pull_number="seven"`)
	check("no-such-path", "GET", "/pull/7", "", "", "no such operation")
}

func TestAnswer(t *testing.T) {
	d := Require(t)
	check := func(name, method, path string, status int, kind, body string, want ...string) {
		t.Helper()
		wants(t, name, d.Answer(Exchange{Method: method, Path: "/repos/o/r" + path, Status: status, Type: kind, Answer: []byte(body)}), want...)
	}
	const j = "application/json"
	label := `{"id":1,"node_id":"L","url":"https://example.org/l","name":"n","description":null,"color":"ff0000","default":false}`
	check("as-it-should-be", "POST", "/labels", http.StatusCreated, j, label)
	check("missing-key", "POST", "/labels", http.StatusCreated, j, strings.Replace(label, `"node_id":"L",`, "", 1), "missing property 'node_id'")
	check("null-where-none-may-be", "POST", "/labels", http.StatusCreated, j, strings.Replace(label, `"n"`, "null", 1), "got null, want string")
	check("no-address", "POST", "/labels", http.StatusCreated, j, strings.Replace(label, "https://example.org/l", "l b", 1), "not valid uri")
	check("other-status", "POST", "/labels", http.StatusOK, j, label, "does not answer with this status")
	check("not-json", "POST", "/labels", http.StatusCreated, "text/plain", "ok", "not JSON")
	check("nothing", "DELETE", "/git/refs/heads/a", http.StatusNoContent, "", "")
	check("something-for-nothing", "DELETE", "/git/refs/heads/a", http.StatusNoContent, j, "{}", "GitHub's has none")
	refusal := `{"message":"no","documentation_url":"https://example.org"}`
	check("refusal", "POST", "/labels", http.StatusUnprocessableEntity, j, refusal)
	check("refusal-that-is-not-listed", "POST", "/labels", http.StatusUnauthorized, j, refusal)
	check("refusal-without-a-message", "POST", "/labels", http.StatusUnauthorized, j, `{}`, "missing properties")
	check("unknown-and-not-found", "GET", "/nothing", http.StatusNotFound, j, refusal)
	check("unknown-and-found", "GET", "/nothing", http.StatusOK, j, "{}", "no such operation")
	check("archive", "GET", "/actions/artifacts/7/zip", http.StatusFound, "", "")
	check("archive-from-the-api-itself", "GET", "/actions/artifacts/7/zip", http.StatusOK, "application/zip", "PK", "does not answer with this status")
}

// GitHub's own examples of the events that the embedded forge sends are as its
// schemas say, and stop being so when a key is missing or added. Some are older
// than the newest keys of a repository.
func TestExamplesOfEvents(t *testing.T) {
	d := Require(t)
	examples, err := Examples("push", "pull_request", "workflow_dispatch")
	if err != nil {
		t.Fatal(err)
	}
	sent := []string{"labeled", "unlabeled", "synchronize", ""}
	checked := map[string]int{}
	for _, x := range examples {
		if !slices.Contains(sent, x.Action) {
			continue
		}
		name, example := x.Event+" "+x.Action, x.Payload
		checked[name]++
		older := func(reason string) bool { return strings.Contains(reason, "at '/repository': missing propert") }
		wants(t, name, slices.DeleteFunc(d.Event(x.Event, encode(t, example)), older))
		example["colour"] = "red"
		wants(t, name+" with a key more", d.Event(x.Event, encode(t, example)), "colour")
		delete(example, "colour")
		delete(example, "sender")
		wants(t, name+" with a key less", d.Event(x.Event, encode(t, example)), "missing property 'sender'")
	}
	for _, kind := range []string{"push ", "pull_request labeled", "pull_request unlabeled", "pull_request synchronize", "workflow_dispatch "} {
		if checked[kind] == 0 {
			t.Errorf("no example of %q was checked", kind)
		}
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
