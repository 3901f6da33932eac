package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"refit": main, "seedstore": seedStore, "toyworkspace": toyMain, "unprivileged": unprivilegedMain,
		"withserve": withServeMain, "holdports": holdPortsMain,
		"withforge": withForgeMain, "hastyrefit": hastyMain, "exits": exitsMain,
		"toyfault": toyFaultMain, "tmpfs": tmpfsMain, "portthief": thiefMain,
	})
}

// Each script of testdata/script is one behaviour of the binary.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:       "testdata/script",
		Condition: condition,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GIT_AUTHOR_NAME", "owner")
			e.Setenv("GIT_AUTHOR_EMAIL", "owner@example.invalid")
			e.Setenv("GIT_COMMITTER_NAME", "owner")
			e.Setenv("GIT_COMMITTER_EMAIL", "owner@example.invalid")
			return nil
		},
	})
}

// Every command says what it is for and shows how it is called.
func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden {
				continue
			}
			if sub.Short == "" {
				t.Errorf("%s: no short help", sub.CommandPath())
			}
			if !sub.HasSubCommands() && sub.Example == "" {
				t.Errorf("%s: no example", sub.CommandPath())
			}
			walk(sub)
		}
	}
	walk(commands(env{os.Stdin, io.Discard, io.Discard, time.Now}))
}

// BenchmarkVersion is the whole life of `refit version` as a process: at most
// 15 ms is promised. The second figure is the same for an empty C-like process
// (/bin/true), measured in the same run: what no program can be faster than.
func BenchmarkVersion(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "refit")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	b.ResetTimer()
	for b.Loop() {
		if err := exec.CommandContext(context.Background(), bin, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
	ours := b.Elapsed() / time.Duration(b.N)
	b.StopTimer()
	start := time.Now()
	for range b.N {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
	floor := time.Since(start) / time.Duration(b.N)
	b.ReportMetric(float64(ours.Microseconds())/1000, "ms/start")
	b.ReportMetric(float64(floor.Microseconds())/1000, "ms/true")
	b.ReportMetric(float64(ours)/float64(floor), "x-true")
}
