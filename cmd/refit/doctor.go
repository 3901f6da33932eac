package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/gate"
)

func doctorCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check identity, rights, labels, workflows, results, clock and disk before anything is written",
		Example: `  refit doctor
  refit doctor --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			p, err := look(cmd, e)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			s, err := p.Shepherd(nil)
			if err != nil {
				return err
			}
			d, err := s.Doctor(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(e.stdout, d); err != nil {
					return err
				}
			} else {
				for _, c := range d.Checks {
					fmt.Fprintf(e.stdout, "%-8s %-11s %s\n", c.Answer, c.Gate, c.Reason)
				}
			}
			if v := gate.All(d.Checks); v.Answer == gate.Fail {
				return exit{exitRefused, nil}
			}
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	return cmd
}
