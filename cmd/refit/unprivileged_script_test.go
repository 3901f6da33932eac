package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// unprivilegedMain is the scripts' command `unprivileged PROGRAM ARGS`: it runs
// a program that file modes bind even when root runs the tests.
func unprivilegedMain() {
	args := os.Args[1:]
	if os.Getuid() == 0 {
		args = append(withoutOverride(), args...)
	}
	os.Exit(exitCode(args))
}

func withoutOverride() []string {
	return []string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"}
}

// condition answers the scripts' [modes-bind] and [tmpfs]: whether
// `unprivileged` and `tmpfs` can do here what they promise.
func condition(name string) (bool, error) {
	if name == "tmpfs" {
		return tmpfsWorks(), nil
	}
	if name != "modes-bind" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	dir, err := os.MkdirTemp("", "modes")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o555); err != nil {
		return false, err
	}
	touch := []string{"touch", filepath.Join(dir, "file")}
	if os.Getuid() == 0 {
		if exec.Command("setpriv", append(withoutOverride()[1:], "true")...).Run() != nil {
			return false, nil
		}
		touch = append(withoutOverride(), touch...)
	}
	return exec.Command(touch[0], touch[1:]...).Run() != nil, nil
}
