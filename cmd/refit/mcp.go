package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/server/mcp"
)

func mcpCommand(e env) *cobra.Command {
	var allowWrite bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer refit's verbs to an agent as tools of the Model Context Protocol",
		Long: `Serves the Model Context Protocol on standard input and output until the client
hangs up. Its tools do what the commands do: status, matrix_explain,
candidate_list, candidate_show, candidate_check_final, why, doctor, compare,
results_measured, results_query and judgement_list only look; candidate_advance,
candidate_stop and judgement_answer are there with --allow-write. An answer holds
what the command prints with --json, bounded, and its exit code. No credential is
in any of them. Where nobody serves the workspace, the embedded parts are hosted
here while the client is there.`,
		Example: `  refit mcp
  refit mcp --allow-write`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := open(cmd)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			s := mcp.Server{
				Workspace: w, AllowWrite: allowWrite, Hint: hint, Version: version, Now: e.now,
				// The parts outlive the call that needs them: they end with the command.
				Attach: func(context.Context) (*server.Parts, error) {
					return server.Attach(cmd.Context(), w, self, e.stderr, e.now)
				},
			}
			return s.Run(cmd.Context(), io.NopCloser(e.stdin), nopWriteCloser{e.stdout})
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&allowWrite, "allow-write", false, "offer the tools that write, too")
	return cmd
}

// nopWriteCloser keeps a stream open that is not ours to close.
type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }
