package run

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// Local runs jobs on this machine, one at a time: points share the machine
// they are measured on. It promises no isolation.
type Local struct {
	Refit string // path of this binary
	Repo  workspace.Repo
	Dir   string        // folders of jobs; each is removed when its job ended
	Grace time.Duration // of a job that is told to end; 0 = 30 s
}

// Run gives the job its own copy of the commit, starts it as a process and
// waits. say gets the job's lines for people. Whatever the job left is moved
// to out, which must not exist yet. When this process dies, so does the job.
// This process must start nothing else meanwhile: it is ended with the job.
func (l Local) Run(ctx context.Context, job Job, commit, out string, say func(string)) error {
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	dir, err := os.MkdirTemp(l.Dir, "job-")
	if err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	defer os.RemoveAll(dir)
	job.Checkout, job.Out = filepath.Join(dir, "checkout"), filepath.Join(dir, "out")
	if err := l.Repo.Export(ctx, commit, job.Checkout); err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	if err := os.MkdirAll(job.Out, 0o755); err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	file := filepath.Join(dir, "job.json")
	if err := writeSecret(file, job); err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	err = l.start(ctx, job, file, say)
	if moved := os.Rename(job.Out, out); moved != nil {
		err = errors.Join(err, fmt.Errorf("local executor: %w", moved))
	}
	return err
}

// writeSecret writes job.json so that only its owner reads it: its
// environment may hold what jobs.env let through.
func writeSecret(path string, job Job) error {
	if err := writeJSON(path, job); err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// start runs `refit job run` in a process group of its own. It gets TERM, not
// KILL, when this process dies: it has processes to end itself.
func (l Local) start(ctx context.Context, job Job, file string, say func(string)) error {
	grace := l.Grace
	if grace == 0 {
		grace = 30 * time.Second
	}
	log, err := os.Create(filepath.Join(job.Out, "job.log"))
	if err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, l.Refit, "job", "run", file)
	cmd.Dir = filepath.Dir(file)
	mark := job.mark(time.Now())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + job.home(), "TMPDIR=" + job.temp(), "LANG=C.UTF-8", markName + "=" + mark}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	said := &tail{most: 4 << 10}
	cmd.Stderr = io.MultiWriter(&bounded{w: log, left: maxLog}, said)
	steps, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	below := adopt()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("local executor: %w", err)
	}
	pass(steps, say)
	err = cmd.Wait()
	// A job that was killed could not do that itself.
	left := errors.Join(killMarked(mark, grace), below.end(grace))
	switch {
	case err == nil:
		return left
	case ctx.Err() != nil:
		return errors.Join(context.Cause(ctx), left)
	}
	return errors.Join(verdict(job, err, said.complaint()), left)
}

// pass hands on lines until the writer ends.
func pass(r io.Reader, say func(string)) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		say(lines.Text())
	}
	_, _ = io.Copy(io.Discard, r) // a line too long ends the scanner, not the job
}

// tail keeps the end of what is written.
type tail struct {
	most int
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - t.most; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// complaint is the last line that speaks of an error, as this program and
// most others begin or mark one.
func (t *tail) complaint() string {
	lines := strings.Split(string(t.data), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if text, ok := strings.CutPrefix(line, "refit: "); ok && !strings.HasPrefix(text, "hint: ") {
			return text
		}
		if low := strings.ToLower(line); strings.Contains(low, "error:") {
			return line
		}
	}
	return ""
}

// verdict is what the job itself says about its end: in its folder or, when it
// had no room there, with its last words.
func verdict(job Job, err error, said string) error {
	src, readErr := workspace.ReadFile(filepath.Join(job.Out, endingFile), maxJobFile)
	var e Ending
	if readErr == nil && json.Unmarshal(src, &e) == nil {
		if own := e.problem(); own != nil {
			return own
		}
	}
	own, ok := strings.CutPrefix(said, "job "+job.Name+": ")
	switch {
	case ok && strings.HasSuffix(own, syscall.ENOSPC.Error()):
		return full(own)
	case ok:
		return errors.New(own)
	}
	return fmt.Errorf("job process: %w%s", err, because(said))
}
