package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// run is what a workflow run of the embedded forge does: the command that the
// workflow file calls on GitHub, `refit ci NAME --event FILE`, as a child that
// dies with this process. A run that measured is ingested; only those of pushes
// to main are published.
func (h *Host) run(ctx context.Context, r local.RunRequest) error {
	if done, err := h.recall(r); err != nil {
		return err
	} else if done {
		return h.ingest(ctx, r)
	}
	event := filepath.Join(filepath.Dir(r.Out), "event.json")
	if err := os.WriteFile(event, r.Payload, 0o600); err != nil {
		return err
	}
	output := filepath.Join(filepath.Dir(r.Out), "output")
	if err := os.WriteFile(output, nil, 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, h.Refit, "ci", strings.TrimSuffix(r.Workflow, ".yml"),
		"--event", event, "--out", r.Out, "--workspace", h.Workspace.Root,
		"--run-id", strconv.FormatInt(r.ID, 10), "--run-attempt", strconv.Itoa(r.Attempt))
	cmd.Dir = h.Workspace.Root
	cmd.Env = append(allowed(os.Environ(), h.Workspace.Config.Jobs.Env), "GITHUB_OUTPUT="+output, "OUT="+r.Out)
	cmd.Stdout, cmd.Stderr = log, io.MultiWriter(log, &prefixed{w: h.Log, prefix: fmt.Sprintf("  run %d  ", r.ID)})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", r.Workflow, err)
	}
	if out, err := workspace.ReadFile(output, maxEvent); err == nil && bytes.Contains(out, []byte("conclusion=skipped")) {
		return local.ErrSkipped
	}
	if err := h.remember(r); err != nil {
		return err
	}
	return h.ingest(ctx, r)
}

// allowed is the part of this process's environment that a workflow run gets:
// what programs need, and what jobs.env of refit.yaml lets through.
func allowed(environ, jobs []string) []string {
	pass := append([]string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"}, jobs...)
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(pass, name)
	})
}

// ingest stores what a successful run measured.
func (h *Host) ingest(ctx context.Context, r local.RunRequest) error {
	artifacts, err := readArtifacts(r.Out)
	if err != nil {
		return err
	}
	measured, err := result.ReadRun(artifacts)
	if err != nil {
		return fmt.Errorf("ingest run %d: %w", r.ID, err)
	}
	published := r.Event == "push" && r.HeadBranch == "main"
	_, err = h.Store.Ingest(ctx, h.describe(r, artifacts), measured, published)
	return err
}

func (h *Host) describe(r local.RunRequest, artifacts map[string]map[string][]byte) store.WorkflowRun {
	run := store.WorkflowRun{
		ID: r.ID, Attempt: r.Attempt, Name: r.Title, HeadSHA: r.HeadSHA, Branch: r.HeadBranch, Event: r.Event,
		Conclusion: "success", URL: fmt.Sprintf("%s/%s/actions/runs/%d", h.Address.Forge, repository(h.Workspace.Config), r.ID),
		Created: h.Now().UTC(), Started: h.Now().UTC(),
	}
	var log struct {
		Base    string `json:"base_ref"`
		Entries []struct {
			Keys        []string `json:"config-keys"`
			Description []string `json:"description"`
			Link        string   `json:"pr-link"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(artifacts["changelog-metadata"]["changelog_metadata.json"], &log); err == nil {
		run.Base = log.Base
		for _, e := range log.Entries {
			run.ConfigKeys = append(run.ConfigKeys, e.Keys...)
			run.Description, run.PRLink = strings.Join(e.Description, "\n"), e.Link
		}
	}
	return run
}

// readArtifacts reads the folders of a run's output that results are read from.
func readArtifacts(out string) (map[string]map[string][]byte, error) {
	dirs, err := os.ReadDir(out)
	if err != nil {
		return nil, err
	}
	artifacts := map[string]map[string][]byte{}
	for _, d := range dirs {
		switch d.Name() {
		case result.ManifestArtifact, result.RowsArtifact, "changelog-metadata":
		default:
			continue
		}
		files := map[string][]byte{}
		root := os.DirFS(filepath.Join(out, d.Name()))
		err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			files[name], err = fs.ReadFile(root, name)
			return err
		})
		if err != nil {
			return nil, err
		}
		artifacts[d.Name()] = files
	}
	return artifacts, nil
}

// prefixed writes whole lines with a prefix.
type prefixed struct {
	w       io.Writer
	prefix  string
	pending []byte
}

func (p *prefixed) Write(b []byte) (int, error) {
	p.pending = append(p.pending, b...)
	for {
		i := bytes.IndexByte(p.pending, '\n')
		if i < 0 {
			return len(b), nil
		}
		if _, err := fmt.Fprintf(p.w, "%s%s\n", p.prefix, workspace.Printable(string(p.pending[:i]))); err != nil {
			return len(b), err
		}
		p.pending = p.pending[i+1:]
	}
}
