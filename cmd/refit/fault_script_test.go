package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/image"
)

// toyFaultMain is the scripts' command `toyfault LAYOUT VERSION KEY JSON`: it
// puts the toy's image of a version (v1, v2) into a layout anew, with one key
// of its engine's profile set.
func toyFaultMain() {
	if err := breakToy(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "toyfault:", err)
		os.Exit(1)
	}
}

func breakToy(layout, version, key, value string) error {
	ref, err := image.Parse("toy/loom:" + version + ".0.0-box")
	if err != nil {
		return err
	}
	source, err := toyFiles.ReadFile("testdata/toy/engine/loom.json")
	if err != nil {
		return err
	}
	profile := map[string]json.RawMessage{}
	if err := json.Unmarshal(source, &profile); err != nil {
		return err
	}
	profile[key] = json.RawMessage(value)
	changed, err := json.Marshal(profile)
	if err != nil {
		return err
	}
	spec := toySpec(ref, version, candidate.SourceLabel)
	for i, f := range spec.Layers[0].Files {
		if bytes.Equal(f.Data, source) {
			spec.Layers[0].Files[i].Data = changed
		}
	}
	_, err = image.Build(layout, spec)
	return err
}

// tmpfsMain is the scripts' command `tmpfs SIZE DIR PROGRAM ARGS`: it runs a
// program that sees a file system of that size on DIR, which really gets full.
// Nobody else sees it, and it is gone when the program ends.
func tmpfsMain() { os.Exit(exitCode(append(onTmpfs(os.Args[1], os.Args[2]), os.Args[3:]...))) }

func onTmpfs(size, dir string) []string {
	flags := "-m"
	if os.Getuid() != 0 {
		flags = "-Urm"
	}
	const mount = `mount -t tmpfs -o mode=0755,size="$0" none "$1" && shift && exec "$@"`
	return []string{"unshare", flags, "sh", "-c", mount, size, dir}
}

// tmpfsWorks answers the scripts' [tmpfs].
func tmpfsWorks() bool {
	dir, err := os.MkdirTemp("", "tmpfs")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	args := append(onTmpfs("64k", dir), "true")
	return exec.Command(args[0], args[1:]...).Run() == nil
}

// thiefMain is the scripts' command `portthief ASK ANSWER PROGRAM ARGS`: it
// makes two named pipes and runs a program. Whoever writes a port to ASK reads
// a line from ANSWER when the port is taken, by a server that says yes to
// everything.
func thiefMain() {
	ask, answer := os.Args[1], os.Args[2]
	if err := errors.Join(syscall.Mkfifo(ask, 0o600), syscall.Mkfifo(answer, 0o600)); err != nil {
		fmt.Fprintln(os.Stderr, "portthief:", err)
		os.Exit(1)
	}
	go func() {
		for {
			port, err := os.ReadFile(ask)
			if err != nil {
				return
			}
			said := "taken\n"
			l, err := net.Listen("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
			if err != nil {
				said = err.Error() + "\n"
			} else {
				go func() { _ = http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }() // until this process ends
			}
			_ = os.WriteFile(answer, []byte(said), 0)
		}
	}()
	os.Exit(exitCode(os.Args[3:]))
}
