package lab

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A stage is a folder of its own in which the real binary tells the story.
// Whatever the lab starts can be told by the folder: the binary lies in it, and
// so does what their environment names as the temporary folder.
type stage struct {
	t     *testing.T
	dir   string
	refit string
	said  []string        // by all starts so far, on standard error
	new   map[string]bool // what they told of the story, without the figures
	part  string          // of the story that is being told
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir(), new: map[string]bool{}}
	s.refit = filepath.Join(s.dir, "refit")
	if err := os.Mkdir(s.temp(), 0o755); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", s.refit, "github.com/refit-bench/refit/cmd/refit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		for _, pid := range s.processes() {
			_ = unix.Kill(pid, unix.SIGKILL) // a test that failed leaves nothing either
		}
	})
	return s
}

func (s *stage) temp() string { return filepath.Join(s.dir, "tmp") }

// lab is the folder that the binary uses by default.
func (s *stage) lab() Lab {
	return Lab{Dir: filepath.Join(s.dir, ".refit-lab"), Refit: s.refit, Now: time.Now}
}

// A moment is when a start is killed: so long after a line that told something
// new, counted over all starts.
type moment struct {
	Line  int
	After time.Duration
}

// An ending is how a start ended.
type ending struct {
	Killed bool
	Code   int // of a start that was not killed
	Answer []string
	Last   string // line on standard error
}

// start runs the binary, and kills it at the moment if one is given: it alone,
// and so that nothing in it can react.
func (s *stage) start(at *moment, args ...string) ending {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.refit, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+s.temp())
	var answer bytes.Buffer
	cmd.Stdout = &answer
	talk, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var e ending
	lines := bufio.NewScanner(talk)
	for armed := at != nil; lines.Scan(); {
		e.Last = lines.Text()
		s.hear(e.Last)
		if armed && len(s.new) >= at.Line {
			armed = false
			time.AfterFunc(at.After, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait() // how it ended is read below
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	e.Killed = ok && ctx.Err() == nil && status.Signaled() && status.Signal() == syscall.SIGKILL
	e.Code = cmd.ProcessState.ExitCode()
	if text := strings.TrimSuffix(answer.String(), "\n"); text != "" {
		e.Answer = strings.Split(text, "\n")
	}
	return e
}

// runLine begins a line of a run: its number, and the point it is at.
var runLine = regexp.MustCompile(`^  run ([0-9]+)  (\[[0-9]+/[0-9]+\])?`)

// hear keeps a line, and whether it tells something new: what is found done,
// waited for or measured again is no progress of the story.
func (s *stage) hear(line string) {
	s.said = append(s.said, line)
	if strings.Contains(line, "✓ receipt of ") || strings.Contains(line, " waits for ") {
		return
	}
	if strings.Contains(line, "] lab ") {
		s.part = plain(line)
	}
	s.new[s.part+"\n"+runLine.FindString(line)+plain(line)] = true
}

// inProgress is the run that was certainly going on when a start ended with
// this line, "" when that cannot be told.
func inProgress(last string) string {
	if m := runLine.FindStringSubmatch(last); m != nil && strings.Contains(last, "engine starts on port") {
		return m[1]
	}
	return ""
}

// processes lists the living processes that the folder started: their program,
// place, command or environment names it.
func (s *stage) processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() && s.owns(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *stage) owns(pid int) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	for _, name := range []string{"exe", "cwd"} {
		if at, err := os.Readlink(filepath.Join(proc, name)); err == nil && strings.HasPrefix(at, s.dir) {
			return true
		}
	}
	for _, name := range []string{"cmdline", "environ"} {
		if data, err := os.ReadFile(filepath.Join(proc, name)); err == nil && bytes.Contains(data, []byte(s.dir)) {
			return true
		}
	}
	return false
}

// nothingRuns waits until no process of the folder is left.
func (s *stage) nothingRuns(limit time.Duration) {
	s.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		pids := s.processes()
		if len(pids) == 0 {
			return
		}
		left := time.Until(deadline)
		if left <= 0 {
			s.t.Fatalf("%v after the end of the start there are still processes of the lab:%s", limit, described(pids))
		}
		if err := awaitEnd(pids[0], left); err != nil {
			s.t.Fatal(err)
		}
	}
}

// awaitEnd returns when the process has ended, or the limit is over.
func awaitEnd(pid int, limit time.Duration) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(limit.Milliseconds())+1)
	if err == unix.EINTR {
		return nil // whoever waits looks again
	}
	return err
}

func described(pids []int) string {
	var b strings.Builder
	for _, pid := range pids {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		fmt.Fprintf(&b, "\n%d %s", pid, cmp.Or(string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})), fmt.Sprint(err)))
	}
	return b.String()
}
