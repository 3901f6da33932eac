package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpClient is a client of the binary over its standard streams.
type mcpClient struct {
	t       *testing.T
	session *sdk.ClientSession
	said    *bytes.Buffer // what the server said on standard error
}

func newMCPClient(t *testing.T, ws string, flags ...string) mcpClient {
	t.Helper()
	cmd := exec.Command("refit", append([]string{"mcp", "-C", ws}, flags...)...)
	c := mcpClient{t: t, said: &bytes.Buffer{}}
	cmd.Stderr = c.said
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	var err error
	if c.session, err = client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.session.Close(); err != nil {
			t.Errorf("it ended with %v\n%s", err, c.said)
		}
	})
	return c
}

// tools are the tools that are offered, by name.
func (c mcpClient) tools() map[string]*sdk.Tool {
	c.t.Helper()
	list, err := c.session.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]*sdk.Tool{}
	for _, tool := range list.Tools {
		all[tool.Name] = tool
	}
	return all
}

// toolAnswer is what a tool answers.
type toolAnswer struct {
	Code   int             `json:"code"`
	Result json.RawMessage `json:"result"`
	Cut    []string        `json:"cut"`
}

// call calls a tool and returns its answer, or the text of its error.
func (c mcpClient) call(name string, args map[string]any) (a toolAnswer, wrong string) {
	c.t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	res, err := c.session.CallTool(c.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return a, err.Error()
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok {
		c.t.Fatalf("%s: no text in the answer", name)
	}
	if res.IsError {
		return a, text.Text
	}
	data, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return a, ""
}

var (
	lookingTools = []string{"candidate_check_final", "candidate_list", "candidate_show", "compare", "doctor", "judgement_list", "matrix_explain",
		"results_measured", "results_query", "status", "why"}
	writingTools = []string{"candidate_advance", "candidate_stop", "judgement_answer"}
)

func toyForMCP(t *testing.T) string {
	t.Helper()
	ws := filepath.Join(t.TempDir(), "ws")
	if err := makeToy(t.Context(), ws, "io.refit.engine.source"); err != nil {
		t.Fatal(err)
	}
	return ws
}

func TestMCPOffersWritingToolsOnlyWhenAllowed(t *testing.T) {
	ws := toyForMCP(t)
	for _, x := range []struct {
		flags, want []string
	}{{nil, lookingTools}, {[]string{"--allow-write"}, slices.Sorted(slices.Values(slices.Concat(lookingTools, writingTools)))}} {
		c := newMCPClient(t, ws, x.flags...)
		tools := c.tools()
		if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, x.want) {
			t.Errorf("%v: tools %v, want %v", x.flags, got, x.want)
		}
		for name, tool := range tools {
			looks := slices.Contains(lookingTools, name)
			n := tool.Annotations
			if n == nil || n.ReadOnlyHint != looks || n.DestructiveHint == nil || *n.DestructiveHint != (name == "candidate_stop") || n.OpenWorldHint == nil {
				t.Errorf("%s: annotations %+v; want read only %v, and what it destroys", name, n, looks)
			}
			if tool.Description == "" || tool.OutputSchema == nil {
				t.Errorf("%s: description %q, output schema %v", name, tool.Description, tool.OutputSchema)
			}
		}
		if _, wrong := c.call("candidate_stop", map[string]any{"candidate": "x", "reason": "y"}); (x.flags == nil) != strings.Contains(wrong, "unknown tool") {
			t.Errorf("%v: stop: got %q", x.flags, wrong)
		}
	}
}

func TestMCPToolsAnswerWhatTheCommandsPrint(t *testing.T) {
	ws := toyForMCP(t)
	c := newMCPClient(t, ws)
	for _, x := range []struct {
		tool    string
		args    map[string]any
		command []string
	}{
		{"status", map[string]any{"offline": true}, []string{"status", "--offline", "--json"}},
		{"matrix_explain", map[string]any{"point": toyFamily + ":1"}, []string{"matrix", "explain", toyFamily + ":1", "--json"}},
		{"candidate_list", nil, []string{"candidate", "list", "--json"}},
		{"doctor", nil, []string{"doctor", "--json"}},
	} {
		got, wrong := c.call(x.tool, x.args)
		if wrong != "" || got.Code != 0 || got.Cut != nil {
			t.Errorf("%s: code %d, cut %v, error %q", x.tool, got.Code, got.Cut, wrong)
			continue
		}
		want, err := exec.Command("refit", append(x.command, "-C", ws)...).Output()
		if err != nil {
			t.Errorf("%v: %v", x.command, err)
		}
		if a, b := withoutTimes(t, got.Result), withoutTimes(t, want); a != b {
			t.Errorf("%s: got\n%s\nthe command prints\n%s", x.tool, a, b)
		}
	}
	for tool, want := range map[string]string{"results_measured": toyOldImage, "results_query": `"image":"` + toyOldImage + `"`, "judgement_list": "[]"} {
		if got, wrong := c.call(tool, nil); wrong != "" || !strings.Contains(string(got.Result), want) {
			t.Errorf("%s: got %.200s, error %q; want %s", tool, got.Result, wrong, want)
		}
	}
	if got, wrong := c.call("results_query", map[string]any{"run": 4711}); wrong != "" || string(got.Result) != "null" {
		t.Errorf("a run that is not stored: got %s, %q; want nothing", got.Result, wrong)
	}
}

// withoutTimes is a JSON value in one spelling, without what each call tells anew.
func withoutTimes(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if m, ok := v.(map[string]any); ok {
		delete(m, "at")
		if checks, ok := m["checks"].([]any); ok { // free space changes
			m["checks"] = slices.DeleteFunc(checks, func(c any) bool { return c.(map[string]any)["gate"] == "disk" })
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestMCPToolsFailWithTheCommandsWords(t *testing.T) {
	ws := toyForMCP(t)
	c := newMCPClient(t, ws, "--allow-write")
	for _, x := range []struct {
		tool    string
		args    map[string]any
		command []string
	}{
		{"matrix_explain", map[string]any{"point": "nosuch"}, []string{"matrix", "explain", "nosuch"}},
		{"candidate_check_final", map[string]any{"candidate": "nosuch"}, []string{"candidate", "check-final", "nosuch"}},
		{"candidate_advance", map[string]any{"candidate": "nosuch"}, []string{"candidate", "advance", "nosuch"}},
		{"candidate_stop", map[string]any{"candidate": "nosuch", "reason": "x"}, []string{"candidate", "stop", "nosuch", "--reason", "x"}},
		{"candidate_stop", map[string]any{"candidate": "nosuch", "reason": "x", "outcome": "validated"}, []string{"candidate", "stop", "nosuch", "--reason", "x", "--outcome", "validated"}},
		{"why", map[string]any{"pull": 99}, []string{"why", "99"}},
		{"compare", map[string]any{"old": "7", "new": "101"}, []string{"compare", "7", "101"}},
		{"compare", map[string]any{"old": "x", "new": "101"}, []string{"compare", "x", "101"}},
	} {
		_, got := c.call(x.tool, x.args)
		cmd := exec.Command("refit", append(x.command, "-C", ws)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		if want := strings.TrimSpace(said.String()); err == nil || got == "" || got != want {
			t.Errorf("%s %v: got %q, the command says %q (%v)", x.tool, x.args, got, want, err)
		}
	}
}

func TestMCPInputsAreStrict(t *testing.T) {
	c := newMCPClient(t, toyForMCP(t), "--allow-write")
	for name, x := range map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"unknown-field":   {"status", map[string]any{"offlne": true}, "offlne"},
		"missing-field":   {"candidate_show", map[string]any{}, "candidate"},
		"wrong-type":      {"why", map[string]any{"pull": "1"}, "pull"},
		"other-case":      {"candidate_show", map[string]any{"Candidate": "x"}, "andidate"},
		"no-such-pull":    {"why", map[string]any{"pull": 0}, "pull request 0: want its number"},
		"negative-days":   {"status", map[string]any{"stale": -1}, "stale -1: want a number of days"},
		"closed-question": {"judgement_answer", map[string]any{"question": "0123456789abcdef", "decision": "proceed", "reason": "x"}, `no question "0123456789abcdef" is open`},
	} {
		if _, wrong := c.call(x.tool, x.args); !strings.Contains(wrong, x.want) {
			t.Errorf("%s: got %q, want %q in it", name, wrong, x.want)
		}
	}
}

// No tool answers a secret, whatever it is asked.
func TestMCPTellsNoSecrets(t *testing.T) {
	for name, value := range canaries {
		t.Setenv(name, value)
	}
	ws := toyForMCP(t)
	c := newMCPClient(t, ws, "--allow-write")
	var all bytes.Buffer
	for _, name := range slices.Concat(lookingTools, writingTools) {
		args := map[string]map[string]any{
			"candidate_check_final": {"candidate": toyFamily}, "candidate_show": {"candidate": toyFamily}, "candidate_advance": {"candidate": toyFamily},
			"candidate_stop": {"candidate": toyFamily, "reason": "x"}, "compare": {"old": "101", "new": "101"}, "matrix_explain": {"point": toyFamily + ":1"},
			"why": {"pull": 1}, "judgement_answer": {"question": "x", "decision": "x", "reason": "x"},
		}[name]
		a, wrong := c.call(name, args)
		all.Write(a.Result)
		all.WriteString(wrong)
		if a.Result == nil && wrong == "" {
			t.Errorf("%s answered nothing", name)
		}
	}
	token, err := os.ReadFile(filepath.Join(ws, ".refit/token"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.session.Close(); err != nil { // nothing more is said
		t.Error(err)
	}
	secrets := append(slices.Collect(maps.Values(canaries)), strings.TrimSpace(string(token)))
	holds(t, "answers", all.Bytes(), secrets)
	holds(t, "standard error", c.said.Bytes(), secrets)
}
