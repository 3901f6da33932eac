package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

const (
	actionsToken = "ghs_workflow0000000000000000000000000000"
	sweepLabel   = "full-sweep-fail-fast"
)

// A fault is what a script's forge does to a program, besides being a forge.
type fault struct {
	token string                                // of the program; "" is an admin's
	mode  os.FileMode                           // of its file; 0 is 0600
	meets func(forge http.Handler) http.Handler // nil: nothing is in the way
	yaml  string                                // more lines of refit.yaml
}

var scriptFaults = map[string]fault{
	"none":       {},
	"actions":    {token: actionsToken},
	"badtoken":   {token: "revoked-token"},
	"down":       {meets: answering(http.StatusBadGateway, nil)},
	"limited":    {meets: answering(http.StatusTooManyRequests, map[string]string{"Retry-After": "3600"})},
	"secondary":  {meets: answering(http.StatusForbidden, map[string]string{"Retry-After": "5400"})},
	"primary":    {meets: answering(http.StatusForbidden, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1796126400"})},
	"silent":     {meets: func(http.Handler) http.Handler { return http.HandlerFunc(neverAnswer) }},
	"refused":    {},
	"early":      {meets: skewed(-10 * time.Minute)},
	"late":       {meets: skewed(10 * time.Minute)},
	"reader":     {token: "reader-token"},
	"stranger":   {token: "stranger-token"},
	"untold":     {meets: untold},
	"nolabel":    {},
	"noworkflow": {yaml: "executor: {kind: actions, sweep: nightly.yml}\n"},
	"notoken":    {},
	"opentoken":  {mode: 0o644},
	"emptytoken": {token: " "},
	"twowords":   {token: "first-secret second-secret"},
}

// answering stands in for a forge that gives everybody one answer, dated ten
// o'clock.
func answering(status int, headers map[string]string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Tue, 01 Dec 2026 10:00:00 GMT")
			for k, v := range headers {
				w.Header().Set(k, v)
			}
			w.WriteHeader(status)
		})
	}
}

func neverAnswer(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func skewed(by time.Duration) func(http.Handler) http.Handler {
	return func(forge http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
			forge.ServeHTTP(w, r)
		})
	}
}

// untold is GitHub for a login that may not push: levels are not for him.
func untold(forge http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/permission") {
			forge.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"Must have push access to view collaborator permission."}`)
	})
}

// withForgeMain is the scripts' command `withforge DIR FAULT PROGRAM ARGS`: it
// runs a program while a forge of its own, filled from DIR, is the github of
// DIR's refit.yaml and meets the fault. What the forge is made of stays beside
// DIR. Under a fault the forge must be afterwards what it was before.
func withForgeMain() {
	code, err := withForge(context.Background(), os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withforge:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withForge(ctx context.Context, dir, name string, program []string) (_ int, err error) {
	f, known := scriptFaults[name]
	if !known {
		return 0, fmt.Errorf("no fault %q", name)
	}
	s, err := openScriptForge(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	plain := httptest.NewServer(s.Handler())
	defer plain.Close()
	admin, err := forge.New(plain.URL, "bot-token", s.Repository)
	if err != nil {
		return 0, err
	}
	if name != "nolabel" {
		if err := admin.CreateLabel(ctx, sweepLabel, "0e8a16", ""); err != nil {
			return 0, err
		}
	}
	met := s.Handler()
	if f.meets != nil {
		met = f.meets(met)
	}
	faulty := httptest.NewServer(met)
	defer faulty.Close()
	if name == "refused" {
		faulty.Close()
	}
	if err := pointAt(dir, faulty.URL, name, f); err != nil {
		return 0, err
	}
	before, err := standing(ctx, s, admin)
	if err != nil {
		return 0, err
	}
	code := exitCode(program)
	after, err := standing(ctx, s, admin)
	if err == nil && name != "none" && before != after {
		err = fmt.Errorf("the forge was changed:\n%s\nbefore:\n%s", after, before)
	}
	return code, err
}

// openScriptForge opens the forge beside a workspace; the first time it is made
// from it.
func openScriptForge(ctx context.Context, dir string) (*local.Server, error) {
	room := filepath.Dir(filepath.Clean(dir))
	bare := filepath.Join(room, "forge.git")
	if _, err := os.Stat(bare); err != nil {
		if _, err := (workspace.Repo{Dir: dir}).Git(ctx, "clone", "-q", "--bare", ".", "../forge.git"); err != nil {
			return nil, err
		}
	}
	bare, err := filepath.Abs(bare)
	if err != nil {
		return nil, err
	}
	room = filepath.Dir(bare)
	s := &local.Server{
		Repository: "toy/recipes", Git: workspace.Repo{Dir: bare}, DB: filepath.Join(room, "forge.db"),
		Tokens:      map[string]string{"bot-token": "bot", "reader-token": "reader", "stranger-token": "stranger", actionsToken: forge.ActionsLogin},
		Permissions: map[string]string{"bot": "admin", "stranger": "none", forge.ActionsLogin: "write"},
		ArtifactDir: filepath.Join(room, "forge-artifacts"), Now: time.Now, Log: os.Stderr,
		Run: func(ctx context.Context, r local.RunRequest) error { return ciElsewhere(ctx, room, bare, r) },
	}
	return s, s.Open(ctx)
}

var forgeLine = regexp.MustCompile(`(?m)^forge: .*\n`)

// pointAt makes the forge the workspace's github, with a token that the fault
// asks for.
func pointAt(dir, url, name string, f fault) error {
	config := filepath.Join(dir, "refit.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	rest, _, _ := strings.Cut(string(forgeLine.ReplaceAll(text, nil)), "# of the fault\n")
	line := fmt.Sprintf("forge: {kind: github, url: %q, repository: toy/recipes, token-file: ../forge-token}\n", url)
	if err := os.WriteFile(config, []byte(line+rest+"# of the fault\n"+f.yaml), 0o644); err != nil {
		return err
	}
	token := filepath.Join(filepath.Dir(filepath.Clean(dir)), "forge-token")
	if err := os.RemoveAll(token); err != nil || name == "notoken" {
		return err
	}
	if f.token == "" {
		f.token = "bot-token"
	}
	if f.mode == 0 {
		f.mode = 0o600
	}
	return errors.Join(os.WriteFile(token, []byte(f.token+"\n"), 0o600), os.Chmod(token, f.mode))
}

// standing is all of a forge that a write could change.
func standing(ctx context.Context, s *local.Server, admin *forge.Client) (string, error) {
	refs, err := s.Git.Git(ctx, "for-each-ref")
	if err != nil {
		return "", err
	}
	pulls, err := admin.OpenPulls(ctx)
	if err != nil {
		return "", err
	}
	labels, err := admin.Labels(ctx)
	if err != nil {
		return "", err
	}
	runs, err := admin.Runs(ctx, forge.RunFilter{})
	return fmt.Sprintf("%s%v\n%v\n%v", refs, pulls, labels, runs), err
}

// ciElsewhere is a runner of the forge: `refit ci` in a checkout of its own.
func ciElsewhere(ctx context.Context, room, bare string, r local.RunRequest) error {
	checkout := filepath.Join(room, "runner")
	if _, err := os.Stat(checkout); err != nil {
		if _, err := (workspace.Repo{Dir: room}).Git(ctx, "clone", "-q", bare, checkout); err != nil {
			return err
		}
	}
	if _, err := (workspace.Repo{Dir: checkout}).Git(ctx, "fetch", "-q", "origin", "+refs/*:refs/remotes/forge/*"); err != nil {
		return err
	}
	event := filepath.Join(filepath.Dir(r.Out), "event.json")
	if err := os.WriteFile(event, r.Payload, 0o600); err != nil {
		return err
	}
	log, err := os.Create(r.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	output := filepath.Join(filepath.Dir(r.Out), "output")
	cmd := exec.CommandContext(ctx, "refit", "ci", strings.TrimSuffix(r.Workflow, ".yml"), "--event", event, "--out", r.Out,
		"-C", checkout, "--run-id", strconv.FormatInt(r.ID, 10), "--run-attempt", strconv.Itoa(r.Attempt))
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT="+output)
	cmd.Stdout, cmd.Stderr = log, io.MultiWriter(log, os.Stderr)
	if err := cmd.Run(); err != nil {
		return err
	}
	if said, err := os.ReadFile(output); err == nil && strings.Contains(string(said), "conclusion=skipped") {
		return local.ErrSkipped
	}
	return callHealthy(filepath.Join(r.Out, result.RowsArtifact, result.RowsFile))
}

// callHealthy takes this machine's load out of a toy's rows: scripts that run
// beside others starve the load client, and that is not what they are about.
func callHealthy(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines, err := result.ReadLines(bytes.NewReader(src))
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.Row != nil {
			l.Row.Health.Verdict, l.Row.Health.Reasons = bench.Healthy, []string{}
		}
	}
	var out bytes.Buffer
	if err := result.WriteLines(&out, lines); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// exitsMain is the scripts' command `exits CODE PROGRAM ARGS`: it passes when
// the program ends with exactly that exit code.
func exitsMain() {
	if got := exitCode(os.Args[2:]); strconv.Itoa(got) != os.Args[1] {
		fmt.Fprintf(os.Stderr, "exits: got exit code %d, want %s\n", got, os.Args[1])
		os.Exit(1)
	}
}

// hastyMain is the scripts' command `hastyrefit`: refit that waits for a silent
// forge for a moment only.
func hastyMain() {
	ctx := server.WithPatience(context.Background(), 200*time.Millisecond)
	os.Exit(execute(ctx, env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now}, os.Args[1:]))
}
