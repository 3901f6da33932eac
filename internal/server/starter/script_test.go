package starter

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs the script of a workflow's step as a runner does, with stand-ins for
// programs first on PATH. It returns what was said, and the folder with the
// runner's files.
func shell(t *testing.T, file, step string, env []string, programs map[string]string) (said, dir string, err error) {
	t.Helper()
	return shellIn(t, "", file, step, env, programs)
}

// shellIn is shell in a work folder; "" is the one with the runner's files.
func shellIn(t *testing.T, work, file, step string, env []string, programs map[string]string) (said, dir string, err error) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to run a workflow's scripts with")
	}
	dir = t.TempDir()
	for name, src := range programs {
		if err := os.Chmod(write(t, dir, "bin/"+name, src), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-e", write(t, dir, "step.sh", script(t, file, step)))
	cmd.Dir = cmp.Or(work, dir)
	cmd.Env = append(env, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "RUNNER_TEMP="+dir,
		"GITHUB_PATH="+filepath.Join(dir, "path"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
	out, err := cmd.CombinedOutput()
	return string(out), dir, err
}

func script(t *testing.T, file, step string) string {
	t.Helper()
	for _, job := range parsed(t, workflows(t)[".github/workflows/"+file]).Jobs {
		for _, s := range job.Steps {
			if s.Name == step {
				return s.Run
			}
		}
	}
	t.Fatalf("%s has no step %q", file, step)
	return ""
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(src)
}

// A binary that is not the one that was chosen is not run.
func TestFetchChecksTheBinary(t *testing.T) {
	const body = "#!/bin/sh\necho a release\n"
	curl := map[string]string{"curl": "#!/bin/sh\nfor at do case $last in --output) to=$at ;; esac; last=$at; done\nprintf '%s' \"$BODY\" > \"$to\"\n"}
	env := func(sum string) []string {
		return []string{"BODY=" + body, "REFIT_URL=https://example.invalid/refit", "REFIT_SHA256=" + sum}
	}
	right := fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
	said, dir, err := shell(t, SweepFile, "Fetch refit, pinned by its checksum", env(right), curl)
	if err != nil || read(t, dir, "path") != filepath.Join(dir, "refit")+"\n" {
		t.Errorf("right checksum: %v, path %q\n%s", err, read(t, dir, "path"), said)
	}
	if info, err := os.Stat(filepath.Join(dir, "refit/refit")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("right checksum: %v, %v", info, err)
	}
	for name, sum := range map[string]string{"another": strings.Repeat("0", 64), "no-checksum": "latest"} {
		if said, dir, err := shell(t, SweepFile, "Fetch refit, pinned by its checksum", env(sum), curl); err == nil || read(t, dir, "path") != "" {
			t.Errorf("%s: got %v and path %q, want a failed step\n%s", name, err, read(t, dir, "path"), said)
		}
	}
	if said, _, err := shell(t, SweepFile, "Fetch refit, pinned by its checksum", nil, curl); err == nil || !strings.Contains(said, "::error::set the repository variables REFIT_URL") {
		t.Errorf("no variables: got %v\n%s", err, said)
	}
}

// The ends of an upgrade that are answers do not fail the job; errors do.
func TestCandidateEndsWithAnAnswer(t *testing.T) {
	refit := map[string]string{"refit": "#!/bin/sh\necho \"$@\"\nexit $CODE\n"}
	for code, passes := range map[string]bool{"0": true, "3": true, "4": true, "1": false, "2": false} {
		said, dir, err := shell(t, "refit-candidate.yml", "Move the family", []string{"CODE=" + code, "FAMILY=--dry-run", "TO="}, refit)
		if (err == nil) != passes {
			t.Errorf("exit code %s: got %v, want success %t\n%s", code, err, passes, said)
		}
		if got := read(t, dir, "summary"); got != "    upgrade --to  -- --dry-run\n" {
			t.Errorf("exit code %s: got summary %q", code, got)
		}
	}
}

func TestCredentialIsForThisUserOnly(t *testing.T) {
	const step = "Put the credential where refit.yaml looks for it"
	said, dir, err := shell(t, "refit-candidate.yml", step, []string{"REFIT_TOKEN=swordfish"}, nil)
	if err != nil || read(t, dir, ".refit/token") != "swordfish\n" || strings.Contains(said, "swordfish") {
		t.Errorf("got %v, file %q\n%s", err, read(t, dir, ".refit/token"), said)
	}
	if info, err := os.Stat(filepath.Join(dir, ".refit/token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", info, err)
	}
	if said, _, err := shell(t, "refit-candidate.yml", step, []string{"REFIT_TOKEN="}, nil); err == nil || !strings.Contains(said, "::error::set the secret REFIT_TOKEN") {
		t.Errorf("no secret: got %v\n%s", err, said)
	}
}

// The plan hands on what was selected, and a wave that is put off hands on nothing.
func TestPlanHandsOnTheSelection(t *testing.T) {
	refit := map[string]string{"refit": `#!/bin/sh
case "$1 $2 $3 $5 $7" in
"wave plan --out  ") mkdir "$4" ;;
"wave select --plan --cap --out") [ -d "$4" ] && [ "$6" = 3 ] && mkdir "$8" && printf '%s' "$SELECTION" > "$8/selection.json" && exit "$CODE" ;;
*) exit 2 ;;
esac
`}
	check := func(code, selection string, want string) {
		t.Helper()
		said, dir, err := shell(t, "refit-plan.yml", "Choose families", []string{"MOST=3", "CODE=" + code, "SELECTION=" + selection}, refit)
		if want != "" {
			want = "selection=" + want + "\n"
		}
		if got := read(t, dir, "output"); (err == nil) != (want != "") || got != want {
			t.Errorf("exit code %s: got %v and output %q, want %q\n%s", code, err, got, want, said)
		}
	}
	check("0", "{\n  \"selected\": [\n    {\"family\": \"a\"}\n  ]\n}\n", `{  "selected": [    {"family": "a"}  ]}`)
	check("3", "", `{"selected":[]}`)
	check("1", "", "")
	check("2", "", "")
}

// A runner's checkout is detached and knows branches as the remote's only; refit
// reads policy from the default branch by its own name.
func TestDefaultBranchIsNamed(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=owner", "-c", "user.email=owner@example.invalid"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main", "there")
	git("-C", "there", "commit", "-q", "--allow-empty", "-m", "policy")
	git("-C", "there", "checkout", "-q", "-b", "refit/auto-1")
	git("-C", "there", "commit", "-q", "--allow-empty", "-m", "candidate")
	git("clone", "-q", "there", "here")
	git("-C", "here", "checkout", "-q", "--detach")
	head := git("-C", "here", "rev-parse", "HEAD")
	said, _, err := shell(t, TargetedFile, "Name the default branch", []string{"BRANCH=main", "GIT_DIR=" + filepath.Join(dir, "here/.git")}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if got, want := git("-C", "here", "rev-parse", "main"), git("-C", "there", "rev-parse", "main"); got != want {
		t.Errorf("main is %s, want %s", got, want)
	}
	if got := git("-C", "here", "rev-parse", "HEAD"); got != head {
		t.Errorf("the commit under test moved from %s to %s", head, got)
	}
}
