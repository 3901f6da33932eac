// Package starter is what a repository begins with: a commented refit.yaml and
// the workflow files by which GitHub calls refit. It writes files that are
// missing and never one that is there.
package starter

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/workspace"
)

// Workflow files by name: refit pulls the first two.
const (
	TargetedFile = "refit-targeted.yml"
	SweepFile    = "refit-sweep.yml"
	CompileFile  = "refit-compile.yml"
)

// tokenFile is where the candidate's workflow puts the credential, and where the
// refit.yaml of a repository on GitHub says it is.
const tokenFile = ".refit/token"

// File is a file of a repository: its slash-separated path from the root.
type File struct {
	Path string
	Data []byte
}

// Options choose what a repository begins with. The zero value is refit.yaml
// alone, with the embedded forge.
type Options struct {
	Repository string           // "owner/name" on GitHub: adds the workflow files
	Branch     string           // the default branch there; "" is main
	Config     workspace.Config // in effect: labels and paths of the workflow files
}

//go:embed files
var files embed.FS

// Files renders the files, refit.yaml first. The error says that the repository
// is no owner/name, or that the branch is none that a workflow can name.
func Files(o Options) ([]File, error) {
	v := values(o)
	if o.Repository == "" {
		src, err := render(workspace.ConfigName, v)
		return []File{{workspace.ConfigName, src}}, err
	}
	if !repositoryForm.MatchString(o.Repository) {
		return nil, fmt.Errorf("repository %q: want owner/name", o.Repository)
	}
	if !branchForm.MatchString(v.Branch) {
		return nil, fmt.Errorf("branch %q: want the name of a branch, of letters, digits and . _ - /", v.Branch)
	}
	var out []File
	for _, name := range []string{workspace.ConfigName, "refit-plan.yml", "refit-candidate.yml", CompileFile, SweepFile, TargetedFile} {
		src, err := render(name, v)
		if err != nil {
			return nil, err
		}
		at := name
		if name != workspace.ConfigName {
			at = path.Join(o.Config.Paths().Workflows, name)
		}
		out = append(out, File{at, src})
	}
	return out, nil
}

// artifact is what a workflow run keeps under one name: a path below its output,
// without the one that Except names.
type artifact struct {
	Name, Path, Except string
	Needed             bool
}

// artifacts are named as their readers look for them. One upload has one name:
// what is a folder for each point comes as one artifact with these folders.
var artifacts = []artifact{
	{Name: result.ManifestArtifact, Path: result.ManifestArtifact, Needed: true},
	{Name: result.RowsArtifact, Path: result.RowsArtifact, Needed: true},
	{Name: "results_bmk", Path: "results_bmk"},
	{Name: "eval_results_all", Path: "eval_results_all"},
	{Name: "run-stats", Path: "run-stats"},
	{Name: "changelog-metadata", Path: "changelog-metadata"},
	{Name: "points_bmk", Path: "bmk_*"},
	{Name: "points_eval", Path: "eval_*", Except: "eval_results_all"},
	{Name: "server_logs", Path: "server_logs_*"},
}

// page is what the templates are filled with.
type page struct {
	Repository, Targeted, Sweep, TokenFile, Title, Branch, Changelog string
	Labels, Relevant                                                 []string
	Artifacts                                                        []artifact
}

func values(o Options) page {
	own := o.Config.Policy.SweepLabel
	return page{
		Repository: o.Repository, Targeted: TargetedFile, Sweep: SweepFile, TokenFile: tokenFile,
		Title: candidate.TitleStart, Branch: cmp.Or(o.Branch, "main"), Changelog: cmp.Or(o.Config.Paths().Changelog, "perf-changelog.yaml"),
		Labels: run.SweepLabels(own), Relevant: run.RelevantLabels(own), Artifacts: artifacts,
	}
}

func render(name string, v page) ([]byte, error) {
	t := template.New(name).Delims("<<", ">>").Option("missingkey=error").Funcs(template.FuncMap{
		"quote": workspace.YAMLText, "json": jsonText, "text": expressionText,
	})
	t, err := t.ParseFS(files, "files/steps.tmpl", "files/"+name)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, v); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return []byte(strings.TrimLeft(b.String(), "\n")), nil
}

// expressionText is a text of a workflow expression.
func expressionText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// jsonText is a list as such a text, in JSON.
func jsonText(list []string) (string, error) {
	src, err := json.Marshal(list)
	return expressionText(string(src)), err
}
