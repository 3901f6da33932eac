package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/server"
)

func serveCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the workspace's forge, registry, results API and dashboard on loopback",
		Long: `Serves the embedded parts of a workspace until it is interrupted: the
GitHub-compatible forge, the read-only image registry, the results API and the
dashboard. Only this machine can reach them. Other commands use them while it runs.`,
		Example: "  refit serve",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := open(cmd)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			p, err := server.Serve(cmd.Context(), w, self, e.stderr, e.now)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "dashboard  %s/\nforge      %s/api/v3/\nregistry   %s\n", p.Address.Dashboard, p.Address.Forge, p.Address.Registry)
			<-cmd.Context().Done()
			fmt.Fprintln(e.stderr, "refit: stopping")
			return p.Close()
		},
	}
	workspaceFlag(cmd)
	return cmd
}
