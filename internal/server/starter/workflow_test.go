package starter

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// flow is the part of a workflow file that the rules are about.
type flow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency struct {
		Group  string `yaml:"group"`
		Cancel bool   `yaml:"cancel-in-progress"`
	} `yaml:"concurrency"`
	Jobs map[string]flowJob `yaml:"jobs"`
}

type flowJob struct {
	If          string            `yaml:"if"`
	Needs       string            `yaml:"needs"`
	Permissions map[string]string `yaml:"permissions"`
	Timeout     int               `yaml:"timeout-minutes"`
	Uses        string            `yaml:"uses"`
	Steps       []flowStep        `yaml:"steps"`
}

type flowStep struct {
	Name, Uses, Run, If string
	With                map[string]string
	Env                 map[string]string
}

func parsed(t *testing.T, src string) flow {
	t.Helper()
	var f flow
	if err := yaml.Unmarshal([]byte(src), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// pinned is an action at a full commit, with the tag that it had in a comment.
var pinned = regexp.MustCompile(`^\s*(?:- )?uses: actions/(?:checkout|upload-artifact)@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestActionsArePinnedByCommit(t *testing.T) {
	n := 0
	for name, src := range workflows(t) {
		for line := range strings.Lines(src) {
			if !strings.Contains(line, "uses:") || strings.Contains(line, "uses: ./.github/workflows/refit-candidate.yml") {
				continue
			}
			if n++; !pinned.MatchString(strings.TrimRight(line, "\n")) {
				t.Errorf("%s: not pinned: %s", name, line)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d uses of actions were looked at", n)
	}
}

func TestPermissionsAreTheLeast(t *testing.T) {
	for name, src := range workflows(t) {
		f := parsed(t, src)
		if diff := cmp.Diff(map[string]string{"contents": "read"}, f.Permissions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for id, job := range f.Jobs {
			if job.Permissions != nil {
				t.Errorf("%s: job %s has permissions of its own", name, id)
			}
			if job.Uses == "" && job.Timeout == 0 {
				t.Errorf("%s: job %s has no limit of time", name, id)
			}
			for _, s := range job.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s leaves the workflow's credential in the checkout", name, id)
				}
			}
		}
	}
}

// Only the steps that use it see the secret: of the candidate, of the plan, which
// claims, and of who pushes what was compiled.
func TestOnlyWhoWritesSeesTheSecret(t *testing.T) {
	var seen []string
	for name, src := range workflows(t) {
		for id, job := range parsed(t, src).Jobs {
			for _, s := range job.Steps {
				for key, value := range s.Env {
					if strings.Contains(value, "secrets.") {
						seen = append(seen, name+" "+id+" "+key)
					}
				}
			}
		}
		if strings.Contains(src, "secrets: inherit") {
			t.Errorf("%s hands on every secret", name)
		}
	}
	slices.Sort(seen)
	want := []string{".github/workflows/refit-candidate.yml upgrade REFIT_TOKEN", ".github/workflows/refit-compile.yml compile REFIT_TOKEN", ".github/workflows/refit-plan.yml plan REFIT_TOKEN"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("who sees secrets (-want +got):\n%s", diff)
	}
}

// What an event says reaches a script as the value of a variable, never as text.
func TestNoExpressionInAScript(t *testing.T) {
	n := 0
	for name, src := range workflows(t) {
		for id, job := range parsed(t, src).Jobs {
			for _, s := range job.Steps {
				if s.Run != "" {
					n++
				}
				if strings.Contains(s.Run, "${{") {
					t.Errorf("%s: job %s: step %q has an expression in its script", name, id, s.Name)
				}
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d scripts were looked at", n)
	}
}

func TestSweepTriggers(t *testing.T) {
	f := parsed(t, workflows(t)[".github/workflows/refit-sweep.yml"])
	var on map[string]map[string][]string
	if err := f.On.Decode(&on); err != nil {
		t.Fatal(err)
	}
	paths := []string{"perf-changelog.yaml", "changelog.d/**"}
	want := map[string]map[string][]string{ // neither opened, nor ready_for_review, nor pull_request_target
		"push":         {"branches": {"main"}, "paths": paths},
		"pull_request": {"branches": {"main"}, "paths": paths, "types": {"synchronize", "labeled", "unlabeled"}},
	}
	if diff := cmp.Diff(want, on); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
}

func TestPlanRunsEverySixHours(t *testing.T) {
	var on struct {
		Schedule []struct{ Cron string }
	}
	f := parsed(t, workflows(t)[".github/workflows/refit-plan.yml"])
	if err := f.On.Decode(&on); err != nil {
		t.Fatal(err)
	}
	if len(on.Schedule) != 1 || on.Schedule[0].Cron != "17 */6 * * *" {
		t.Errorf("got schedule %+v, want minute 17 of every sixth hour", on.Schedule)
	}
}

// Only a sweep may be cancelled by what comes after it.
func TestEveryWorkflowHasAGroup(t *testing.T) {
	for name, src := range workflows(t) {
		f := parsed(t, src)
		if f.Concurrency.Group == "" {
			t.Errorf("%s has no concurrency group", name)
		}
		if want := strings.HasSuffix(name, SweepFile); f.Concurrency.Cancel != want {
			t.Errorf("%s: cancel-in-progress is %t, want %t", name, f.Concurrency.Cancel, want)
		}
	}
}

// What readers of a run look for is kept under the name that they look for, and
// without it the run fails.
func TestArtifactsThatAreRead(t *testing.T) {
	for _, file := range []string{SweepFile, TargetedFile} {
		kept := map[string]string{}
		for _, job := range parsed(t, workflows(t)[".github/workflows/"+file]).Jobs {
			for _, s := range job.Steps {
				if strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
					kept[s.With["name"]] = s.With["if-no-files-found"]
					if !strings.Contains(s.If, "always()") {
						t.Errorf("%s: %s is lost when a point fails", file, s.With["name"])
					}
				}
			}
		}
		want := map[string]string{"refit-manifest": "error", "refit-rows": "error", "results_bmk": "ignore", "eval_results_all": "ignore",
			"run-stats": "ignore", "changelog-metadata": "ignore", "points_bmk": "ignore", "points_eval": "ignore", "server_logs": "ignore"}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// The job that decides whether a sweep starts holds no accelerator, and the sweep
// listens to it.
func TestSkippedSweepTakesNoAccelerator(t *testing.T) {
	f := parsed(t, workflows(t)[".github/workflows/refit-sweep.yml"])
	if f.Jobs["sweep"].Needs != "decide" || f.Jobs["sweep"].If != "${{ needs.decide.outputs.conclusion != 'skipped' }}" {
		t.Errorf("sweep: got needs %q and condition %q", f.Jobs["sweep"].Needs, f.Jobs["sweep"].If)
	}
	if !slices.ContainsFunc(f.Jobs["decide"].Steps, func(s flowStep) bool {
		return strings.HasPrefix(s.Run, `refit ci run-sweep --event "$GITHUB_EVENT_PATH" --decide`)
	}) {
		t.Error("no step decides")
	}
}
