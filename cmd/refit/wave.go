package main

import "github.com/spf13/cobra"

func waveCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wave",
		Short: "Look over all families for those that may move to a newer image",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(wavePlan(e))
	return cmd
}
