package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/described"
)

// operations are those of GitHub that the routes stand for.
func operations(t *testing.T, d *described.Description, s *Server) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, r := range s.routes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		paths := []string{regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`).ReplaceAllString(path, "7")}
		switch {
		case path == graphqlURL:
			continue // described elsewhere, as a schema of types
		case strings.HasPrefix(path, storageRoot):
			continue // another host on GitHub
		case strings.HasSuffix(path, "/{part}"):
			paths = []string{"/repos/7/7/issues/7/comments", "/repos/7/7/issues/7/labels", "/repos/7/7/issues/comments/7"}
		}
		for _, path := range paths {
			o := d.Operation(method, path)
			if o == "" {
				t.Errorf("route %s: GitHub has no such operation", r.pattern)
			}
			known[o] = true
		}
	}
	return known
}

// Every route is one of GitHub's, is asked here with success, and is answered
// as GitHub describes it: the world's watch sees to that.
func TestEveryRouteIsDescribed(t *testing.T) {
	d := described.Require(t)
	w := newWorld(t, func(ctx context.Context, r RunRequest) error {
		if strings.HasSuffix(r.Title, "wait") {
			<-ctx.Done()
			return ctx.Err()
		}
		if strings.HasSuffix(r.Title, "fail") && r.Attempt == 1 {
			return errors.New("no engine")
		}
		rows := filepath.Join(r.Out, "refit-rows")
		if err := os.MkdirAll(rows, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(r.Log, []byte("done\n"), 0o600); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(rows, "rows.jsonl"), []byte("{}\n"), 0o644)
	})
	w.askAboutTheRepository(t)
	w.askAboutPulls(t)
	w.askAboutRuns(t)
	seen := w.watch.Seen()
	for o := range operations(t, d, w.Server) {
		if seen[o] == 0 {
			t.Errorf("%s: was not answered with success", o)
		}
	}
}

func (w *world) askAboutTheRepository(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, err := w.anon.ServerTime(ctx)
	must(t, err)
	_, err = w.bot.Login(ctx)
	must(t, err)
	_, err = w.bot.DefaultBranch(ctx)
	must(t, err)
	_, err = w.bot.Rules(ctx, "refit/auto-1")
	must(t, err)
	_, err = w.bot.Permission(ctx, "maintainer")
	must(t, err)
	must(t, w.bot.CreateLabel(ctx, "two words", "00ff00", "a label"))
	_, err = w.bot.Labels(ctx)
	must(t, err)
	must(t, w.bot.CreateRef(ctx, "refit/claim-1", w.main))
	_, err = w.bot.Refs(ctx, "refit/")
	must(t, err)
	must(t, w.bot.DeleteRef(ctx, "refit/claim-1"))
	objects := forge.Objects{Client: w.bot}
	tree, err := objects.Tree(ctx, w.main)
	must(t, err)
	file, err := tree.Open("README.md")
	must(t, err)
	must(t, file.Close())
	_, err = w.bot.File(ctx, "main", "README.md")
	must(t, err)
	link := w.put(t, "POST", "/git/trees", `{"base_tree":"`+w.main+`","tree":[{"path":"link","mode":"120000","type":"blob","content":"README.md"},
		{"path":"out","mode":"120000","type":"blob","content":"../out"},{"path":"empty name","mode":"100644","type":"blob","content":""}]}`, 201)
	made := w.put(t, "POST", "/git/commits", `{"message":"link","tree":"`+field(t, link, "sha")+`","parents":["`+w.main+`"]}`, 201)
	at := field(t, made, "sha")
	for _, path := range []string{"/contents/", "/contents/benchmarks", "/contents/link", "/contents/out", "/contents/empty%20name"} {
		w.put(t, "GET", path+"?ref="+at, "", 200)
	}
	_, err = w.bot.MergeBase(ctx, "main", at)
	must(t, err)
	w.put(t, "GET", "/commits/main", "", 200)
	w.put(t, "GET", "/git/blobs/"+git(t, w.Git.Dir, "rev-parse", "main:README.md"), "", 200)
	w.put(t, "GET", "/git/trees/"+w.main+"?recursive=1", "", 200)
}

func (w *world) askAboutPulls(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	head := w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1), "a b.txt": "x\n"})
	p := w.newPull(t, "topic")
	next := w.commitOn(t, head, "more", map[string]string{"perf-changelog.yaml": entry(2)})
	must(t, w.bot.MoveRef(ctx, "heads/topic", head, next))
	must(t, w.bot.AddLabel(ctx, 1, "two words"))
	w.put(t, "POST", "/issues/1/labels", `{"labels":[{"name":"by object"}]}`, 200)
	w.put(t, "GET", "/issues/1/labels", "", 200)
	must(t, w.bot.RemoveLabel(ctx, 1, "two words"))
	c, err := w.bot.AddComment(ctx, 1, "first")
	must(t, err)
	must(t, w.bot.EditComment(ctx, c.ID, "second"))
	w.put(t, "GET", "/issues/comments/"+strconv.FormatInt(c.ID, 10), "", 200)
	_, err = w.bot.Comments(ctx, 1)
	must(t, err)
	_, err = w.bot.ChangedFiles(ctx, 1)
	must(t, err)
	_, err = w.bot.OpenPulls(ctx)
	must(t, err)
	title := "Other title"
	must(t, w.bot.EditPull(ctx, 1, forge.PullEdit{Title: &title}))
	must(t, w.bot.MarkReady(ctx, p))
	_, err = w.bot.Pull(ctx, 1)
	must(t, err)
	w.put(t, "PUT", "/pulls/1/merge", `{"merge_method":"squash"}`, 200)
	_, err = w.bot.Pull(ctx, 1)
	must(t, err)
	_, err = w.bot.OpenIssue(ctx, "A question", "What is it?")
	must(t, err)
	_, err = w.bot.OpenIssues(ctx, "bot")
	must(t, err)
}

func (w *world) askAboutRuns(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	w.put(t, "GET", "/actions/workflows", "", 200)
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", map[string]string{"test-name": "x"})
	must(t, err)
	w.put(t, "POST", "/actions/workflows/e2e-tests.yml/dispatches", `{"ref":"main"}`, 204)
	w.Wait()
	_, err = w.bot.Run(ctx, id)
	must(t, err)
	for _, f := range []forge.RunFilter{{}, {Workflow: "e2e-tests.yml"}} {
		_, err = w.bot.Runs(ctx, f)
		must(t, err)
	}
	artifacts, err := w.bot.Artifacts(ctx, id)
	must(t, err)
	if len(artifacts) != 1 {
		t.Fatalf("artifacts: got %d, want 1", len(artifacts))
	}
	_, err = w.bot.Download(ctx, artifacts[0])
	must(t, err)
	run := "/actions/runs/" + strconv.FormatInt(id, 10)
	w.put(t, "GET", "/actions/artifacts/"+strconv.FormatInt(artifacts[0].ID, 10), "", 200)
	w.put(t, "GET", run+"/jobs", "", 200)
	if log := w.put(t, "GET", strings.Replace(run, "runs", "jobs", 1)+"/logs", "", 200); log != "done\n" { // after a redirect
		t.Errorf("log: got %q", log)
	}
	w.put(t, "POST", run+"/cancel", "", 409)
	waiting, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", map[string]string{"test-name": "wait"})
	must(t, err)
	must(t, w.bot.CancelRun(ctx, waiting))
	w.Wait()
	w.put(t, "POST", run+"/rerun", "", 201)
	failing, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", map[string]string{"test-name": "fail"})
	must(t, err)
	w.Wait()
	w.put(t, "POST", "/actions/runs/"+strconv.FormatInt(failing, 10)+"/rerun-failed-jobs", "", 201)
	w.Wait()
}

// field reads one text out of an answer.
func field(t *testing.T, answer, name string) string {
	t.Helper()
	var fields map[string]any
	must(t, json.Unmarshal([]byte(answer), &fields))
	text, _ := fields[name].(string)
	if text == "" {
		t.Fatalf("no %s in %s", name, answer)
	}
	return text
}
