package starter

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/workspace"
)

// rendered are the files of a repository on GitHub, by path.
func rendered(t *testing.T, c workspace.Config) map[string]string {
	t.Helper()
	list, err := Files(Options{Repository: "example/recipes", Config: c})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range list {
		out[f.Path] = string(f.Data)
	}
	return out
}

func workflows(t *testing.T) map[string]string {
	t.Helper()
	all := rendered(t, workspace.DefaultConfig())
	delete(all, workspace.ConfigName)
	return all
}

func TestFilesOfARepositoryOnGitHub(t *testing.T) {
	var names []string
	for name := range rendered(t, workspace.DefaultConfig()) {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{".github/workflows/refit-candidate.yml", ".github/workflows/refit-compile.yml", ".github/workflows/refit-plan.yml",
		".github/workflows/refit-sweep.yml", ".github/workflows/refit-targeted.yml", "refit.yaml"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"recipes", "a/b/c", "a b/c", "../c", "a/b\nforge: x"} {
		if _, err := Files(Options{Repository: name, Config: workspace.DefaultConfig()}); err == nil || !strings.Contains(err.Error(), "want owner/name") {
			t.Errorf("repository %q: got %v, want a refusal", name, err)
		}
	}
}

// The file alone changes nothing, and shows every key with its default.
func TestConfigShowsEveryKeyWithItsDefault(t *testing.T) {
	list, err := Files(Options{Config: workspace.DefaultConfig()})
	if err != nil || len(list) != 1 || list[0].Path != workspace.ConfigName {
		t.Fatalf("got %d files, %v; want refit.yaml alone", len(list), err)
	}
	got, _, err := workspace.ParseConfig(list[0].Data, "refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(workspace.DefaultConfig(), got); diff != "" {
		t.Errorf("what is written is not the default (-want +got):\n%s", diff)
	}
	shown := regexp.MustCompile(`(?m)^#((?:  )*[a-z][a-z0-9-]*:)`).ReplaceAll(list[0].Data, []byte("$1"))
	got, settings, err := workspace.ParseConfig(shown, "refit.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	if diff := cmp.Diff(workspace.DefaultConfig(), got); diff != "" {
		t.Errorf("what is commented out is not the default (-want +got):\n%s", diff)
	}
	for _, s := range settings {
		if s.Origin == "default" {
			t.Errorf("key %s is not shown", s.Key)
		}
	}
}

// What doctor looks for, what the candidate dispatches and finds, and what the
// workflow files are called and titled is the same.
func TestNamesAgreeWithTheCandidate(t *testing.T) {
	all := rendered(t, workspace.DefaultConfig())
	c, _, err := workspace.ParseConfig([]byte(all["refit.yaml"]), "refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Forge.Kind != "github" || c.Forge.Repository != "example/recipes" || c.Executor.Kind != "local" {
		t.Errorf("refit.yaml: got forge %+v and executor %+v", c.Forge, c.Executor)
	}
	targeted, sweep := all[".github/workflows/"+c.Executor.Targeted], all[".github/workflows/"+c.Executor.Sweep]
	if !strings.Contains(targeted, "workflow_dispatch") || !strings.Contains(sweep, "labeled") {
		t.Fatalf("executor names %s and %s, which lack their triggers", c.Executor.Targeted, c.Executor.Sweep)
	}
	var w struct {
		RunName string `yaml:"run-name"`
		On      struct {
			Dispatch struct {
				Inputs map[string]any `yaml:"inputs"`
			} `yaml:"workflow_dispatch"`
		} `yaml:"on"`
	}
	if err := yaml.Unmarshal([]byte(targeted), &w); err != nil {
		t.Fatal(err)
	}
	one := candidate.Candidate{ID: "4ccb0a08e646958b-af00168b432f68fb", Parent: "17961065662"}
	title := strings.ReplaceAll(w.RunName, "${{ inputs.test-name }}", one.TestName("refit"))
	if want := "e2e Test - refit-17961065662-4ccb0a08e646958b-af00168b432f68fb"; title != want || one.RunTitle("refit") != want {
		t.Errorf("title: the workflow makes %q, the candidate looks for %q, want %q", title, one.RunTitle("refit"), want)
	}
	for _, input := range []string{"generate-cli-command", "test-name", "ref"} {
		if _, ok := w.On.Dispatch.Inputs[input]; !ok {
			t.Errorf("input %s of the dispatch is missing", input)
		}
	}
	if !strings.Contains(all[".github/workflows/refit-candidate.yml"], `> `+c.Forge.TokenFile+"\n") {
		t.Errorf("the candidate's workflow writes no %s", c.Forge.TokenFile)
	}
}

// A label of the workspace's own counts in the sweep's conditions as it does for
// `refit ci`.
func TestSweepKnowsTheWorkspacesLabel(t *testing.T) {
	c := workspace.DefaultConfig()
	c.Policy.SweepLabel = "measure it's all"
	sweep := rendered(t, c)[".github/workflows/refit-sweep.yml"]
	for _, l := range run.SweepLabels(c.Policy.SweepLabel) {
		if n := strings.Count(sweep, "labels.*.name, "+expressionText(l)+")"); n != 1 {
			t.Errorf("label %q is asked for %d times, want once", l, n)
		}
	}
	relevant, err := jsonText(run.RelevantLabels(c.Policy.SweepLabel))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(sweep, relevant); n != 2 {
		t.Errorf("the relevant labels are listed %d times, want in the group and in the condition", n)
	}
}
