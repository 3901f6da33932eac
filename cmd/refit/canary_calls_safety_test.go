package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

const (
	feedCanary    = "canaryCanaryFeed4722"    // in a document that a command is given
	commentCanary = "canaryCanaryComment4723" // in a comment on the pull request, and in its text
)

// canaryCalls are how every command is called among canaries. FAMILY, EVENT,
// OUT and FEED stand for the toy's. A command that is in no list of this file is
// named by TestSecretsStayWhereTheyAre: whoever adds one says how it is called.
var canaryCalls = map[string][]string{
	"refit candidate adopt":        {"FAMILY --reason Asked"},
	"refit candidate advance":      {"FAMILY", "FAMILY --json"},
	"refit candidate check-final":  {"FAMILY", "FAMILY --json", "FAMILY --matrix FEED"},
	"refit candidate check-stop":   {"FAMILY"},
	"refit candidate finish":       {"FAMILY", "FAMILY --json"},
	"refit candidate list":         {"", "--json"},
	"refit candidate recover":      {"", "--json"},
	"refit candidate release":      {"FAMILY --head 4f8e1d0c9b7a6f5e4d3c2b1a0f9e8d7c6b5a4f3e --reason Asked"},
	"refit candidate run":          {"FAMILY --agent /bin/false"},
	"refit candidate schema":       {"outcome"},
	"refit candidate show":         {"FAMILY", "FAMILY --json", "FAMILY --table"},
	"refit candidate stop":         {"FAMILY --reason Asked"},
	"refit candidate takeover":     {"FAMILY --reason Asked"},
	"refit capacity check":         {"--cluster a --status FEED", "--cluster a --status FEED --json"},
	"refit changelog add":          {"--config-key FAMILY --description Again --fragment canary"},
	"refit changelog canonicalize": {"--pull 12 --base HEAD"},
	"refit changelog check":        {"--base HEAD"},
	"refit changelog compile":      {""},
	"refit changelog resolve":      {"--pull 12"},
	"refit ci":                     {"run-sweep --event EVENT --decide", "run-sweep --event EVENT --out OUT --run-id 7"},
	"refit compare":                {"image:v1.0.0-box image:v2.0.0-box", "image:v1.0.0-box image:v2.0.0-box --json"},
	"refit config":                 {"", "--json"},
	"refit doctor":                 {"", "--json"},
	"refit init":                   {"--github --dry-run"},
	"refit lab down":               {"--dir lab"},
	"refit mcp":                    {""},
	"refit matrix check":           {"", "--json"},
	"refit matrix explain":         {"FAMILY:1 -v", "FAMILY:1 --json"},
	"refit matrix full-sweep":      {""},
	"refit matrix plan":            {""},
	"refit matrix test-config":     {"--config-keys FAMILY"},
	"refit status":                 {"--offline", "--offline --json"},
	"refit upgrade":                {"FAMILY --dry-run", "FAMILY --dry-run --json", "nosuch", "FAMILY --to v2.0.0-box"},
	"refit version":                {""},
	"refit wave plan":              {"", "--json --out PLAN", "--status FEED"},
	"refit wave run":               {"--plan PLAN --no-wait", "--plan PLAN --no-wait --json"},
	"refit wave select":            {"--plan PLAN", "--plan PLAN --json"},
	"refit why":                    {"1", "1 --json"},
}

// canaryChildren are the commands that others start; what they were given and
// what they left is looked at there. The value is the kind of process they are.
var canaryChildren = map[string]string{
	"refit bench": "bench", "refit eval": "eval", "refit sim": "sim", "refit job run": "job", "refit job wait-ready": "job",
}

// canaryElsewhere are the commands that are called in another way, with which.
var canaryElsewhere = map[string]string{
	"refit serve": "withserve calls it",
	"refit lab":   "it makes its workspace itself and is given no other",
}

// leaves are the commands that do something, by path.
func leaves(c *cobra.Command) []string {
	var out []string
	for _, sub := range c.Commands() {
		if sub.Hidden {
			continue
		}
		if sub.Example != "" || !sub.HasSubCommands() {
			out = append(out, sub.CommandPath())
		}
		out = append(out, leaves(sub)...)
	}
	return out
}

// everyCall lists the calls of all commands, in order: what makes a candidate
// comes first. A command without a call fails the test with its name.
func everyCall(t *testing.T) []string {
	t.Helper()
	paths := leaves(commands(env{os.Stdin, io.Discard, io.Discard, time.Now}))
	for _, lists := range []struct {
		known func(string) bool
		names []string
	}{
		{func(p string) bool { return slices.Contains(paths, p) }, slices.Concat(slices.Sorted(maps.Keys(canaryCalls)), slices.Sorted(maps.Keys(canaryChildren)), slices.Sorted(maps.Keys(canaryElsewhere)))},
		{func(p string) bool {
			return canaryCalls[p] != nil || canaryChildren[p] != "" || canaryElsewhere[p] != ""
		}, paths},
	} {
		for _, p := range lists.names {
			if !lists.known(p) {
				t.Errorf("%s: the commands and the calls among canaries differ in it: say how it is called", p)
			}
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Compare(later(a), later(b)) })
	var calls []string
	for _, p := range paths {
		for _, rest := range canaryCalls[p] {
			calls = append(calls, strings.TrimSpace(p+" "+rest))
		}
	}
	return calls
}

// later sorts commands: an upgrade first, what writes to the changelog last.
func later(path string) string {
	switch {
	case path == "refit upgrade":
		return "0"
	case isChangelog(path):
		return "2 " + path
	}
	return "1 " + path
}

func isChangelog(call string) bool { return strings.HasPrefix(call, "refit changelog ") }

// call runs one call in a workspace. A call that is wrong tells nothing.
func (c canary) call(t *testing.T, line string, said io.Writer) {
	t.Helper()
	words := strings.Fields(c.words.Replace(line))
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.ws, said, said
	_ = cmd.Run() // some are meant to end with an error
	if code := cmd.ProcessState.ExitCode(); code == exitUsage || code < 0 {
		t.Errorf("%s: exit code %d, it was not called as it is", line, code)
	}
}

// canary is a workspace with secrets all over it.
type canary struct {
	ws    string
	words *strings.Replacer
}

// newCanary puts a document with a secret and an event beside a workspace.
func newCanary(t *testing.T, ws, out string) canary {
	t.Helper()
	feed := filepath.Join(filepath.Dir(ws), "feed.json")
	document := fmt.Sprintf(`{"schemaVersion":6,"kind":"inferencex.status.clusters","generatedAt":%q,"token":%q,"data":{"available":true,"clusters":[{"id":"a","name":%q}]}}`,
		time.Now().UTC().Format(time.RFC3339), feedCanary, feedCanary)
	if err := os.WriteFile(feed, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	return canary{ws, strings.NewReplacer("FAMILY", toyFamily, "EVENT", pushEvent(t, ws), "OUT", out, "FEED", feed, "PLAN", filepath.Join(filepath.Dir(ws), "plan"))}
}

// comment writes a secret on the upgrade's pull request, as somebody might.
func (c canary) comment(t *testing.T, said io.Writer) {
	t.Helper()
	w, err := workspace.Open(c.ws)
	if err != nil {
		t.Fatal(err)
	}
	refit, err := exec.LookPath("refit")
	if err != nil {
		t.Fatal(err)
	}
	h := &server.Host{Workspace: w, Refit: refit, Log: said, Now: time.Now}
	if err := h.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	token, err := os.ReadFile(w.State("token"))
	if err != nil {
		t.Fatal(err)
	}
	bot, err := forge.New(h.Address.Forge, strings.TrimSpace(string(token)), "toy/recipes")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bot.AddComment(t.Context(), 1, "The password is "+commentCanary); err != nil {
		t.Fatalf("no pull request to write on: %v", err)
	}
	p, err := bot.Pull(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	body := p.Body + "\n\nThe password is " + commentCanary
	if err := bot.EditPull(t.Context(), 1, forge.PullEdit{Body: &body}); err != nil {
		t.Fatal(err)
	}
}

// spyOnGit goes before git on PATH: it writes down what git is told.
func spyOnGit(t *testing.T, spy string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(spy, "bin")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >> %s/git.args\nexec %s \"$@\"\n", spy, git)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// keptComments complains about a file that holds what somebody wrote on the pull
// request. The forge itself keeps it, and the events of its runs repeat it.
func keptComments(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "forge.db") || d.Name() == "event.json" {
			return err
		}
		data, err := os.ReadFile(name)
		if err == nil && bytes.Contains(data, []byte(commentCanary)) {
			t.Errorf("%s holds a comment of somebody", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
