package run

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/result"
)

// sewn calls a function of the seam with a program in refit's place that
// writes its arguments down, and returns them.
func sewn(t *testing.T, call string) []string {
	t.Helper()
	dir := t.TempDir()
	program, heard := filepath.Join(dir, "refit"), filepath.Join(dir, "args")
	for path, text := range map[string]string{program: "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + heard + "'\n", filepath.Join(dir, "seam.sh"): string(seam)} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-euc", "source ./seam.sh\n"+call)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "REFIT="+program, "PORT=8000", "MODEL=lab/tiny")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(said), "\n"), "\n")
}

const seamCall = "run_benchmark_serving --input-len 8 --output-len 4 --num-prompts 40 --max-concurrency 4 --result-filename r "

// The chat template is the server's to apply: the recipe's back-end stays what
// it is, and the load client asks the chat endpoint with prompts that are
// shorter by the template.
func TestSeamHandsTheChatTemplateOn(t *testing.T) {
	follows := func(args []string, flag string) string {
		if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	for _, flags := range []string{"--use-chat-template", "--dsv4", "--dsv4 --use-chat-template"} {
		args := sewn(t, seamCall+"--backend sglang "+flags)
		if !slices.Contains(args, "--use-chat-template") || slices.Contains(args, "--dsv4") || follows(args, "--backend") != "sglang" {
			t.Errorf("%s: refit %q", flags, args)
		}
	}
	args := sewn(t, seamCall)
	if slices.Contains(args, "--use-chat-template") || follows(args, "--backend") != "vllm" || args[0] != "bench" {
		t.Errorf("without a template: refit %q", args)
	}
	for flag, want := range map[string]string{"--model": "lab/tiny", "--base-url": "http://127.0.0.1:8000", "--num-warmups": "8", "--result-filename": "r.json"} {
		if got := follows(args, flag); got != want {
			t.Errorf("%s %q, want %q", flag, got, want)
		}
	}
}

const besideDeclared = `version: 1
server:
  command: [testengine, --port, "${PORT}", --usage, beside]
`

// A server that the reference client cannot read has rows with all its tokens,
// from a bash recipe as from a declarative one, and the raw files beside them
// stay what the reference would have left.
func TestRowsAreOfRefitsOwnReading(t *testing.T) {
	script := scriptDir + "tiny_fp8_cpu_sim"
	for name, recipe := range map[string]struct{ path, text string }{
		"bash":     {script + ".sh", strings.Replace(recipeScript, "testengine", "testengine --usage beside", 1)},
		"declared": {script + ".yaml", besideDeclared},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			files := tree()
			delete(files, script+".sh")
			files[recipe.path] = recipe.text
			var log strings.Builder
			err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", l.commit("start", files)), &log).Run(context.Background())
			if err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			left := l.artifacts()
			got, err := result.ReadRun(left)
			if err != nil || len(got.Rows) != 1 {
				t.Fatalf("%d rows, %v", len(got.Rows), err)
			}
			r := got.Rows[0]
			if r.Result != result.Passed || r.Requests != 10 || *r.RequestErrors != 0 || r.Metrics["output_tput_per_gpu"] <= 0 || r.Metrics["mean_tpot"] <= 0 {
				t.Errorf("row %+v", r)
			}
			if why := strings.Join(r.Health.Reasons, "; "); strings.Contains(why, "legacy") {
				t.Errorf("the row's client is blamed for what the reference reads: %s", why)
			}
			checkDropIn(t, left)
		})
	}
}

// checkDropIn holds the one raw file of a run to what the reference would have
// made of completeBeside: not one request.
func checkDropIn(t *testing.T, artifacts map[string]map[string][]byte) {
	t.Helper()
	seen := 0
	for _, files := range artifacts {
		for name, src := range files {
			var raw struct {
				Completed *int `json:"completed"`
				Prompts   int  `json:"num_prompts"`
				Tokens    int  `json:"total_output_tokens"`
				Refit     *struct {
					Reading struct {
						Completed int `json:"completed"`
					} `json:"reading"`
				} `json:"refit"`
			}
			if filepath.Ext(name) != ".json" || json.Unmarshal(src, &raw) != nil || raw.Refit == nil || raw.Completed == nil {
				continue
			}
			seen++
			if *raw.Completed != 0 || raw.Tokens != 0 || raw.Prompts != 10 || raw.Refit.Reading.Completed != 10 {
				t.Errorf("%s: %d completed with %d tokens, refit's reading %d; want 0, 0 and 10", name, *raw.Completed, raw.Tokens, raw.Refit.Reading.Completed)
			}
		}
	}
	if seen == 0 {
		t.Error("the run left no raw file")
	}
}
