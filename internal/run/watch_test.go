package run

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sleeper is a process that ends when it is told to.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// end kills a process and leaves a zombie, which nobody waits for.
func end(cmd *exec.Cmd) {
	cmd.Process.Kill()
	until(time.Minute, func() []int {
		if alive(cmd.Process.Pid) {
			return []int{cmd.Process.Pid}
		}
		return nil
	}, func(int) {})
}

// A client whose engine is gone may write down what it measured. The engine
// here is never waited for: a zombie is gone.
func TestClientOfADeadEngineEnds(t *testing.T) {
	for _, c := range []struct {
		name, script string
		kept         bool
	}{
		{"by-itself", `echo $$ > "$1"; read -r _ < "$3"; echo kept > "$2"`, true},
		{"on-term", `trap 'echo kept > "$2"; exit 1' TERM; echo $$ > "$1"; while :; do read -r _ < "$3" || :; done`, true},
		{"only-when-killed", `trap '' TERM; echo $$ > "$1"; while :; do read -r _ < "$3" || :; done`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			pipe, hold, kept := fifo(t), fifo(t), filepath.Join(t.TempDir(), "kept")
			engine := sleeper(t)
			go func() {
				pipe.read(t, 1)
				end(engine)
				if c.name == "by-itself" {
					_ = os.WriteFile(hold.path, []byte("go on\n"), 0)
				}
			}()
			w := watch{engine: processOf(engine.Process.Pid), log: logOf(t, "KeyError: 'x'\n"), phase: loadPhase, patience: 200 * time.Millisecond}
			if c.name == "by-itself" {
				w.patience = time.Minute
			}
			err := w.run(context.Background(), exec.Command("/bin/sh", "-c", c.script, "sh", pipe.path, kept, hold.path))
			var death *Death
			if !errors.As(err, &death) || err.Error() != "engine died during the load: KeyError: 'x'" {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(kept); (err == nil) != c.kept {
				t.Errorf("kept: %v, want %v", err, c.kept)
			}
		})
	}
}

func TestClientBesideALivingEngine(t *testing.T) {
	engine := sleeper(t)
	var out, said strings.Builder
	died := filepath.Join(t.TempDir(), "died")
	run := func(script string) error {
		return WaitReadyCommand(context.Background(), []string{"--pid", strconv.Itoa(engine.Process.Pid), "--log", "/nonexistent", "--died", died, "--", "/bin/sh", "-c", script}, &out, &said)
	}
	if err := run("echo done"); err != nil || out.String() != "done\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := run("echo 'refit: bench: 8 of 10 requests failed' >&2; exit 1"); err == nil || err.Error() != "bench: 8 of 10 requests failed" {
		t.Errorf("a failed client: got %v", err)
	}
	if err := run("exit 3"); err == nil || err.Error() != "load: exit status 3" {
		t.Errorf("a silent client: got %v", err)
	}
	if _, err := os.Stat(died); err == nil {
		t.Error("a living engine was called dead")
	}
	end(engine)
	started := filepath.Join(t.TempDir(), "started")
	if err := run("touch " + started); err == nil || err.Error() != "engine died during the load" {
		t.Errorf("a dead engine: got %v", err)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("the client of a dead engine was started")
	}
	if src, err := os.ReadFile(died); err != nil || !strings.Contains(string(src), `"phase": "load"`) {
		t.Errorf("the death was not written down: %s, %v", src, err)
	}
}

// Another process of the same number is another process.
func TestProcessIsNotItsNumber(t *testing.T) {
	p := processOf(os.Getpid())
	if !p.alive() {
		t.Error("this process is not alive")
	}
	p.born += "0"
	if p.alive() {
		t.Error("a process born later counts as the same")
	}
}

// A log on a full disk does not stop its recipe.
func TestLogOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	b := &bounded{w: full, left: 1 << 20}
	for range 3 {
		if n, err := b.Write([]byte("line\n")); n != 5 || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	var e Ending
	e.add(errors.New("recipe left no r.json"))
	e.add(b.err)
	if err := e.problem(); err == nil || err.Error() != "no room for the files of the job: write /dev/full: no space left on device" {
		t.Errorf("got %v", err)
	}
}
