package run

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func logOf(t *testing.T, text string, own ...*regexp.Regexp) *engineLog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := newEngineLog(path, own, newRedactor(nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFatalLines(t *testing.T) {
	own := regexp.MustCompile("checksum differs")
	for _, c := range []struct {
		name, line string
		want       bool
	}{
		{"flag", "simserve: error: unrecognized arguments: --x", true},
		{"flag-with-colour", "\x1b[31mserve: error: ambiguous option: --x could match --xa, --xb\x1b[0m", true},
		{"port", "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8888): address already in use", true},
		{"port-of-a-level-letter", "[E1201 10:00:00 socket.cpp:200] Address already in use", true},
		{"disk", "OSError: [Errno 28] No space left on device", true},
		{"own", "INFO checksum differs", true},
		{"last-line-without-end", "serve: error: argument --x: expected one argument", true},
		{"port-as-a-warning", "[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).", false},
		{"port-and-another-try", "Address already in use, trying the next port 8001", false},
		{"glog-warning", "W1201 10:00:00.000 bind: Address already in use", false},
		{"info", "INFO 12-01 10:00:00 [disk.py:3] no space left on device is handled", false},
		{"flag-named-error", "server_args=ServerArgs(on_error='abort', log_level='error')", false},
		{"help-text", "  --x  print error: unrecognized arguments: and go on", false},
		{"plain", "loading weights", false},
	} {
		end := "\n"
		if c.name == "last-line-without-end" {
			end = ""
		}
		if got := logOf(t, "loading\n"+c.line+end, own).fatalLine(); (got != "") != c.want {
			t.Errorf("%s: %q is fatal: %q, want %v", c.name, c.line, got, c.want)
		}
	}
}

// The log is read once: what is added is looked at, also when a line arrives
// in two pieces or the log begins again.
func TestFatalLineOfAGrowingLog(t *testing.T) {
	l := logOf(t, "loading\nserve: error: unrecogn")
	add := func(text string, flag int) {
		t.Helper()
		f, err := os.OpenFile(l.path, os.O_WRONLY|flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		if got := l.fatalLine(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check("")
	add(strings.Repeat("x", 3*maxScan)+"\n", os.O_APPEND) // a line longer than what is kept of one
	check("")
	add("y", os.O_TRUNC)
	check("")
	add("\nserve: error: unrecogn", os.O_APPEND)
	check("")
	add("ized arguments: --x\n", os.O_APPEND)
	check("serve: error: unrecognized arguments: --x")
	add("serve: error: ambiguous option: --y\n", os.O_APPEND)
	check("serve: error: unrecognized arguments: --x")
}

func TestFirstError(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"exception", "loading\nValueError: no such model\nshutting down\n", "ValueError: no such model"},
		{"traceback", "Traceback (most recent call last):\n  File \"x.py\", line 3, in load\n    raise f(\"error: hm\")\ntorch.OutOfMemoryError: HIP out of memory\nTraceback (most recent call last):\nKeyError: 'y'\n",
			"torch.OutOfMemoryError: HIP out of memory"},
		{"traceback-with-levels", "(Core pid=7) ERROR 12-01 [core.py:1] EngineCore failed to start.\n(Core pid=7) ERROR 12-01 [core.py:1] Traceback (most recent call last):\n" +
			"(Core pid=7) ERROR 12-01 [core.py:1]   File \"x.py\", line 3\n(Core pid=7) ERROR 12-01 [core.py:1] ValueError: no room\nRuntimeError: Engine core initialization failed. See root cause above.\n",
			"(Core pid=7) ERROR 12-01 [core.py:1] ValueError: no room"},
		{"symptom-first", "Received sigquit from a child process, error: see above\nKeyError: 'w13'\n", "KeyError: 'w13'"},
		{"only-a-symptom", "ok\nRuntimeError: Engine core initialization failed\nbye\n", "RuntimeError: Engine core initialization failed"},
		{"warning-before", "WARNING: error: cannot pin, ignored\nerror_rate=0.0\nINFO no errors so far\nERROR: engine worker died\n", "ERROR: engine worker died"},
		{"progress-bar", "0%\r50%\r100%\na panic room\npanic: y\n", "panic: y"},
		{"none", "one\ntwo\n", ""},
		{"empty", "", ""},
	} {
		if got, _ := logOf(t, c.log).firstError(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if _, last := logOf(t, "one\nerror: two\n three \n\n").firstError(); last != "three" {
		t.Errorf("last line %q", last)
	}
}
