package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/workspace"
)

// Env is what Main may touch: the log goes to Stderr, as the logs of real
// engines do.
type Env struct {
	Stdout, Stderr io.Writer
	Now            func() time.Time
}

// Main runs a simulated engine the way a launcher script calls it:
//
//	--profile FILE --source DIR [--options FILE] -- <the engine's own flags>
//
// DIR is the Python source that declares those flags; the options file says the
// same in JSON, for builds that cannot read Python. Main returns when ctx
// ends, on SIGTERM or SIGINT (after a drain), and when the process that started
// it dies. The exit code is 0 after a drain, 2 for flags that the engine or
// Main itself rejects, and 1 for anything else.
func Main(ctx context.Context, args []string, env Env) (exit int) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	if release, ok := dieWithParent(); !ok {
		return 1
	} else {
		defer release()
	}
	config, exit := configure(args, env)
	if exit != 0 {
		return exit
	}
	server, err := New(config)
	if err != nil {
		reject(env.Stderr, config.Flags, err)
		return 2
	}
	return report(env.Stderr, server.Serve(ctx))
}

// dieWithParent asks the kernel for SIGTERM at the end of the parent. The wish
// belongs to the thread, so the thread is kept until release. It says false
// when the parent is gone already.
func dieWithParent() (release func(), ok bool) {
	runtime.LockOSThread()
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		return runtime.UnlockOSThread, true // an old kernel or a strict sandbox: run without it
	}
	return runtime.UnlockOSThread, os.Getppid() == parent
}

func configure(args []string, env Env) (Config, int) {
	flags := flag.NewFlagSet("sim", flag.ContinueOnError)
	flags.SetOutput(env.Stderr)
	profile := flags.String("profile", "", "engine profile, a `file` in JSON")
	source := flags.String("source", "", "`directory` of the Python source that declares the engine's flags")
	options := flags.String("options", "", "argument model in JSON, a `file` for builds that cannot read Python")
	if err := flags.Parse(args); err != nil {
		return Config{}, 2
	}
	if *profile == "" || *source == "" {
		fmt.Fprintln(env.Stderr, "sim: --profile and --source are required")
		return Config{}, 2
	}
	c, err := load(*profile, *source, *options)
	if err != nil {
		fmt.Fprintf(env.Stderr, "sim: %v\n", err)
		return Config{}, 1
	}
	c.Args, c.Log, c.Now = flags.Args(), env.Stderr, env.Now
	c.Listen = func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	return c, 0
}

func load(profile, source, options string) (Config, error) {
	data, err := workspace.ReadFile(profile, 1<<20)
	if err != nil {
		return Config{}, err
	}
	p, err := ParseProfile(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", profile, err)
	}
	flags, err := readFlags(source, options)
	return Config{Profile: p, Flags: flags}, err
}

// reject prints what argparse prints.
func reject(w io.Writer, m engine.Model, err error) {
	var names []string
	for _, o := range m.Options {
		if len(o.Names) > 0 {
			names = append(names, "["+o.Names[0]+"]")
		}
	}
	fmt.Fprintf(w, "usage: simserve [-h] %s\n", strings.Join(names, " "))
	message := err.Error()
	var rejected *engine.RejectError
	if errors.As(err, &rejected) {
		message = rejected.Message
	}
	fmt.Fprintf(w, "simserve: error: %s\n", message)
}

// report prints how serving ended and returns the exit code.
func report(w io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EADDRINUSE):
		fmt.Fprintf(w, "ERROR:    [Errno 98] error while attempting to bind on address: address already in use (%v)\n", err)
	default:
		fmt.Fprintf(w, "ERROR:    %v\n", err)
	}
	return 1
}
