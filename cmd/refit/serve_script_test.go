package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/refit-bench/refit/internal/server"
)

// withServeMain is the scripts' command `withserve DIR PROGRAM ARGS`: it runs a
// program while `refit serve` serves DIR, then ends that like a person would.
func withServeMain() {
	serve := exec.Command("refit", "serve", "-C", os.Args[1])
	serve.Stderr = os.Stderr
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "withserve:", err)
		os.Exit(1)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "registry ") {
	}
	ran := exitCode(os.Args[2:])
	_ = serve.Process.Signal(syscall.SIGTERM) // gone already when the program ended it
	_, _ = io.Copy(io.Discard, out)
	if err := serve.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "withserve: refit serve:", err)
		os.Exit(1)
	}
	os.Exit(ran)
}

// holdPortsMain is the scripts' command `holdports SERVE.JSON PROGRAM ARGS`: it
// runs a program while the ports of a serve.json are taken.
func holdPortsMain() {
	var at server.Address
	data, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(data, &at)
	}
	for _, a := range []string{at.Forge, at.Registry, at.Dashboard} {
		if _, held := net.Listen("tcp", strings.TrimPrefix(a, "http://")); !errors.Is(held, syscall.EADDRINUSE) {
			err = errors.Join(err, held)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "holdports:", err)
		os.Exit(1)
	}
	os.Exit(exitCode(os.Args[2:]))
}

// exitCode runs a program and returns its exit code.
func exitCode(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}
