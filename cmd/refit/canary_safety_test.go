package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

// canaries are secrets that a person's shell may hold, each with a value that
// cannot be anywhere by chance.
var canaries = map[string]string{
	"HF_TOKEN": "hf_canaryCanaryHF4711", "GITHUB_TOKEN": "ghp_canaryCanaryGH4712", "GH_TOKEN": "ghp_canaryCanaryGH4713",
	"AWS_SECRET_ACCESS_KEY": "canaryCanaryAWS4714", "OPENAI_API_KEY": "sk-canaryCanaryOAI4715",
	"NETRC": "canaryCanaryNETRC4716", "REFIT_TOKEN": "canaryCanaryREFIT4717",
}

const (
	passedCanary = "canaryCanaryPassed4718"    // named in jobs.env: jobs have it, nothing else shows it
	mirrorCanary = "canaryCanary%2FMirror4721" // the password in the address that DATASET is
	headerCanary = "kQ7vR2xZ9mB4tW8pL5nC3yH6"  // what MIRROR_LOGIN says after its first word
	fileCanary   = "canaryCanaryFile4719"      // of the token file that refit.yaml names
	remoteCanary = "canaryCanaryRemote4720"    // the password in the address of the checkout's remote
)

// spyScript goes before the toy's recipe: it writes down the environment and
// the arguments of the job's processes, and says a secret in both logs.
const spyScript = `
spy() {
    tr '\0' '\n' < "/proc/$2/environ" > "SPY/$1-$2.env"
    tr '\0' '\n' < "/proc/$2/cmdline" > "SPY/$1-$2.args"
}
pid=$$
while [ "$pid" -gt 1 ]; do
    name=job
    case "$(tr '\0' ' ' < "/proc/$pid/cmdline")" in *" ci "*) name=ci ;; esac
    spy "$name" "$pid"
    [ "$name" = ci ] && break
    pid=$(cut -d ' ' -f 4 < "/proc/$pid/stat")
done
export REAL_REFIT=$REFIT REFIT=SPY/refit
echo "the secret is $PASSED_TOKEN"
echo "the secret is $PASSED_TOKEN" >&2
for secret in "$DATASET" "$MIRROR_LOGIN" "$PASSED_TOKEN"; do
    echo "as it is: $secret"
    echo "$secret" | base64
    printf 'x%s' "$secret" | base64 -w 0
    printf '{"log": "%s"}\n' "$(printf %s "$secret" | sed 's,/,\\/,g')"
    printf '%s' "$secret" | fold -w 7
done
( set -x; : "$DATASET" "$MIRROR_LOGIN" )
`

// harmless are variables of jobs.env whose names say nothing of a secret.
var harmless = map[string]string{
	"DATASET": "https://user:" + mirrorCanary + "@data.invalid/x", "MIRROR_LOGIN": "Basic " + headerCanary,
}

// spelled are the forms of secrets in which the spy says them.
func spelled(secrets ...string) []string {
	all := secrets
	for _, s := range secrets {
		for offset := range 3 { // the middle of a base64 text depends on nothing else
			text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", offset) + s))
			all = append(all, text[4:len(text)-4])
		}
		all = append(all, s[:7]+"\n"+s[7:14], url.QueryEscape(s))
	}
	return all
}

const spyRefit = `#!/bin/sh
tr '\0' '\n' < "/proc/$$/environ" > "SPY/$1-$$.env"
tr '\0' '\n' < "/proc/$$/cmdline" > "SPY/$1-$$.args"
exec "$REAL_REFIT" "$@"
`

// Nobody's secrets come out of refit: not in output, records and logs, not in
// the arguments or the environment of what it starts.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	dir := t.TempDir()
	ws, spy := filepath.Join(dir, "ws"), filepath.Join(dir, "spy")
	spiedToy(t, ws, spy)
	t.Setenv("PASSED_TOKEN", passedCanary)
	for name, value := range harmless {
		t.Setenv(name, value)
	}
	for name, value := range canaries {
		t.Setenv(name, value)
	}
	spyOnGit(t, spy)
	var said bytes.Buffer
	c := newCanary(t, ws, filepath.Join(dir, "out"))
	calls := everyCall(t)
	commented, changelog := false, slices.IndexFunc(calls, isChangelog)
	for _, line := range calls[:changelog] {
		if !commented && !strings.HasPrefix(line, "refit upgrade ") {
			c.comment(t, &said) // the upgrade has made its pull request
			commented = true
		}
		c.call(t, line, &said)
	}
	c.call(t, "withserve . refit doctor", &said)
	secrets := slices.Collect(maps.Values(canaries))
	token, err := os.ReadFile(filepath.Join(ws, ".refit/token"))
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	secrets = append(secrets, fileCanary, remoteCanary, strings.TrimSpace(string(token)))
	children := slices.Compact(slices.Sorted(maps.Values(canaryChildren)))
	checkSpied(t, spy, secrets, children...)

	hosted(t, ws, &said)
	checkSpied(t, spy, secrets, append(children, "ci")...)

	for _, line := range calls[changelog:] {
		c.call(t, line, &said)
	}
	secrets = append(secrets, spelled(passedCanary, mirrorCanary, headerCanary)...)
	secrets = append(secrets, feedCanary)
	holds(t, "output", said.Bytes(), append(secrets, commentCanary))
	toldGit, err := os.ReadFile(filepath.Join(spy, "git.args"))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "arguments of git", toldGit, append(secrets, commentCanary))
	keptComments(t, filepath.Join(ws, ".refit"))
	for _, root := range []string{filepath.Join(ws, ".refit"), filepath.Join(dir, "out")} {
		searchFiles(t, root, secrets)
	}
	objects, err := workspace.Repo{Dir: filepath.Join(ws, ".refit/forge.git")}.Git(t.Context(), "cat-file", "--batch-all-objects", "--batch", "--unordered")
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "objects of the forge's repository", objects, secrets)
}

// A recipe that fails is told with its last words, and those may be a secret.
func TestFailureDoesNotTellSecrets(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := makeToy(t.Context(), ws, "io.refit.engine.source"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PASSED_TOKEN", passedCanary)
	for name, value := range harmless {
		t.Setenv(name, value)
	}
	appendTo(t, filepath.Join(ws, "refit.yaml"), "jobs: {env: [PASSED_TOKEN, DATASET, MIRROR_LOGIN]}\n")
	script := "echo \"RuntimeError: cannot log in with $PASSED_TOKEN to $DATASET as $MIRROR_LOGIN\" | tee \"$PWD/server.log\" >&2\nexit 3\n"
	if err := os.WriteFile(filepath.Join(ws, "benchmarks/single_node/fixed_seq_len/toy_fp8_box_loom.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	commitAll(t, ws, "Fail")
	cmd := exec.Command("refit", "ci", "run-sweep", "--event", pushEvent(t, ws), "--out", filepath.Join(dir, "out"))
	cmd.Dir = ws
	said, err := cmd.CombinedOutput()
	if err == nil || !bytes.Contains(said, []byte("cannot log in with *** to https://user:***@data.invalid/x as Basic ***")) {
		t.Errorf("got %v, %s, want the recipe's last words", err, said)
	}
	secrets := spelled(passedCanary, mirrorCanary, headerCanary)
	holds(t, "output", said, secrets)
	searchFiles(t, filepath.Join(dir, "out"), secrets)
}

func commitAll(t *testing.T, ws, message string) {
	t.Helper()
	if _, err := (workspace.Repo{Dir: ws}).Git(t.Context(), "-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-a", "-m", message); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil || f.Close() != nil {
		t.Fatalf("append to %s: %v", name, err)
	}
}

// spiedToy makes the toy workspace with a recipe that writes down what it sees.
func spiedToy(t *testing.T, ws, spy string) {
	t.Helper()
	if err := makeToy(t.Context(), ws, "io.refit.engine.source"); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode fs.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "SPY", spy)), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(spy, "refit"), spyRefit, 0o755)
	write(filepath.Join(filepath.Dir(ws), "forge-token"), fileCanary+"\n", 0o600)
	script := filepath.Join(ws, "benchmarks/single_node/fixed_seq_len/toy_fp8_box_loom.sh")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	write(script, head+spyScript+rest, 0o755)
	config, err := os.ReadFile(filepath.Join(ws, "refit.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Replace(string(config), "login: bot", "login: bot, token-file: ../forge-token", 1)
	write(filepath.Join(ws, "refit.yaml"), named+"jobs: {env: [PASSED_TOKEN, DATASET, MIRROR_LOGIN]}\n", 0o644)
	commitAll(t, ws, "Spy")
	address := "https://user:" + remoteCanary + "@forge.invalid/toy/recipes.git"
	if _, err := (workspace.Repo{Dir: ws}).Git(t.Context(), "remote", "add", "origin", address); err != nil {
		t.Fatal(err)
	}
}

func pushEvent(t *testing.T, ws string) string {
	t.Helper()
	head, err := workspace.Repo{Dir: ws}.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(ws), "event.json")
	event := fmt.Sprintf(`{"ref": "refs/heads/main", "before": %q, "after": %q}`, strings.Repeat("0", 40), head)
	if err := os.WriteFile(file, []byte(event), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// hosted lets the embedded forge run what a push to its main starts.
func hosted(t *testing.T, ws string, said io.Writer) {
	t.Helper()
	w, err := workspace.Open(ws)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, filepath.Join(ws, "perf-changelog.yaml"), fmt.Sprintf(
		"\n- config-keys:\n    - %s\n  description:\n    - \"Again\"\n  pr-link: https://github.com/toy/recipes/pull/2\n", toyFamily))
	commitAll(t, ws, "Again")
	if _, err := (workspace.Repo{Dir: ws}).Git(t.Context(), "push", "-q", w.State("forge.git"), "HEAD:main"); err != nil {
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
	h.Wait()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkSpied looks at what the processes of one run had, and forgets it. Every
// kind named must be there; a ci that was started by hand has its shell's
// environment, which is nobody's leak.
func checkSpied(t *testing.T, spy string, secrets []string, kinds ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(spy, "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	passed := false
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(filepath.Base(f), "-")
		seen[kind] = true
		passed = passed || kind == "job" && bytes.Contains(data, []byte("PASSED_TOKEN="+passedCanary))
		if slices.Contains(kinds, kind) || filepath.Ext(f) == ".args" {
			holds(t, filepath.Base(f), data, secrets)
		}
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range kinds {
		if !seen[kind] {
			t.Errorf("no process %q was seen", kind)
		}
	}
	if !passed {
		t.Error("jobs did not get what jobs.env names")
	}
}

// holds complains about a place that holds a secret.
func holds(t *testing.T, where string, data []byte, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		if at := bytes.Index(data, []byte(s)); at >= 0 {
			t.Errorf("%s holds the secret %.24s…: %q", where, s, data[max(0, at-60):at])
		}
	}
}

// searchFiles looks into every file below root, and into the files of archives.
func searchFiles(t *testing.T, root string, secrets []string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || name == filepath.Join(root, "token") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		n++
		holds(t, name, data, secrets)
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil // not one
		}
		for _, f := range archive.File {
			in, err := f.Open()
			if err != nil {
				return err
			}
			text, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			holds(t, name+" "+f.Name, text, secrets)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("search %s: %d files, %v", root, n, err)
	}
}
