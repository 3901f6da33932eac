package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/recipe"
)

func changelogCanonicalize(e env) *cobra.Command {
	var f journalFlags
	var base string
	cmd := &cobra.Command{
		Use:     "canonicalize",
		Short:   "Put this pull request's link where added entries have a placeholder",
		Example: "  refit changelog canonicalize --pull 12 --base HEAD",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.openPull(cmd)
			if err != nil {
				return err
			}
			was, err := j.at(cmd, base)
			if err != nil {
				return err
			}
			is, err := j.read()
			if err != nil {
				return err
			}
			out, err := recipe.Canonicalize(was, is, j.rule, j.w.Paths.Changelog)
			if err != nil {
				return err
			}
			if string(out) == string(is) {
				_, err = fmt.Fprintln(e.stdout, "nothing to do")
				return err
			}
			return j.write(out)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&base, "base", "origin/main", "branch that the change is for")
	return cmd
}

func changelogResolve(e env) *cobra.Command {
	var f journalFlags
	cmd := &cobra.Command{
		Use:   "resolve",
		Short: "Resolve a merge of main into a pull request that conflicts in the changelog",
		Long: `During a conflicted ` + "`git merge`" + ` of main, inside the pull request's branch: takes
main's file byte for byte, then what the pull request adds, with its link. Not
for a rebase, where git swaps the two sides.`,
		Example: "  refit changelog resolve --pull 12",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.openPull(cmd)
			if err != nil {
				return err
			}
			if _, err := j.repo.Git(cmd.Context(), "rev-parse", "--verify", "--quiet", "MERGE_HEAD"); err != nil {
				return errors.New("no merge is going on here: `git merge origin/main` comes first")
			}
			var stage [3][]byte
			for i := range stage {
				stage[i], err = j.repo.Git(cmd.Context(), "cat-file", "blob", fmt.Sprintf(":%d:%s", i+1, j.w.Paths.Changelog))
				if err != nil {
					return fmt.Errorf("%s is not in conflict: git has no stage %d of it", j.w.Paths.Changelog, i+1)
				}
			}
			out, err := recipe.Resolve(stage[0], stage[1], stage[2], j.rule, j.w.Paths.Changelog)
			if err != nil {
				return err
			}
			if err := j.write(out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(text{e.stdout}, "resolved; go on with: git add %s\n", j.w.Paths.Changelog)
			return err
		},
	}
	f.flags(cmd)
	return cmd
}
