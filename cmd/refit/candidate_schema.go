package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
)

func candidateSchema(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(candidate.SchemaNames(), "|"),
		Short: "Print the JSON Schema of a record, of a judgement or of its answer",
		Long: `Prints a JSON Schema (draft 2020-12) that is complete in itself: outcome, baseline,
report and cleanup are the records in comments, receipt is a line of the ledger
as candidate show --json prints it, judgement and answer are what an agent is
asked and says.`,
		Example: `  refit candidate schema answer
  refit candidate schema outcome`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, a []string) error {
			schema, err := candidate.Schema(a[0])
			if err != nil {
				return exit{exitUsage, err}
			}
			_, err = e.stdout.Write(schema)
			return err
		},
	}
}
