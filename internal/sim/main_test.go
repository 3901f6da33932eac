package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets tests start this binary as an engine, or as the parent of one.
func TestMain(m *testing.M) {
	switch os.Getenv("REFIT_SIM_TEST") {
	case "engine":
		os.Exit(Main(context.Background(), os.Args[1:], Env{Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now}))
	case "parent":
		child := exec.Command(os.Args[0], os.Args[1:]...)
		child.Env = append(os.Environ(), "REFIT_SIM_TEST=engine")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		fmt.Fprintln(os.Stderr, child.Run())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// launch is the command line of a simulated engine, without its own flags.
func launch(t *testing.T, profile string) []string {
	t.Helper()
	dir := t.TempDir()
	options, err := json.Marshal(flagsOf())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"engine.json": []byte(profile), "options.json": options}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--profile", filepath.Join(dir, "engine.json"), "--source", "testdata/engine", "--options", filepath.Join(dir, "options.json"), "--"}
}

const quickProfile = `{"version":"2.0.0","time":{"step-base":"20us","max-batch":8}}`

func TestMainRejects(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"ambiguous", []string{"--model-path", "m", "--graph-max-batch", "16"},
			"simserve: error: ambiguous option: --graph-max-batch could match --graph-max-batch-decode, --graph-max-batch-prefill\n"},
		{"unrecognized", []string{"--model-path", "m", "--speed", "9"}, "simserve: error: unrecognized arguments: --speed 9\n"},
		{"required", nil, "simserve: error: the following arguments are required: --model-path\n"},
		{"port-out-of-range", []string{"--model-path", "m", "--port", "70000"}, `simserve: error: port: "70000" is not a whole number from 0 to 65535` + "\n"},
	} {
		var log bytes.Buffer
		exit := Main(t.Context(), append(launch(t, quickProfile), c.args...), Env{Stderr: &log, Now: time.Now})
		if exit != 2 || !strings.HasSuffix(log.String(), c.want) || !strings.HasPrefix(log.String(), "usage: simserve [-h] ") {
			t.Errorf("%s: exit %d, log:\n%s\nwant exit 2, a usage line and %q", c.name, exit, log.String(), c.want)
		}
	}
}

func TestMainNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		exit int
		want string
	}{
		{"no-arguments", nil, 2, "--profile and --source are required"},
		{"no-profile-file", []string{"--profile", "absent.json", "--source", "testdata/engine"}, 1, "absent.json"},
		{"unknown-flag", []string{"--colour"}, 2, "colour"},
		{"bad-profile", launch(t, `{"speed":1}`), 1, `engine.json: engine profile: json: unknown field "speed"`},
	} {
		var log bytes.Buffer
		if exit := Main(t.Context(), c.args, Env{Stderr: &log, Now: time.Now}); exit != c.exit || !strings.Contains(log.String(), c.want) {
			t.Errorf("%s: exit %d, log %q; want exit %d and %q", c.name, exit, log.String(), c.exit, c.want)
		}
	}
}

func TestMainPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	var log bytes.Buffer
	exit := Main(t.Context(), append(launch(t, quickProfile), "--model-path", "m", "--port", port), Env{Stderr: &log, Now: time.Now})
	if exit != 1 || !strings.Contains(log.String(), "address already in use") || !strings.Contains(log.String(), port) {
		t.Errorf("exit %d, log:\n%s\nwant exit 1 and the port in use", exit, log.String())
	}
}

// process is a child whose log is read as it grows.
func process(t *testing.T, role string, args ...string) (*exec.Cmd, *lockedBuffer, <-chan struct{}) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "REFIT_SIM_TEST="+role)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{grown: make(chan struct{}, 1)}
	closed := make(chan struct{}) // when the last process that holds the pipe has ended
	go func() { defer close(closed); io.Copy(log, pipe) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-closed })
	return cmd, log, closed
}

func TestMainEndsOnSIGTERM(t *testing.T) {
	cmd, log, closed := process(t, "engine", append(launch(t, quickProfile), "--model-path", "m", "--port", "0")...)
	log.waitFor("Uvicorn running on")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-closed
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v, want 0; log:\n%s", err, log)
	}
	if !strings.Contains(log.String(), "Finished server process") {
		t.Errorf("log:\n%s\nwant a drain", log)
	}
}

func TestMainEndsWithItsParent(t *testing.T) {
	cmd, log, closed := process(t, "parent", append(launch(t, quickProfile), "--model-path", "m", "--port", "0")...)
	log.waitFor("Uvicorn running on")
	if err := cmd.Process.Kill(); err != nil { // the parent, which cannot tell its child
		t.Fatal(err)
	}
	<-closed
	if !strings.Contains(log.String(), "Finished server process") {
		t.Errorf("log:\n%s\nwant the engine to have ended by itself", log)
	}
	cmd.Wait()
}
