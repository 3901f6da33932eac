package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/workspace"
)

// progress prints the conversation of long work: one line per event, with the
// time since the start. What polling finds again is not told again. On a
// terminal the line of a step that has begun is replaced by what it did.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	start time.Time
	tty   bool
	open  bool              // the last line has no newline yet
	told  map[string]string // by step, what was told last: polling walks all steps again
}

func newProgress(e env) *progress {
	return &progress{w: e.stderr, now: e.now, start: e.now(), tty: isTerminal(e.stderr), told: map[string]string{}}
}

// Say prints a line. What comes after it is a story of its own.
func (p *progress) Say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.told)
	p.line(line, false)
}

// Event prints a candidate's event.
func (p *progress) Event(ev candidate.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	told, again := p.told[ev.Step]
	if again && (ev.Mark == "kept" || ev.Mark == "start" || told == words(ev)) {
		return
	}
	if ev.Mark == "start" && !p.tty {
		return // without a terminal a step is told by what it did
	}
	p.told[ev.Step] = words(ev)
	p.line(fmt.Sprintf("%-9s %s", ev.Step, words(ev)), ev.Mark == "start")
}

// Write lets the parts of a process that print whole lines share the output.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
	return p.w.Write(b)
}

func words(ev candidate.Event) string {
	switch ev.Mark {
	case "start":
		return "…"
	case "waiting":
		return "waits for " + ev.Detail
	case "kept":
		return "✓ " + ev.Detail
	case "done":
		return "✓ " + ev.Detail
	}
	return ev.Mark + ": " + ev.Detail
}

func (p *progress) line(text string, transient bool) {
	p.finish()
	text = workspace.Printable(text)
	stamp := fmt.Sprintf("[%6.1fs] ", p.now().Sub(p.start).Seconds())
	if transient {
		fmt.Fprintf(p.w, "%s%s", stamp, text)
		p.open = true
		return
	}
	fmt.Fprintf(p.w, "%s%s\n", stamp, text)
}

// finish clears a line that was left open.
func (p *progress) finish() {
	if p.open {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.open = false
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
