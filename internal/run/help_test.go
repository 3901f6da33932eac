package run

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/image"
)

// programs lie in the image of these tests. They get their words and --help.
var programs = map[string]string{
	"good": `[ "$1 $2 $#" = "serve --help 2" ] || exit 3
case "$PATH" in */root/usr/local/bin:*) ;; *) exit 4 ;; esac
[ -w "$HOME" ] && [ -w "$TMPDIR" ] && [ "$HOME" != "$TMPDIR" ] || exit 5
echo "  --home DIR   of ${HOME##*/}"
echo "  --secret X   ${RUN_TEST_TOKEN-none} ${OF_IMAGE-none}"
echo "a warning" >&2`,
	"usage":   `echo "  --port N   where" >&2; exit 1`,
	"broken":  `echo "libx.so: cannot open shared object file" >&2; exit 127`,
	"crash":   `echo "  --port N   where"; kill -SEGV $$`,
	"mute":    `:`,
	"huge":    `head -c 2097152 /dev/zero | tr '\0' x`,
	"endless": `while :; do echo "  --more   and more"; done`,
	"hangs":   `trap '' TERM; echo $$ > "$1"; read -r _ < "$1.never"`,
	"stuck":   `read -r _ < "$1"`,
	"forks":   `(trap '' TERM; setsid sleep 1000 & echo $! > "$1"; echo "$$" > "$1"; wait) & echo "  --port N   where"; read -r _ < "$1.go"`,
}

type helpImage struct {
	Helper
	img image.Image
}

func newHelpImage(t *testing.T) helpImage {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	var files []image.File
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		files = append(files, image.File{Path: "usr/local/bin/" + name, Mode: 0o755, Data: []byte("#!/bin/sh\n" + programs[name] + "\n")})
	}
	ref, err := image.Parse("lab/helpful:v1.0.0-cpu")
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Build(filepath.Join(dir, "images"), image.Spec{Ref: ref, Env: []string{"OF_IMAGE=yes"}, Layers: []image.Layer{{Files: files}}})
	if err != nil {
		t.Fatal(err)
	}
	return helpImage{Helper{Cache: image.Cache{Dir: filepath.Join(dir, "cache")}}, img}
}

// ask also checks that no folder is left.
func (h helpImage) ask(t *testing.T, ctx context.Context, program ...string) (string, error) {
	t.Helper()
	text, err := h.Help(ctx, h.img, program)
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("%v: left %v", program, left)
	}
	return string(text), err
}

func TestHelp(t *testing.T) {
	t.Setenv("RUN_TEST_TOKEN", "drawn")
	h := newHelpImage(t)
	for _, c := range []struct {
		name, want, wrong string
		program           []string
	}{
		{"environment-of-a-job", "  --home DIR   of home\n  --secret X   none yes\n", "", []string{"good", "serve"}},
		{"path-inside-the-image", "  --port N   where\n", "", []string{"/usr/local/bin/usage"}},
		{"usage-on-stderr-and-exit-1", "  --port N   where\n", "", []string{"usage"}},
		{"not-startable", "", "broken --help: exit status 127: libx.so: cannot open shared object file", []string{"broken"}},
		{"crashed-while-printing", "", "crash --help: ended by a signal: signal: segmentation fault", []string{"crash"}},
		{"printed-nothing", "", "mute serve --help: printed nothing", []string{"mute", "serve"}},
		{"longer-than-any-help", "", "huge --help: help text of more than 1048576 bytes", []string{"huge"}},
		{"endless", "", "endless --help: help text of more than 1048576 bytes", []string{"endless"}},
		{"not-in-the-image", "", " has no program sh in its PATH", []string{"sh"}},
		{"path-outside-the-image", "", "has no program /bin/sh in its PATH", []string{"/bin/sh"}},
		{"no-program", "", "no program to ask for help", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := h.ask(t, t.Context(), c.program...)
			if got != c.want {
				t.Errorf("got %q, want %q", clip(got), c.want)
			}
			if err != nil && c.program != nil && !strings.Contains(err.Error(), "image lab/helpful:v1.0.0-cpu@"+h.img.Digest) {
				t.Errorf("error %v does not name the image", err)
			}
			if err == nil != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got error %v, want %q", err, c.wrong)
			}
		})
	}
}

func clip(s string) string { return s[:min(len(s), 200)] }

// A program that hangs is killed with its group, whether its time is over or
// the caller's is.
func TestHelpOfAHangingProgram(t *testing.T) {
	h := newHelpImage(t)
	h.Grace = 20 * time.Millisecond // it does not hear TERM
	never := fifo(t)
	if err := os.Rename(never.path, never.path+".never"); err != nil {
		t.Fatal(err)
	}
	pids := fifo(t)
	if err := os.Rename(never.path+".never", pids.path+".never"); err != nil {
		t.Fatal(err)
	}
	asked := errors.New("asked to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	hanging := make(chan []int, 1)
	go func() {
		p := pids.read(t, 1)
		cancel(asked)
		hanging <- p
	}()
	if _, err := h.ask(t, ctx, "hangs", pids.path); !errors.Is(err, asked) {
		t.Errorf("got %v, want %v", err, asked)
	}
	for _, pid := range <-hanging {
		if alive(pid) {
			t.Errorf("process %d hangs on", pid)
		}
	}
	h.Limit = 10 * time.Millisecond
	if _, err := h.ask(t, t.Context(), "stuck", pids.path+".never"); err == nil || !strings.Contains(err.Error(), "never --help: no help text after 10ms") {
		t.Errorf("got %v", err)
	}
}

// A child that leaves the group and keeps the output open neither delays the
// answer nor outlives it.
func TestHelpOfAForkingProgram(t *testing.T) {
	h := newHelpImage(t)
	h.Grace = 20 * time.Millisecond
	pids, start := fifo(t), fifo(t)
	if err := os.Rename(start.path, pids.path+".go"); err != nil {
		t.Fatal(err)
	}
	children := make(chan []int, 1)
	go func() {
		p := pids.read(t, 2)
		if err := os.WriteFile(pids.path+".go", []byte("go\n"), 0); err != nil {
			t.Error(err)
		}
		children <- p
	}()
	if got, err := h.ask(t, t.Context(), "forks", pids.path); err != nil || got != "  --port N   where\n" {
		t.Errorf("got %q, %v", got, err)
	}
	p := <-children
	if len(p) != 2 {
		t.Fatalf("processes %v, want a child and its parent", p)
	}
	for _, pid := range p {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}
