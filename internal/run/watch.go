package run

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// What a job does with its engine.
const (
	loadPhase = "load"
	evalPhase = "eval"
)

// Death says that an engine was gone before it was told to go.
type Death struct {
	Phase string `json:"phase"` // of the job: load or eval
	Line  string `json:"line"`  // first error of its log
}

func (d *Death) Error() string {
	return fmt.Sprintf("engine died during the %s%s", d.Phase, because(d.Line))
}

// patience is how long a client may go on without its engine. What it still
// asks for is refused at once, so it ends and writes down what it measured.
const patience = 5 * time.Second

// dying is how long an engine may take to end after it stopped answering.
const dying = time.Second

// watch runs a client for as long as an engine lives.
type watch struct {
	engine   process
	log      *engineLog
	phase    string
	patience time.Duration
}

// run starts the command and waits for it. When the engine is gone at any
// time until then, the error is a *Death, whatever the command says.
func (w watch) run(ctx context.Context, cmd *exec.Cmd) error {
	if !w.engine.alive() {
		return w.death()
	}
	cmd.WaitDelay = w.patience
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", w.phase, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			if w.goneAfter(err) {
				return w.death()
			}
			return err
		case <-ctx.Done():
			w.stop(cmd, ended)
			return context.Cause(ctx)
		case <-look.C:
			if w.engine.alive() {
				continue
			}
		}
		select {
		case <-ended:
		case <-ctx.Done():
			w.stop(cmd, ended)
		case <-time.After(w.patience):
			w.stop(cmd, ended)
		}
		return w.death()
	}
}

// goneAfter says whether the engine is gone when the client has ended. A client
// that failed may have been faster than the end of its engine.
func (w watch) goneAfter(err error) bool {
	last := time.Now()
	if err != nil {
		last = last.Add(dying)
	}
	for w.engine.alive() {
		if !time.Now().Before(last) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// stop ends the client with TERM and, when that is not enough, KILL.
func (w watch) stop(cmd *exec.Cmd, ended <-chan error) {
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-ended:
	case <-time.After(w.patience):
		_ = cmd.Process.Kill()
		<-ended
	}
}

func (w watch) death() error {
	first, last := w.log.firstError()
	return &Death{w.phase, cmp.Or(first, last)}
}
