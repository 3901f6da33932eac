package starter

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// linter is the version that CI installs.
const linter = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

// lint is how actionlint is called here: the one on PATH, else fetched when
// REFIT_TEST_LINT asks for it.
func lint(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if bin, err := exec.LookPath("actionlint"); err == nil {
		return exec.Command(bin, args...)
	}
	if os.Getenv("REFIT_TEST_LINT") != "1" {
		t.Skip("actionlint is not installed; REFIT_TEST_LINT=1 fetches it")
	}
	return exec.Command("go", append([]string{"run", linter}, args...)...)
}

func TestActionlintFindsNothing(t *testing.T) {
	dir := repository(t)
	var paths []string
	for name, src := range workflows(t) {
		paths = append(paths, write(t, dir, name, src))
	}
	cmd := lint(t, append([]string{"-no-color"}, paths...)...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The linter is one that finds something.
func TestActionlintFindsAMistake(t *testing.T) {
	dir := repository(t)
	src := strings.Replace(workflows(t)[".github/workflows/"+SweepFile], "needs.decide.outputs", "needs.decided.outputs", 1)
	out, err := lint(t, "-no-color", write(t, dir, ".github/workflows/"+SweepFile, src)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"decided"`) {
		t.Errorf("got %v, want a finding about decided\n%s", err, out)
	}
}

// repository is a folder that a linter takes for one, so that it finds the
// workflow that another one calls.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, dir, name, src string) string {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestCIInstallsThisLinter(t *testing.T) {
	src, err := os.ReadFile("../../../.ci/run")
	if err != nil {
		t.Skipf("no CI script beside the sources: %v", err)
	}
	if !strings.Contains(string(src), "go install "+linter+"\n") {
		t.Errorf("CI does not install %s", linter)
	}
}
