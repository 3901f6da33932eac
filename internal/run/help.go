package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/image"
)

// Helper asks a program of an image for its help text, on this machine and
// with what a job's engine would have: the image's folders first in PATH, its
// variables, a home of its own, and nothing of this process's environment.
type Helper struct {
	Cache image.Cache
	Limit time.Duration // how long a program may take; 0 = 20 s
	Grace time.Duration // between TERM and KILL; 0 = 1 s
}

// maxHelpText bounds what a program may print. A text that is longer is
// refused, not cut: an option that was cut off would look removed.
const maxHelpText = 1 << 20

// Help is what the program prints when --help stands behind its words: its
// standard output, or standard error when that is empty. Some programs end
// with an error then; the text counts when it shows options. No process of the
// program is left, and neither are its files.
func (h Helper) Help(ctx context.Context, img image.Image, program []string) (text []byte, err error) {
	line := strings.Join(append(program[:len(program):len(program)], "--help"), " ")
	if len(program) == 0 {
		return nil, errors.New("no program to ask for help")
	}
	root, err := h.Cache.Root(ctx, img)
	if err != nil {
		return nil, err
	}
	dir, release, err := workDir("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	j := Job{Key: "help", Image: img.Ref.String(), Env: h.Cache.Env(img), Checkout: filepath.Join(dir, "work")}
	for _, d := range []string{j.Checkout, j.home(), j.temp()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	path, err := j.program(program[0])
	if filepath.IsAbs(program[0]) { // as the image sees it
		path, err = Job{Image: j.Image, Env: []string{"PATH=" + root}}.program(program[0])
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, append(program[1:len(program):len(program)], "--help")...)
	cmd.Args[0] = program[0]
	text, err = h.ask(ctx, j, cmd)
	if err != nil {
		return nil, fmt.Errorf("image %s: %s: %w", j.Image, line, err)
	}
	return text, nil
}

// plain are variables that keep programs from adorning what they print and
// from writing beside their sources.
func (j Job) plain() map[string]string {
	return map[string]string{"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100",
		"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": filepath.Join(j.home(), "pycache")}
}

// ask runs the command as the only member of a group and reads what it says.
func (h Helper) ask(ctx context.Context, j Job, cmd *exec.Cmd) ([]byte, error) {
	limit, grace := cmp.Or(h.Limit, 20*time.Second), cmp.Or(h.Grace, time.Second)
	ctx, timeOver := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no help text after %v", limit))
	defer timeOver()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	full := func() { cancel(fmt.Errorf("help text of more than %d bytes", maxHelpText)) }
	said, wrong := &capped{full: full}, &capped{full: full}

	mark := j.mark(time.Now())
	g, err := startGroup(mark)
	if err != nil {
		return nil, err
	}
	err = h.within(g, wrong, grace, func(stderr *os.File) error {
		return g.within(said, grace, func(stdout *os.File) error {
			cmd.Dir, cmd.Env = j.Checkout, j.environment(j.plain(), "", mark)
			g.join(cmd, stdout)
			cmd.Stderr = stderr
			return g.run(ctx, cmd, grace)
		})
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return usable(said.text.Bytes(), wrong.text.Bytes(), err)
}

// within gives the work a second pipe beside that of the group, whose end ends
// all writers of this one too.
func (h Helper) within(g *group, w io.Writer, grace time.Duration, work func(*os.File) error) error {
	in, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, g.end(grace))
	}
	defer in.Close()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(w, in)
	}()
	err = work(out)
	out.Close()
	_ = in.SetReadDeadline(time.Now().Add(grace)) // somebody unkillable may hold the other end
	<-copied
	return err
}

// usable picks the help text out of what a program printed, and judges how it
// ended.
func usable(stdout, stderr []byte, ended error) ([]byte, error) {
	text := stdout
	if len(bytes.TrimSpace(text)) == 0 {
		text = stderr
	}
	var exit *exec.ExitError
	switch {
	case ended != nil && !errors.As(ended, &exit):
		return nil, ended
	case exit != nil && signaled(exit):
		return nil, fmt.Errorf("ended by a signal: %w%s", ended, because(lastWords(stderr)))
	case len(bytes.TrimSpace(text)) == 0 && exit != nil:
		return nil, fmt.Errorf("printed nothing: %w", ended)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, errors.New("printed nothing")
	case exit != nil:
		if _, err := engine.ReadHelp(text, "--help"); err != nil {
			return nil, fmt.Errorf("%w%s", ended, because(lastWords(text)))
		}
	}
	return text, nil
}

func signaled(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// lastWords is the last line of a text, cut when long.
func lastWords(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := strings.ToValidUTF8(strings.TrimSpace(lines[len(lines)-1]), "?")
	return last[:min(len(last), 300)]
}

// capped keeps what is written up to the limit, and says once when there is more.
type capped struct {
	text bytes.Buffer
	full func()
}

func (c *capped) Write(p []byte) (int, error) {
	room := maxHelpText - c.text.Len()
	c.text.Write(p[:min(len(p), room)])
	if len(p) > room {
		c.full()
	}
	return len(p), nil
}
