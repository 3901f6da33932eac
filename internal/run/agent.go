package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Agent is an external program that is asked for judgements. It has a folder,
// an environment and a process group of its own, and no way to a forge.
type Agent struct {
	Argv  []string
	Env   []string      // NAME=value of this process; of these the allowed go on
	Pass  []string      // names that are allowed beside the fixed ones
	Grace time.Duration // between TERM and KILL; 0 = 2 s
}

// agentNames are variables that a program needs to run at all.
var agentNames = []string{"PATH", "LANG", "LC_ALL", "TZ"}

// forgeNames never reach an agent, whatever is allowed: the credentials of a
// forge stay with the process that moves candidates.
var forgeNames = []string{"GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "REFIT_TOKEN"}

// maxAgentLog bounds what is kept of what an agent prints, in bytes.
const maxAgentLog = 1 << 20

// Turn runs the program once in dir, with the file prompt on its standard input,
// until it ends or ctx does; then every process of it is killed. What it prints
// goes to log, bounded and without secrets. The error says how it ended.
func (a Agent) Turn(ctx context.Context, dir, prompt string, log io.Writer) (err error) {
	if len(a.Argv) == 0 {
		return errors.New("agent: no program")
	}
	home, temp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{home, temp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
	stdin, err := os.Open(prompt)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer stdin.Close()
	j := Job{Key: "agent", Env: a.passed()}
	mark, grace := j.mark(time.Now()), cmp.Or(a.Grace, 2*time.Second)
	cmd := exec.Command(a.Argv[0], a.Argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, stdin
	cmd.Env = append(j.Env, "HOME="+home, "TMPDIR="+temp, "TERM=dumb", "NO_COLOR=1", markName+"="+mark,
		"REFIT_ANSWER="+filepath.Join(dir, "answer.json"), "REFIT_TREE="+filepath.Join(dir, "tree"))
	kept := &bounded{w: log, left: maxAgentLog}
	safe := j.redactor().writer(kept)
	defer func() {
		err = errors.Join(err, safe.Close(), kept.err)
		if kept.left == 0 {
			_, _ = io.WriteString(log, "\n(no more than this is kept)\n")
		}
	}()
	g, err := startGroup(mark)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	err = g.within(safe, grace, func(out *os.File) error {
		g.join(cmd, out)
		return g.run(ctx, cmd, grace)
	})
	if err != nil {
		return fmt.Errorf("agent %s: %w", a.Argv[0], err)
	}
	return nil
}

// passed is the part of the environment that the agent gets.
func (a Agent) passed() []string {
	allowed := append(slices.Clone(agentNames), a.Pass...)
	var out []string
	for _, kv := range a.Env {
		name, _, ok := strings.Cut(kv, "=")
		if ok && slices.Contains(allowed, name) && !slices.Contains(forgeNames, name) {
			out = append(out, kv)
		}
	}
	return out
}
