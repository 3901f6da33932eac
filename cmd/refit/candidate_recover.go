package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

func candidateRecover(e env) *cobra.Command {
	var asJSON bool
	var w waiting
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Look after the candidates whose session has ended",
		Long: `Looks at every claimed family, once. A candidate whose session has ended goes on
from where it was left: an announced end is carried out, a finished sweep is
certified and published. The family of a validated candidate is freed when its
pull request was merged or closed. What a person has taken over is not touched,
and runs that are under way are left to a later call.

Prints one line for each candidate with what was done, or why nothing was. Exit
code 1 says that one of them could not be looked at or moved.`,
		Example: `  refit candidate recover
  refit candidate recover --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []candidate.Recovered
			var trouble error
			err := shepherding(cmd, e, func(ctx context.Context, p *server.Parts, s *candidate.Shepherd) error {
				all, trouble = s.Recover(ctx)
				if w.waits(e, p) {
					trouble = errors.Join(trouble, driveOn(ctx, s, p, all))
				}
				return nil
			})
			if err != nil {
				return err
			}
			return errors.Join(printRecovered(e, all, asJSON), trouble)
		},
	}
	workspaceFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	w.flags(cmd)
	return cmd
}

// driveOn waits for the candidates that recover let go on: what runs on this
// machine would end with this process.
func driveOn(ctx context.Context, s *candidate.Shepherd, p *server.Parts, all []candidate.Recovered) error {
	var errs []error
	for i := range all {
		r := &all[i]
		if r.Action != candidate.RecoveryResumed || r.State != candidate.Waits {
			continue
		}
		st, _, err := server.Drive(ctx, s, r.Candidate, p.Poll())
		if err != nil {
			r.Action, r.Reason = candidate.RecoveryFailed, err.Error()
			errs = append(errs, err)
			continue
		}
		r.Stands(st)
	}
	return errors.Join(errs...)
}

func printRecovered(e env, all []candidate.Recovered, asJSON bool) error {
	if asJSON {
		if all == nil {
			all = []candidate.Recovered{}
		}
		return printJSON(e.stdout, all)
	}
	for _, r := range all {
		fmt.Fprintln(text{e.stdout}, r)
	}
	if len(all) == 0 {
		fmt.Fprintln(e.stdout, "no family is claimed")
	}
	return nil
}

// shepherding calls do with what moves candidates, and closes the parts
// afterwards.
func shepherding(cmd *cobra.Command, e env, do func(context.Context, *server.Parts, *candidate.Shepherd) error) (err error) {
	pr := newProgress(e)
	p, err := attach(cmd, env{e.stdin, e.stdout, pr, e.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	s, err := p.Shepherd(pr.Event)
	if err != nil {
		return err
	}
	err = do(cmd.Context(), p, s)
	pr.finish()
	return err
}

// byRule picks the exit code of an answer that a rule has given.
func byRule(err error) error {
	var refused *candidate.Refused
	var deferred *candidate.Deferred
	var wait candidate.Waiting
	switch {
	case errors.As(err, &refused), errors.As(err, &deferred):
		return exit{exitRefused, err}
	case errors.As(err, &wait):
		return exit{exitWaiting, err}
	}
	return err
}
