package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/server/starter"
	"github.com/refit-bench/refit/internal/workspace"
)

func initCommand(e env) *cobra.Command {
	var github, dry, asJSON bool
	var repository, branch string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented refit.yaml, and the workflow files for GitHub",
		Long: `Writes refit.yaml with every key, its default and what it is for. With --github
also the workflow files by which GitHub plans, upgrades, sweeps, measures, and
compiles fragments of the changelog (.github/workflows/refit-*.yml), and a
refit.yaml that names them. They are for the default branch: what git knows of
origin, else main, unless --branch names it.

A file that is there is never overwritten: what refit's own would change in it is
printed, for refit.yaml the settings that the workflow files depend on, for others
a diff.`,
		Example: `  refit init --dry-run
  refit init --github --repository example/recipes --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if branch != "" && !github {
				return usage("--branch needs --github")
			}
			if repository != "" && !github {
				return usage("--repository needs --github")
			}
			w, err := open(cmd)
			if err != nil {
				return err
			}
			o, err := starterOptions(cmd.Context(), w, github, repository, branch)
			if err != nil {
				return err
			}
			files, err := starter.Files(o)
			if err != nil {
				return exit{exitUsage, err}
			}
			act := starter.Write
			if dry {
				act = starter.Look
			}
			changes, err := act(w.Root, files)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, changes)
			}
			printChanges(text{e.stdout}, changes)
			if github && !dry {
				fmt.Fprint(e.stderr, starter.Next)
			}
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&github, "github", false, "also the workflow files for GitHub")
	cmd.Flags().StringVar(&repository, "repository", "", "the repository on GitHub, `owner/name` (default: forge.repository, else git's origin)")
	cmd.Flags().StringVar(&branch, "branch", "", "the default `branch` on GitHub (default: that of git's origin, else main)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be written")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what became of each file as JSON")
	return cmd
}

func starterOptions(ctx context.Context, w *workspace.Workspace, github bool, repository, branch string) (o starter.Options, err error) {
	o.Config = w.Config
	if !github {
		return o, nil
	}
	if o.Branch = branch; branch == "" {
		o.Branch = starter.Branch(ctx, w)
	}
	if o.Repository = repository; repository == "" {
		o.Repository, err = starter.Repository(ctx, w)
	}
	return o, err
}

func printChanges(out io.Writer, changes []starter.Change) {
	for _, c := range changes {
		fmt.Fprintf(out, "%-9s  %s\n", c.Action, c.Path)
		for _, line := range c.Settings {
			fmt.Fprintf(out, "%-9s    set %s\n", "", line)
		}
	}
	for _, c := range changes {
		if c.Diff != "" {
			fmt.Fprintf(out, "\n%s", c.Diff)
		}
	}
}
