package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A further attempt keeps the run's id, and what the first one left.
func TestRerunOfFailedJobs(t *testing.T) {
	w := newWorld(t, func(_ context.Context, r RunRequest) error {
		rows := filepath.Join(r.Out, "refit-rows")
		if err := os.MkdirAll(rows, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(rows, "rows.jsonl"), fmt.Appendf(nil, "%d\n", r.Attempt), 0o644); err != nil {
			return err
		}
		if r.Attempt == 1 {
			return errors.New("no engine")
		}
		return nil
	})
	ctx := t.Context()
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	w.Wait()
	again := fmt.Sprintf("/actions/runs/%d/rerun-failed-jobs", id)
	w.put(t, "POST", again, "", 201)
	w.Wait()
	r, err := w.bot.Run(ctx, id)
	must(t, err)
	if r.Attempt != 2 || r.Status != "completed" || r.Conclusion != "success" {
		t.Errorf("got attempt %d, %s %s, want attempt 2 completed with success", r.Attempt, r.Status, r.Conclusion)
	}
	artifacts, err := w.bot.Artifacts(ctx, id)
	must(t, err)
	var said []string
	for _, a := range artifacts {
		files, err := w.bot.Download(ctx, a)
		must(t, err)
		said = append(said, a.Name+" "+strings.TrimSpace(string(files["rows.jsonl"])))
	}
	if got := strings.Join(said, ", "); got != "refit-rows 1, refit-rows 2" {
		t.Errorf("artifacts: got %s, want those of both attempts under one name", got)
	}
	if answer := w.put(t, "POST", again, "", 403); !strings.Contains(answer, "no job of it failed") {
		t.Errorf("of a run that succeeded: got %s", answer)
	}
	if n := w.count(t, "run.rerun"); n != 1 {
		t.Errorf("events: got %d, want the one that was done", n)
	}
}

func TestRerunIsRefused(t *testing.T) {
	started := make(chan struct{}, 2)
	w := newWorld(t, func(ctx context.Context, r RunRequest) error {
		if r.Attempt > 1 {
			return nil
		}
		started <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	ctx := t.Context()
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	<-started
	path := fmt.Sprintf("/actions/runs/%d", id)
	for _, verb := range []string{"/rerun", "/rerun-failed-jobs"} {
		if answer := w.put(t, "POST", path+verb, "", 403); !strings.Contains(answer, "already running") {
			t.Errorf("%s of a running run: got %s", verb, answer)
		}
	}
	must(t, w.bot.CancelRun(ctx, id))
	w.Wait()
	w.put(t, "POST", path+"/rerun-failed-jobs", "", 403) // cancelled: no job failed
	w.put(t, "POST", "/actions/runs/1/rerun", "", 404)
	w.put(t, "POST", path+"/rerun", "", 201)
	w.Wait()
	if r, err := w.bot.Run(ctx, id); err != nil || r.Attempt != 2 || r.Conclusion != "success" {
		t.Errorf("after the full rerun: got %+v, %v, want attempt 2 with success", r, err)
	}
}
