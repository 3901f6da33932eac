package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

func changelogCheck(e env) *cobra.Command {
	var f journalFlags
	var base, head string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Hold what a change adds against the rules: form, history, links, and a plan that can be made",
		Long: `Compares the changelog with the one that the change began from, byte by byte:
the merge base with --base, so that a branch that is behind is behind, and not
one that deletes. What is added must be plannable with the recipes of the
working tree; append-only entries may only add points to curves that the merge
base measures. A change may add fragments instead (changelog.d/NAME.yaml).`,
		Example: "  refit changelog check --base HEAD",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.open(cmd)
			if err != nil {
				return err
			}
			return j.check(cmd, e, base, head)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&base, "base", "origin/main", "branch that the change is for")
	cmd.Flags().StringVar(&head, "head", "", "commit of the change (default: the working tree)")
	return cmd
}

func (j journal) check(cmd *cobra.Command, e env, base, head string) error {
	tip := head
	if tip == "" {
		tip = "HEAD"
	}
	from, err := j.since(cmd, base, tip)
	if err != nil {
		return err
	}
	was, err := j.at(cmd, from)
	if err != nil {
		return err
	}
	is, err := j.head(cmd, head)
	if err != nil {
		return err
	}
	c, badForm := recipe.Changes(was, is, j.w.Paths.Changelog)
	var fragments []recipe.Fragment
	var badFragment error
	if head == "" { // a commit is compared by its changelog
		fragments, badFragment = j.newFragments(cmd, from)
	}
	err = errors.Join(badForm, j.rule.Check(c), badFragment) // everything is told at once
	if badForm == nil && badFragment == nil {
		err = errors.Join(err, j.plannable(cmd, added(c, fragments), from))
	}
	if err != nil {
		return err
	}
	out := text{e.stdout}
	fmt.Fprintf(out, "%s: %d entries added, %d links corrected, %d fragments\n", j.w.Paths.Changelog, len(c.Additions), len(c.Corrections), len(fragments))
	now, err := j.at(cmd, base)
	if err != nil {
		return err
	}
	if string(now) != string(was) {
		fmt.Fprintf(out, "behind: %s extended the changelog since %.12s; merge it, then `refit changelog resolve --pull N`\n", base, from)
	}
	return nil
}

// since is the commit that a change began from.
func (j journal) since(cmd *cobra.Command, base, tip string) (string, error) {
	for _, rev := range []string{base, tip} {
		_, err := j.repo.Resolve(cmd.Context(), rev)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%s is no branch, tag or commit here: fetch it, or name another one", rev)
		case err != nil:
			return "", err
		}
	}
	from, err := j.repo.MergeBase(cmd.Context(), base, tip)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s and %s have no commit in common: fetch the whole history (git fetch --unshallow), or name another --base", base, tip)
	}
	return from, err
}

// added are the entries that a change brings, in the changelog or beside it.
func added(c recipe.Change, fragments []recipe.Fragment) []recipe.ChangelogEntry {
	entries := slices.Clone(c.Additions)
	for _, f := range fragments {
		entries = append(entries, f.Entry)
	}
	return entries
}

func (j journal) head(cmd *cobra.Command, head string) ([]byte, error) {
	if head != "" {
		return j.at(cmd, head)
	}
	return j.history()
}

// plannable makes the plan of what a change adds since a commit, and keeps
// nothing of it. Append-only entries are held against the recipes of that commit.
func (j journal) plannable(cmd *cobra.Command, entries []recipe.ChangelogEntry, since string) error {
	if len(entries) == 0 {
		return nil
	}
	cat, err := recipe.Load(os.DirFS(j.w.Root), j.w.Paths.Masters, j.w.Paths.Runners)
	if err != nil {
		return err
	}
	rule, err := matrix.ParseEvalRule(j.w.Config.Evals.Lengths, j.w.Config.Evals.Floor)
	if err != nil {
		return err
	}
	var o matrix.PlanOptions
	if matrix.AppendOnly(entries) {
		if o.Base, err = recipe.LoadCommit(cmd.Context(), j.repo, since, j.w.Paths.Masters, j.w.Paths.Runners); err != nil {
			return err
		}
	}
	_, err = matrix.BuildPlanWith(cat, entries, rule, o)
	return err
}
