package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/workspace"
)

func configCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective refit.yaml with the origin of each value",
		Example: `  refit config
  refit config --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := open(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, w.Settings)
			}
			_, err = e.stdout.Write(workspace.Effective(w.Settings))
			return err
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the settings as JSON")
	return cmd
}
