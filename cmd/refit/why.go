package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func whyCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why PR",
		Short: "Say why no sweep of a pull request started, and what to do",
		Long: `Looks at everything that decides whether a sweep of a pull request starts, and
prints what stands in the way, one reason a line with what to do about it: the
state, base and head of the pull request, its labels, [skip-sweep] in the head's
message, conflicts, the changelog, the workflow file, the credential, and the
sweeps that exist. PR is its number. Nothing is written, and no run is started.`,
		Example: `  refit why 1
  refit why 1 --json`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) (err error) {
			n, err := strconv.Atoi(strings.TrimPrefix(a[0], "#"))
			if err != nil || n < 1 {
				return usage("pull request %q: want its number", a[0])
			}
			p, err := look(cmd, e)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			s, err := p.Shepherd(nil)
			if err != nil {
				return err
			}
			w, err := s.Why(cmd.Context(), n)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, w)
			}
			for _, r := range w.Reasons {
				fmt.Fprintln(text{e.stdout}, r)
			}
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
