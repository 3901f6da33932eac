package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

func matrixPlan(e env) *cobra.Command {
	var p planning
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "The jobs that a changelog's new entries ask for, in buckets",
		Long: `Reads what the changelog gained between two commits and plans it: throughput by
sequence name, evals by kind. The catalogue is that of the working tree. What is
new is seen from the commit where head left base, so that a branch that is behind
is behind and not one that deletes; --compat compares the two as they are.

Append-only entries are planned as the points that the catalogue gained since
--base-ref, without evals. The catalogue of that commit is read out of git, as
data: nothing of it is run. A change that does more is refused.

Every bucket is dispatched. The published workflows run throughput of 1k1k, 8k1k
and agentic alone, and rows of other lengths are run by no job: --compat leaves
them out, and names on standard error what it left out.`,
		Example: `  refit matrix plan --head-ref HEAD --trim-conc
  refit matrix plan --compat`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd, e) },
	}
	p.flags(cmd)
	return cmd
}

// planning are the options of a plan.
type planning struct {
	files      matrixFiles
	base, head string
	from       string // the commit that the additions are seen from
	changelog  string
	options    matrix.PlanOptions
	compat     revision
	canary     bool
	policy     string
	job        matrix.Job
}

func (p *planning) flags(cmd *cobra.Command) {
	p.files.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&p.base, "base-ref", "", "commit before the additions (default: every entry counts as added)")
	f.StringVar(&p.head, "head-ref", "HEAD", "commit with the additions")
	f.StringVar(&p.changelog, "changelog-file", "", "changelog (default: that of the workspace)")
	f.BoolVar(&p.options.Trim, "trim-conc", false, "throughput at the lowest concurrency of each recipe alone")
	f.BoolVar(&p.options.AllEvals, "all-evals", false, "evaluate every row that can be")
	f.BoolVar(&p.options.EvalsOnly, "evals-only", false, "no throughput")
	compatFlag(cmd, &p.compat, "as the published workflows of "+published+": throughput of "+strings.Join(matrix.Published, ", ")+" alone")
	f.BoolVar(&p.canary, "canary", false, "print the plan as {canary, rest}: one cheap job runs first")
	f.StringVar(&p.policy, "priority-policy", "", "ci-priority.yaml: annotate every job with priority and queue token")
	f.StringVar(&p.job.Event, "event", "push", "event that is scored")
	f.StringArrayVar(&p.job.Labels, "labels", nil, "labels of the pull request")
	f.StringVar(&p.job.Namespace, "queue-namespace", "local", "namespace of queue tokens")
	f.IntVar(&p.job.Pull, "pull-request", 0, "number of the pull request")
	f.StringArrayVar(&p.job.Criteria, "criteria", nil, "facts that count for the score (default all)")
}

func (p *planning) run(cmd *cobra.Command, e env) error {
	w, err := open(cmd)
	if err != nil {
		return err
	}
	cat, rule, err := p.files.catalogue(cmd)
	if err != nil {
		return err
	}
	if err := p.leftBase(cmd, w); err != nil {
		return err
	}
	entries, err := p.delta(cmd, w)
	if err != nil {
		return err
	}
	if matrix.AppendOnly(entries) {
		if p.options.Base, err = p.baseCatalogue(cmd, w); err != nil {
			return err
		}
	}
	plan, err := matrix.BuildPlanWith(cat, entries, rule, p.options)
	if err != nil {
		return err
	}
	plan.Base, plan.Head = p.base, p.head
	if p.compat == "" {
		advise(e, plan.Warnings)
	}
	return p.print(e, plan.Row())
}

// print writes a plan in its JSON form, as far as the options want it.
func (p *planning) print(e env, plan matrix.Row) error {
	if p.compat != "" {
		var left []string
		if plan, left = matrix.Dispatched(plan); len(left) > 0 {
			advise(e, []string{"left out, as no published workflow runs it: " + strings.Join(left, ", ")})
		}
	}
	var v any = plan
	if p.policy != "" {
		var err error
		if v, err = p.scored(plan); err != nil {
			return err
		}
	}
	if p.canary {
		canary, rest, found := matrix.Canary(v.(matrix.Row))
		var both matrix.Row
		both.Set("canary", nil)
		if found {
			both.Set("canary", canary)
		}
		both.Set("rest", rest)
		v = both
	}
	text, err := v.(matrix.Row).MarshalJSON()
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(append(text, '\n'))
	return err
}

func (p *planning) scored(plan matrix.Row) (any, error) {
	src, err := workspace.ReadFile(p.policy, 1<<20)
	if err != nil {
		return nil, err
	}
	policy, err := recipe.ParsePriorities(src, p.policy)
	if err != nil {
		return nil, err
	}
	v, err := matrix.Priorities{Priorities: policy}.Annotate(plan, p.job)
	if errors.Is(err, matrix.ErrOption) {
		err = exit{exitUsage, err}
	}
	return v, err
}

// leftBase finds where head left base. A branch that is behind has not deleted
// what base gained since; the published workflows compare the two as they are.
func (p *planning) leftBase(cmd *cobra.Command, w *workspace.Workspace) error {
	p.from = p.base
	if p.base == "" || p.compat != "" {
		return nil
	}
	repo := workspace.Repo{Dir: w.Root}
	for _, rev := range []string{p.base, p.head} {
		if _, err := repo.Resolve(cmd.Context(), rev); err != nil {
			return err
		}
	}
	from, err := repo.MergeBase(cmd.Context(), p.base, p.head)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s and %s have no commit in common: name the commit before the additions", p.base, p.head)
	}
	p.from = from
	return err
}

// baseCatalogue is the catalogue before the additions, read out of git.
func (p *planning) baseCatalogue(cmd *cobra.Command, w *workspace.Workspace) (*recipe.Catalogue, error) {
	if p.base == "" {
		return nil, usage("--base-ref is missing: append-only entries add to what a commit before them measures")
	}
	masters, runners, err := p.files.inside(w)
	if err != nil {
		return nil, err
	}
	return recipe.LoadCommit(cmd.Context(), workspace.Repo{Dir: w.Root}, p.from, masters, runners)
}

// inside are the names that the files have in the workspace's commits.
func (m matrixFiles) inside(w *workspace.Workspace) (masters []string, runners string, err error) {
	if len(m.masters) == 0 { // runners are named from the root then
		return w.Paths.Masters, cmp.Or(filepath.ToSlash(m.runners), w.Paths.Runners), nil
	}
	runners = w.Paths.Runners
	if m.runners != "" {
		if runners, err = insideOf(w, m.runners); err != nil {
			return nil, "", err
		}
	}
	for _, name := range m.masters {
		inside, err := insideOf(w, name)
		if err != nil {
			return nil, "", err
		}
		masters = append(masters, inside)
	}
	return masters, runners, nil
}

// insideOf is the name that a file has in the workspace's commits.
func insideOf(w *workspace.Workspace, name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(w.Root, abs)
	if err != nil || !filepath.IsLocal(inside) {
		return "", usage("%s lies outside of %s: append-only entries need files that the commit of --base-ref has", name, w.Root)
	}
	return filepath.ToSlash(inside), nil
}

// delta is what the changelog gained between the two commits.
func (p *planning) delta(cmd *cobra.Command, w *workspace.Workspace) ([]recipe.ChangelogEntry, error) {
	name := p.changelog
	if name == "" {
		name = w.Paths.Changelog
	}
	repo := workspace.Repo{Dir: w.Root}
	read := func(ref string) ([]byte, error) {
		commit, err := repo.Resolve(cmd.Context(), ref)
		if err != nil {
			return nil, err
		}
		src, err := repo.File(cmd.Context(), commit, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return src, err
	}
	head, err := read(p.head)
	if err != nil {
		return nil, err
	}
	var base []byte
	if p.from != "" {
		if base, err = read(p.from); err != nil {
			return nil, err
		}
	}
	var entries []recipe.ChangelogEntry
	if len(base) == 0 {
		entries, err = recipe.ParseChangelog(head, name)
	} else {
		entries, err = recipe.Delta(base, head, name)
	}
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("%s gained no entry between %s and %s: nothing to plan", name, p.base, p.head)
	}
	return entries, err
}
