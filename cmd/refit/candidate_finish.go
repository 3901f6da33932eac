package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func candidateFinish(e env) *cobra.Command {
	var asJSON bool
	var w waiting
	cmd := &cobra.Command{
		Use:   "finish FAMILY|ID",
		Short: "Take the last step of a candidate, and nothing before it",
		Long: `Goes on with a candidate that is at finish, or whose end was announced: the
artifacts are proved again, the pull request is marked ready and the receipt is
written, or the cleanup goes on. It may be called again at any point.

Exit code 3 says that something is missing, and what; or that the candidate ended
without being validated. 4 says that one of its runs has still to end.`,
		Example: `  refit candidate finish laba-fp8-cpu-sim`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			var st candidate.Status
			err := moving(cmd, e, a[0], func(ctx context.Context, p *server.Parts, s *candidate.Shepherd, c candidate.Candidate) (err error) {
				st, err = s.Finish(ctx, c)
				for err == nil && st.State == candidate.Waits && w.waits(e, p) {
					if err = server.Pause(ctx, p.Poll()); err == nil {
						st, err = s.Finish(ctx, c)
					}
				}
				return err
			})
			if err != nil {
				return byRule(err)
			}
			return answer(e.stdout, st, asJSON)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	w.flags(cmd)
	return cmd
}
