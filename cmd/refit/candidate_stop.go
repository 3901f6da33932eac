package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func candidateStop(e env) *cobra.Command {
	var reason, outcome string
	var asJSON bool
	var w waiting
	cmd := &cobra.Command{
		Use:   "stop FAMILY|ID --reason TEXT",
		Short: "End a candidate with an outcome, and clean up after it",
		Long: `Ends a candidate that cannot go on: its runs are cancelled, the sweep label comes
off, the pull request is closed as a draft, the branch is kept or deleted as the
outcome says, and a receipt is written. Called again it goes on where it was. One
that has its outcome keeps it. Exit code 3 says that it has another outcome than
the one asked for, 4 that a run has still to end: call again.`,
		Example: `  refit candidate stop laba-fp8-cpu-sim --reason rewritten`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			if reason == "" {
				return usage("stop needs --reason: it goes into the receipt")
			}
			o, err := candidate.ParseStop(outcome)
			if err != nil {
				return exit{exitUsage, err}
			}
			var st candidate.Status
			err = moving(cmd, e, a[0], func(ctx context.Context, p *server.Parts, s *candidate.Shepherd, c candidate.Candidate) (err error) {
				st, err = s.Stop(ctx, c, o, reason)
				if err == nil && st.State == candidate.Waits && w.waits(e, p) {
					st, _, err = server.Drive(ctx, s, c, p.Poll())
				}
				return err
			})
			if err != nil {
				return err
			}
			err = answer(e.stdout, st, asJSON)
			var code exit
			switch {
			case err != nil && !errors.As(err, &code): // it could not be printed
				return err
			case st.Outcome == o:
				return nil
			case st.State == candidate.Waits:
				return exit{exitWaiting, nil}
			}
			return exit{exitRefused, nil}
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, in one sentence")
	cmd.Flags().StringVar(&outcome, "outcome", "", "the `outcome` it ends with (default uncertain)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	w.flags(cmd)
	return cmd
}
