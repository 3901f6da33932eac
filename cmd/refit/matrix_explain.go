package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/run"
)

func matrixExplain(e env) *cobra.Command {
	var conc int
	var verbose, asJSON, command bool
	cmd := &cobra.Command{
		Use:   "explain POINT",
		Short: "Say of one point where every value comes from, and how to measure it",
		Long: `POINT is a key or at least six digits of its beginning, an exp-name, a family, or
FAMILY:CONC or FAMILY:KEY. Shown are every value of the job's row with the file
and line or the rule behind it, whether the point is evaluated and why, who runs
it, its identities, and the lines that measure it by hand.`,
		Example: `  refit matrix explain laba-fp8-cpu-sim:1
  refit matrix explain laba-fp8-cpu-sim --conc 2 --verbose
  refit matrix explain laba-fp8-cpu-sim:2 --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) error {
			if conc < 0 {
				return usage("--conc %d: must be greater than 0", conc)
			}
			w, err := open(cmd)
			if err != nil {
				return err
			}
			x, err := run.Explain(w, a[0], conc)
			if errors.As(err, new(matrix.Ambiguous)) {
				return exit{exitUsage, err}
			}
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return printJSON(e.stdout, x)
			case command && x.Reproduction.Measure == "":
				return fmt.Errorf("%s %s: %s", x.Family, x.Label, x.Reproduction.Problem)
			case command:
				_, err = fmt.Fprintln(text{e.stdout}, x.Reproduction.Measure)
				return err
			}
			out := text{e.stdout}
			x.Explanation.Text(out, verbose)
			x.Reproduction.Text(out)
			if verbose {
				x.Texts(out)
			}
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().IntVar(&conc, "conc", 0, "the point's concurrency, where its name leaves it open")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the eval group, all machines, and the texts that are hashed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&command, "command", false, "print only the line that measures the point here")
	cmd.MarkFlagsMutuallyExclusive("json", "command")
	return cmd
}
