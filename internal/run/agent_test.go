package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// turn runs a shell script as an agent.
func turn(t *testing.T, ctx context.Context, a Agent, script string) (dir, log string, err error) {
	t.Helper()
	dir = t.TempDir()
	prompt := filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(prompt, []byte("What now?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Argv = []string{"/bin/sh", "-c", script}
	var said bytes.Buffer
	err = a.Turn(ctx, dir, prompt, &said)
	return dir, said.String(), err
}

func TestAnAgentGetsOnlyWhatIsAllowed(t *testing.T) {
	a := Agent{
		Env: []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC", "HOME=/home/owner", "GITHUB_TOKEN=a-token", "GH_TOKEN=b-token", "OTHER=secret",
			"MODEL_KEY=passed", "REFIT_TOKEN=c-token", "broken"},
		Pass: []string{"MODEL_KEY", "GITHUB_TOKEN", "GH_TOKEN", "REFIT_TOKEN"},
	}
	dir, log, err := turn(t, t.Context(), a, `env > env.txt; pwd > pwd.txt; cat > stdin.txt; [ -w "$HOME" ] && [ -w "$TMPDIR" ] && [ "$HOME" != "$TMPDIR" ] && echo room`)
	if err != nil || log != "room\n" {
		t.Fatalf("got %q, %v", log, err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var names []string
	for line := range strings.Lines(read("env.txt")) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n == "_" || n == "SHLVL" || n == "PWD" || n == "OLDPWD" }) // of the shell
	want := []string{"HOME", "MODEL_KEY", "NO_COLOR", "PATH", "REFIT_ANSWER", "REFIT_JOB", "REFIT_TREE", "TERM", "TMPDIR", "TZ"}
	if !slices.Equal(names, want) {
		t.Errorf("environment: got %v, want %v", names, want)
	}
	if strings.TrimSpace(read("pwd.txt")) != dir || read("stdin.txt") != "What now?\n" {
		t.Errorf("it runs in %s and reads %q; want its folder and the prompt", read("pwd.txt"), read("stdin.txt"))
	}
}

func TestWhatAnAgentPrintsIsBoundedAndWithoutSecrets(t *testing.T) {
	a := Agent{Env: []string{"PATH=" + os.Getenv("PATH"), "MODEL_TOKEN=kQ7vR2xZ9mB4tW8p"}, Pass: []string{"MODEL_TOKEN"}}
	_, log, err := turn(t, t.Context(), a, `echo "with $MODEL_TOKEN"; echo "and $MODEL_TOKEN" >&2; head -c 2097152 /dev/zero | tr '\0' x`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log, "kQ7vR2xZ9mB4tW8p") || !strings.HasPrefix(log, "with ***\nand ***\nxxx") {
		t.Errorf("the log begins with %q", clip(log))
	}
	if len(log) > maxAgentLog+100 || !strings.HasSuffix(log, "\n(no more than this is kept)\n") {
		t.Errorf("the log has %d bytes and ends with %q", len(log), log[max(0, len(log)-60):])
	}
}

func TestAnAgentThatFailsSaysHow(t *testing.T) {
	if _, _, err := turn(t, t.Context(), Agent{}, "exit 3"); err == nil || !strings.Contains(err.Error(), "agent /bin/sh: exit status 3") {
		t.Errorf("got %v", err)
	}
	var a Agent
	if err := a.Turn(t.Context(), t.TempDir(), "", nil); err == nil || err.Error() != "agent: no program" {
		t.Errorf("without a program: got %v", err)
	}
}

// Nothing of an agent is left when its time is over: not what ignores TERM, not
// what left its session.
func TestAnAgentEndsWithEverythingItStarted(t *testing.T) {
	started := fifo(t)
	over := errors.New("the time is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	pids := make(chan []int, 1)
	go func() {
		pids <- started.read(t, 2)
		cancel(over)
	}()
	a := Agent{Env: []string{"PATH=" + os.Getenv("PATH")}, Grace: time.Second}
	_, _, err := turn(t, ctx, a, `mkfifo never; trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > "$1"; read -r _ < never' sh `+started.path+` &
echo $$ > `+started.path+`; read -r _ < never`)
	if !errors.Is(err, over) {
		t.Errorf("got %v, want that the time is over", err)
	}
	for _, pid := range <-pids {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

func TestAnAgentLeavesNothingBehindWhenItEnds(t *testing.T) {
	started := fifo(t)
	pids := make(chan []int, 1)
	go func() { pids <- started.read(t, 1) }()
	_, _, err := turn(t, t.Context(), Agent{Env: []string{"PATH=" + os.Getenv("PATH")}, Grace: time.Second},
		`mkfifo never up; sh -c 'echo $$ > "$1"; echo > up; read -r _ < never' sh `+started.path+` &
read -r _ < up; exit 0`)
	if err != nil {
		t.Errorf("got %v", err)
	}
	for _, pid := range <-pids {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}
