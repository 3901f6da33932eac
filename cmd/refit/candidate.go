package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func candidateCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "candidate",
		Short: "Look at the candidates of this workspace, and move, check or end one",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(candidateShow(e), candidateList(e),
		candidateAdvance(e), candidateRun(e), candidateSchema(e), candidateCheckFinal(e), candidateFinish(e), candidateCheckStop(e), candidateStop(e),
		candidateRecover(e), candidateRelease(e),
		candidateClaim(e, "adopt", "Go on with a candidate that another login opened, with its evidence",
			func(ctx context.Context, s *candidate.Shepherd, c candidate.Candidate, reason string) (fmt.Stringer, error) {
				return s.Adopt(ctx, c, reason)
			}),
		candidateClaim(e, "takeover", "Release the lease of a process that is dead and cannot be seen from here",
			func(ctx context.Context, s *candidate.Shepherd, c candidate.Candidate, reason string) (fmt.Stringer, error) {
				return s.Takeover(ctx, c, reason)
			}))
	return cmd
}

// shown is what `refit candidate show --json` prints.
type shown struct {
	candidate.Status
	Receipts []candidate.Receipt `json:"receipts"`
}

func candidateShow(e env) *cobra.Command {
	var asJSON bool
	var f formats
	cmd := &cobra.Command{
		Use:   "show FAMILY|ID",
		Short: "Show where a candidate stands, the receipts of its steps, and its report",
		Example: `  refit candidate show laba-fp8-cpu-sim
  refit candidate show laba-fp8-cpu-sim --table
  refit candidate show laba-fp8-cpu-sim --html report.html`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) (err error) {
			l, err := books(cmd, e)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			s := l.Shepherd
			c, err := find(cmd, s, a[0])
			if err != nil {
				return err
			}
			if f.asked() {
				w, err := open(cmd)
				if err != nil {
					return err
				}
				return f.print(cmd.Context(), e, w, l, c.ID)
			}
			st, receipts, err := s.Show(cmd.Context(), c.Candidate)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, shown{st, receipts})
			}
			out := text{e.stdout}
			printStatus(out, st)
			fmt.Fprintln(out)
			for _, r := range receipts {
				fmt.Fprintf(out, "%s  %-9s %s\n", r.At.UTC().Format(time.DateTime), r.Step, candidate.Describe(r))
			}
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print state and receipts as JSON")
	f.flags(cmd)
	return cmd
}

func candidateList(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the candidates, newest first",
		Example: "  refit candidate list",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			l, err := books(cmd, e)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			all, err := l.Shepherd.Ledger.Candidates(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e.stdout, append([]candidate.Summary{}, all...)) // none is a list too
			}
			if len(all) == 0 {
				fmt.Fprintln(e.stderr, "no candidates yet: `refit upgrade FAMILY` begins one")
			}
			for _, c := range all {
				state := string(c.State)
				if c.Outcome != "" && c.State != candidate.Merged && c.State != candidate.Closed {
					state = string(c.Outcome)
				}
				fmt.Fprintf(text{e.stdout}, "%s  %-11s %-9s %s -> %s\n", c.ID, state, c.Step, c.Key(), c.NewImage)
			}
			return nil
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

// candidateClaim is a verb by which a person takes responsibility; the reason
// goes into the audit line.
func candidateClaim(e env, verb, short string, do func(context.Context, *candidate.Shepherd, candidate.Candidate, string) (fmt.Stringer, error)) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     verb + " FAMILY|ID --reason TEXT",
		Short:   short,
		Example: "  refit candidate " + verb + ` laba-fp8-cpu-sim --reason handover`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, a []string) (err error) {
			if reason == "" {
				return usage("%s needs --reason: it goes into the audit line", verb)
			}
			p, err := attach(cmd, e)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			s, err := p.Shepherd(nil)
			if err != nil {
				return err
			}
			c, err := s.Find(cmd.Context(), a[0]) // it may be another machine's: only the forge knows it then
			if err != nil {
				return err
			}
			done, err := do(cmd.Context(), s, c, reason)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(text{e.stdout}, done)
			return err
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, in one sentence")
	return cmd
}

// books opens what is needed to read receipts, and nothing that moves a candidate.
func books(cmd *cobra.Command, e env) (server.Looking, error) {
	return opened(cmd, e, server.OpenLedger)
}

// find picks the newest candidate with this id, family or config key.
func find(cmd *cobra.Command, s *candidate.Shepherd, name string) (candidate.Summary, error) {
	all, err := s.Ledger.Candidates(cmd.Context())
	if err != nil {
		return candidate.Summary{}, err
	}
	var known []string
	for _, c := range all {
		if c.ID == name || c.Family == name || c.Key() == name {
			return c, nil
		}
		known = append(known, c.Key())
	}
	if len(known) == 0 {
		return candidate.Summary{}, fmt.Errorf("no candidate %q: this workspace has none yet", name)
	}
	return candidate.Summary{}, fmt.Errorf("no candidate %q: known are %s", name, strings.Join(known, ", "))
}
