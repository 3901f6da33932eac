package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// Detach starts `refit serve` for the workspace in a session of its own, so
// that it outlives this process, and returns once it answers. It must not be
// called while this process serves the workspace itself.
func Detach(ctx context.Context, w *workspace.Workspace, refit string, every time.Duration) (Address, error) {
	log, err := os.OpenFile(w.State("serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return Address{}, fmt.Errorf("serve: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(refit, "serve", "--workspace", w.Root)
	cmd.Dir = w.Root
	cmd.Env = allowed(os.Environ(), w.Config.Jobs.Env)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Address{}, fmt.Errorf("serve: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // one value, then nobody sends again
	for {
		if a, err := ReadAddress(w); err == nil {
			if h, err := workspace.ParseHolder(a.Holder); err == nil && h.PID == cmd.Process.Pid {
				return a, nil // written last: everything answers
			}
		}
		select {
		case err := <-ended:
			return Address{}, fmt.Errorf("serve: ended at once (%v): see %s", err, w.State("serve.log"))
		default:
		}
		if err := Pause(ctx, every); err != nil {
			return Address{}, err
		}
	}
}
