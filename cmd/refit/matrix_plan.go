package main

import (
	"errors"
	"fmt"
	"io/fs"

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
sequence name, evals by kind, as the published workflows dispatch them. The
catalogue is that of the working tree.`,
		Example: "  refit matrix plan --head-ref HEAD --trim-conc",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.run(cmd, e) },
	}
	p.flags(cmd)
	return cmd
}

// planning are the options of a plan.
type planning struct {
	files      matrixFiles
	base, head string
	changelog  string
	options    matrix.PlanOptions
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
	entries, err := p.delta(cmd, w)
	if err != nil {
		return err
	}
	plan, err := matrix.BuildPlanWith(cat, entries, rule, p.options)
	if err != nil {
		return err
	}
	plan.Base, plan.Head = p.base, p.head
	var v any = plan.Row()
	if p.policy != "" {
		if v, err = p.scored(plan.Row()); err != nil {
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
	if p.base != "" {
		if base, err = read(p.base); err != nil {
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
