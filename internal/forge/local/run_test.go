package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/refit-bench/refit/internal/forge"
)

func TestLabelStartsOneRun(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	head := w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1)})
	w.newPull(t, "topic")
	must(t, w.bot.AddLabel(ctx, 1, "full-sweep-fail-fast"))
	must(t, w.bot.AddLabel(ctx, 1, "Full-Sweep-Fail-Fast")) // there already
	w.Wait()
	runs := w.runs()
	if len(runs) != 1 {
		t.Fatalf("runs: got %d, want 1", len(runs))
	}
	r := runs[0]
	if r.Workflow != "run-sweep.yml" || r.Event != "pull_request" || r.HeadSHA != head || r.HeadBranch != "topic" ||
		r.Title != "Upgrade topic" || r.Actor != "bot" || r.Attempt != 1 || r.ID < 1e10 {
		t.Errorf("run: got %+v", r)
	}
	var e struct {
		Action string
		Number int
		Label  struct{ Name string }
		Pull   struct {
			Draft  bool
			Labels []struct{ Name string }
			Head   struct {
				SHA  string
				Repo struct {
					FullName string `json:"full_name"`
				}
			}
			Base struct{ SHA, Ref string }
		} `json:"pull_request"`
		Sender struct{ Login string }
	}
	must(t, json.Unmarshal(r.Payload, &e))
	if e.Action != "labeled" || e.Number != 1 || e.Label.Name != "full-sweep-fail-fast" || !e.Pull.Draft || len(e.Pull.Labels) != 1 ||
		e.Pull.Head.SHA != head || e.Pull.Head.Repo.FullName != "owner/recipes" || e.Pull.Base.SHA != w.main || e.Sender.Login != "bot" {
		t.Errorf("payload: got %+v", e)
	}
	if p, _ := w.bot.Pull(ctx, 1); len(p.Labels) != 1 || p.Labels[0] != "full-sweep-fail-fast" {
		t.Errorf("labels: got %v, want the one", p.Labels)
	}
	must(t, w.bot.RemoveLabel(ctx, 1, "full-sweep-fail-fast"))
	must(t, w.bot.RemoveLabel(ctx, 1, "full-sweep-fail-fast"))
	p, _ := w.bot.Pull(ctx, 1)
	w.Wait()
	if len(p.Labels) != 0 || len(w.runs()) != 2 { // the second is told that it came off
		t.Errorf("after removal: labels %v, %d runs", p.Labels, len(w.runs()))
	}
	if names, err := w.bot.Labels(ctx); err != nil || len(names) != 1 {
		t.Errorf("labels: got %v %v", names, err)
	}
	if err := w.bot.RemoveLabel(ctx, 9, "x"); err == nil {
		t.Error("label removed from a pull request that does not exist")
	}
}

func TestHeadMoves(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	first := w.newBranch(t, "topic", map[string]string{"README.md": "1\n"})
	w.newPull(t, "topic")
	second := w.commitOn(t, first, "more", map[string]string{"README.md": "2\n"})
	must(t, w.bot.MoveRef(ctx, "heads/topic", first, second))
	w.Wait()
	if n := len(w.runs()); n != 0 {
		t.Errorf("runs without a changelog entry: got %d, want 0", n)
	}
	third := w.commitOn(t, second, "entry", map[string]string{"perf-changelog.yaml": entry(1)})
	must(t, w.bot.MoveRef(ctx, "heads/topic", second, third))
	w.Wait()
	runs := w.runs()
	if len(runs) != 1 || !strings.Contains(string(runs[0].Payload), `"action":"synchronize"`) ||
		!strings.Contains(string(runs[0].Payload), `"before":"`+second+`","after":"`+third+`"`) {
		t.Fatalf("runs: got %+v, want one synchronize", runs)
	}
	if p, _ := w.bot.Pull(ctx, 1); p.HeadSHA != third {
		t.Errorf("head: got %s, want %s", p.HeadSHA, third)
	}
}

func TestPushPastTheAPI(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	work := filepath.Join(t.TempDir(), "work")
	git(t, w.Git.Dir, "clone", "-q", w.Git.Dir, work)
	must(t, os.WriteFile(filepath.Join(work, "perf-changelog.yaml"), []byte(entry(1)), 0o644))
	git(t, work, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit", "-q", "-a", "-m", "Publish\n\nBody")
	git(t, work, "push", "-q", "origin", "main")
	must(t, w.Push(ctx, "main"))
	must(t, w.Push(ctx, "main"))
	w.Wait()
	runs := w.runs()
	if len(runs) != 1 || runs[0].Event != "push" || runs[0].Title != "Publish" || runs[0].Actor != "owner" || runs[0].HeadBranch != "main" {
		t.Fatalf("runs: got %+v, want one push", runs)
	}
	var e pushPayload
	must(t, json.Unmarshal(runs[0].Payload, &e))
	if e.Before != w.main || e.After != runs[0].HeadSHA || e.Ref != "refs/heads/main" || len(e.Commits) != 1 || e.Head.Message != "Publish\n\nBody\n" {
		t.Errorf("payload: got %+v", e)
	}
}

func TestMainMergedByPush(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	head := w.newBranch(t, "topic", map[string]string{"README.md": "1\n"})
	w.newPull(t, "topic")
	must(t, w.bot.MoveRef(ctx, "heads/main", w.main, head))
	p, err := w.bot.Pull(ctx, 1)
	if err != nil || !p.Merged || p.State != "closed" {
		t.Errorf("got %+v %v, want merged", p, err)
	}
}

func TestDispatch(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", map[string]string{"test-name": "refit-1-a", "ref": w.main})
	must(t, err)
	w.Wait()
	r, err := w.bot.Run(ctx, id)
	must(t, err)
	want := forge.Run{
		ID: id, Attempt: 1, Title: "e2e Test - refit-1-a", Name: "e2e-tests", Path: ".github/workflows/e2e-tests.yml",
		Event: "workflow_dispatch", Branch: "main", HeadSHA: w.main, HeadRepo: "owner/recipes", Status: "completed", Conclusion: "success", Actor: "bot",
		URL: r.URL, Created: w.Now(), Started: w.Now(), Updated: w.Now(),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(w.runs()[0].Payload), `"inputs":{"ref":"`+w.main+`","test-name":"refit-1-a"}`) {
		t.Errorf("payload: got %s", w.runs()[0].Payload)
	}
	for _, c := range [][2]string{{"absent.yml", "main"}, {"e2e-tests.yml", "absent"}, {"e2e-tests.yml", w.main}, {"not-a-workflow", "main"}} {
		if _, err := w.bot.Dispatch(ctx, c[0], c[1], nil); err == nil {
			t.Errorf("dispatch %s on %s: no error", c[0], c[1])
		}
	}
	if n := w.count(t, "run.dispatch"); n != 1 {
		t.Errorf("dispatches: got %d, want 1", n)
	}
}

func TestRunFilters(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	w.newBranch(t, "topic", map[string]string{"perf-changelog.yaml": entry(1)})
	w.newPull(t, "topic")
	must(t, w.bot.AddLabel(ctx, 1, "x"))
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "topic", nil)
	must(t, err)
	w.Wait()
	check := func(f forge.RunFilter, want int) {
		t.Helper()
		runs, err := w.bot.Runs(ctx, f)
		if err != nil || len(runs) != want {
			t.Errorf("%+v: got %d runs, %v, want %d", f, len(runs), err, want)
		}
	}
	check(forge.RunFilter{}, 2)
	check(forge.RunFilter{Branch: "topic"}, 2)
	check(forge.RunFilter{Branch: "main"}, 0)
	check(forge.RunFilter{Event: "pull_request"}, 1)
	check(forge.RunFilter{Workflow: "e2e-tests.yml"}, 1)
	check(forge.RunFilter{HeadSHA: w.main}, 0)
	check(forge.RunFilter{Since: w.Now()}, 2)
	check(forge.RunFilter{Since: w.Now().Add(time.Second)}, 0)
	runs, _ := w.bot.Runs(ctx, forge.RunFilter{})
	if runs[0].ID != id || runs[1].ID >= id {
		t.Errorf("order: got %d, %d, want newest first", runs[0].ID, runs[1].ID)
	}
}

func TestConclusionsAndArtifacts(t *testing.T) {
	results := map[string]error{"ok": nil, "skip": ErrSkipped, "bad": errors.New("no engine")}
	w := newWorld(t, func(_ context.Context, r RunRequest) error {
		name := strings.TrimPrefix(r.Title, "e2e Test - ")
		files := map[string]string{"refit-rows/rows.jsonl": "{}\n", "deep/a/b.txt": "b", "loose.txt": "not an artifact"}
		for path, text := range files {
			path = filepath.Join(r.Out, path)
			os.MkdirAll(filepath.Dir(path), 0o755)
			os.WriteFile(path, []byte(text), 0o644)
		}
		os.Symlink("/etc/passwd", filepath.Join(r.Out, "deep", "link"))
		os.WriteFile(r.Log, []byte("log of "+name), 0o600)
		return results[name]
	})
	ctx := t.Context()
	for name, want := range map[string]string{"ok": "success", "skip": "skipped", "bad": "failure"} {
		id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", map[string]string{"test-name": name})
		must(t, err)
		w.Wait()
		r, err := w.bot.Run(ctx, id)
		if err != nil || r.Conclusion != want {
			t.Errorf("%s: got %+v %v, want %s", name, r, err, want)
		}
		artifacts, err := w.bot.Artifacts(ctx, id)
		must(t, err)
		got := map[string]map[string][]byte{}
		for _, a := range artifacts {
			got[a.Name], err = w.bot.Download(ctx, a)
			must(t, err)
		}
		files := map[string]map[string][]byte{"refit-rows": {"rows.jsonl": []byte("{}\n")}, "deep": {"a/b.txt": []byte("b")}}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("%s: artifacts (-want +got):\n%s", name, diff)
		}
	}
	last := w.runs()[2]
	if _, err := os.Stat(last.Out); !os.IsNotExist(err) {
		t.Errorf("output folder is still there: %v", err)
	}
	must(t, os.RemoveAll(w.ArtifactDir))
	artifacts, err := w.bot.Artifacts(ctx, last.ID)
	if err != nil || len(artifacts) != 2 || !artifacts[0].Expired {
		t.Errorf("expired: got %+v %v", artifacts, err)
	}
}

func TestCancel(t *testing.T) {
	started := make(chan int64, 2)
	w := newWorld(t, func(ctx context.Context, r RunRequest) error {
		started <- r.ID
		<-ctx.Done()
		return ctx.Err()
	})
	ctx := t.Context()
	first, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	second, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	if id := <-started; id != first {
		t.Fatalf("started %d, want %d", id, first)
	}
	if r, _ := w.bot.Run(ctx, first); r.Status != "in_progress" || r.Conclusion != "" {
		t.Errorf("first: got %+v, want in progress", r)
	}
	must(t, w.bot.CancelRun(ctx, second))
	must(t, w.bot.CancelRun(ctx, first))
	w.Wait()
	must(t, w.bot.CancelRun(ctx, first))
	for _, id := range []int64{first, second} {
		if r, err := w.bot.Run(ctx, id); err != nil || r.Status != "completed" || r.Conclusion != "cancelled" {
			t.Errorf("run %d: got %+v %v, want cancelled", id, r, err)
		}
	}
	if n := len(w.runs()); n != 1 {
		t.Errorf("executed: got %d runs, want 1", n)
	}
}

func TestRunSurvivesTheServer(t *testing.T) {
	started := make(chan struct{}, 1)
	w := newWorld(t, func(ctx context.Context, r RunRequest) error {
		started <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	ctx := t.Context()
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	queued, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	<-started
	must(t, w.Close())
	// While nobody watches, main moves past the API.
	sha := git(t, w.Git.Dir, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit-tree", "-p", w.main, "-m", "quiet", w.main+"^{tree}")
	git(t, w.Git.Dir, "update-ref", "refs/heads/main", sha)

	var order []int64
	again := Server{
		Repository: w.Repository, Git: w.Git, DB: w.DB, Tokens: w.Tokens, Permissions: w.Permissions,
		ArtifactDir: w.ArtifactDir, Now: w.Now, Log: w.Log,
	}
	again.Run = func(_ context.Context, r RunRequest) error {
		order = append(order, r.ID)
		if r.Attempt != 1 {
			t.Errorf("attempt: got %d, want 1", r.Attempt)
		}
		return nil
	}
	open(t, &again)
	defer again.Close()
	again.Wait()
	if len(order) != 2 || order[0] != id || order[1] != queued {
		t.Errorf("order: got %v, want %d, %d", order, id, queued)
	}
	r, err := one(ctx, again.db, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, id)
	if err != nil || r.conclusion != "success" || !strings.Contains(r.note, "started again") {
		t.Errorf("first run: got %+v %v", r, err)
	}
	known, err := again.branches(ctx)
	if err != nil || known["main"] != sha {
		t.Errorf("main: got %v %v, want %s", known, err, sha)
	}
}
