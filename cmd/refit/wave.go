package main

import "github.com/spf13/cobra"

func waveCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wave",
		Short: "Move several families at once: look which may move, claim them, upgrade them",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(wavePlan(e), waveSelect(e), waveRun(e))
	return cmd
}
