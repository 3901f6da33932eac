// Refit moves the serving engine of an inference recipe to a newer image,
// proves what that did, and leaves a verified record.
//
// See it happen on this machine, with engines of its own:
//
//	refit lab
//	refit lab down
//
// In a checkout of a recipe repository:
//
//	refit init --github
//	refit status
//	refit doctor
//	refit upgrade FAMILY --dry-run
//	refit upgrade FAMILY --to IMAGE
//	refit candidate run FAMILY --agent CMD
//	refit candidate show FAMILY
//	refit wave plan
//	refit why PR
//	refit compare A B
//	refit serve
//	refit mcp
//	refit config
//
// Standard output is the answer, standard error the conversation. Exit codes:
// 0 done, 1 error, 2 usage, 3 refused by a gate, 4 waiting (call again).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	os.Exit(execute(ctx, e, os.Args[1:]))
}

// env is what a command may touch.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
}

// The exit codes.
const (
	exitError   = 1
	exitUsage   = 2
	exitRefused = 3
	exitWaiting = 4
)

// exit is an error with the code that main ends with. A nil err prints nothing.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// usage is an error in how the command was called.
func usage(format string, args ...any) error {
	return exit{exitUsage, fmt.Errorf(format, args...)}
}

// execute is main without the process.
func execute(ctx context.Context, e env, args []string) int {
	root := commands(e)
	root.SetArgs(spread(root, args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var code exit
	if !errors.As(err, &code) {
		code = exit{exitError, err}
	}
	if code.err == nil {
		return code.code
	}
	fmt.Fprintf(text{e.stderr}, "refit: %v\n", err)
	if h := hint(err); h != "" {
		fmt.Fprintf(text{e.stderr}, "refit: hint: %s\n", h)
	}
	return code.code
}
