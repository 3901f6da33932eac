package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

// maxMatrix bounds a matrix that is handed in, in bytes.
const maxMatrix = 64 << 20

func candidateCheckFinal(e env) *cobra.Command {
	var asJSON bool
	var file string
	cmd := &cobra.Command{
		Use:   "check-final FAMILY|ID",
		Short: "Check that the sweep of a candidate's head measures exactly what it should",
		Long: `Checks what is checked before the sweep label goes on: the changelog of the head
selects exactly the family, its plan is the canonical set of points and evals of
the head's own recipe, and every point of the frozen baseline is covered. Nothing
is written. Exit code 3 says no.

--matrix is a matrix that somebody else generated, in the form that refit matrix
plan prints. It must be of this head and of this family alone, with the same
points and evals, each with the settings that belong to its fingerprint.`,
		Example: `  refit candidate check-final laba-fp8-cpu-sim
  refit candidate check-final laba-fp8-cpu-sim --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			var matrix []byte
			if file != "" {
				var err error
				if matrix, err = workspace.ReadFile(file, maxMatrix); err != nil {
					return fmt.Errorf("matrix: %w", err)
				}
			}
			var v gate.Verdict
			err := looking(cmd, e, a[0], func(ctx context.Context, _ *server.Parts, s *candidate.Shepherd, c candidate.Candidate) (err error) {
				if file == "" {
					v, err = s.CheckFinal(ctx, c)
				} else {
					v, err = s.CheckMatrix(ctx, c, matrix)
				}
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(e.stdout, v)
			} else {
				_, err = fmt.Fprintf(text{e.stdout}, "%-8s %s\n", v.Answer, v.Reason)
			}
			if err == nil && v.Answer != gate.Pass {
				err = exit{exitRefused, nil}
			}
			return err
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&file, "matrix", "", "`file` with a matrix to hold to it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
